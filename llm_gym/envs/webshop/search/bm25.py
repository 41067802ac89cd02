"""BM25 search that orders documents exactly as Lucene does; needs numpy only, and numba makes it faster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.search import weights
from llm_gym.envs.webshop.search.accumulate import Part, total_scores
from llm_gym.envs.webshop.search.index import Index
from llm_gym.envs.webshop.search.tokens import analyze

_CACHED_TERMS = 1 << 14
_COLUMNS = 1024
"""Columns over which `best` takes maxima; more than any k that the shop asks for."""

Floats = npt.NDArray[np.float32]


class BM25:
    """Search over an `Index`; a `SearchEngine`. Sharing one between threads is safe: a search writes nothing.

    Equal scores are ordered by document id, and a word that the query holds n times weighs n times as much.

    Example:
        >>> engine = BM25.in_memory([("B1", "red shoes"), ("B2", "blue shoes for running"), ("B3", "a tea pot")])
        >>> engine.search("the running shoe")
        ['B2', 'B1']
    """

    def __init__(self, index: Index) -> None:
        self._index = index
        self._postings = lru_cache(_CACHED_TERMS)(self._find_postings)

    @classmethod
    def open(cls, folder: Path, *, expect_digest: str | None = None) -> BM25:
        """Open what `build_index` wrote; the index stays in its files. Raises as `Index.open` does."""
        return cls(Index.open(folder, expect_digest=expect_digest))

    @classmethod
    def in_memory(cls, documents: Iterable[tuple[str, str]], *, digest: str = "") -> BM25:
        """Engine over (id, text) pairs, for a small catalogue."""
        return cls(Index.in_memory(documents, digest=digest))

    def __len__(self) -> int:
        return len(self._index.ids)

    @property
    def digest(self) -> str:
        return self._index.digest

    def search(self, query: str, k: int = 50) -> list[str]:
        """Ids of the `k` best documents, best first; fewer where fewer hold a word of the query."""
        if k < 1:
            raise ValueError(f"k must be at least 1, got {k}")
        parts = [self._postings(term, boost) for term, boost in Counter(analyze(query)).items()]
        found = [part for part in parts if part is not None]
        if not found:
            return []
        return self._index.ids.take(best(total_scores(found, len(self)), k))

    def _find_postings(self, term: str, boost: int) -> Part | None:
        """Documents that hold a term and what it adds to their scores; None for an unknown term."""
        index = self._index
        position = index.terms.find(term)
        if position is None:
            return None
        start, end = index.posting_starts[position : position + 2].tolist()
        documents = index.documents[start:end]
        if boost == 1:
            return documents, index.impacts[start:end]
        # Three times the impact rounds differently from the impact at three times the weight, which Lucene computes.
        weight = weights.term_weight(boost, end - start, index.searchable_documents)
        norms = index.norms[index.length_codes[documents]]
        return documents, weights.impacts(weight, index.frequencies[start:end], norms)


def best(scores: Floats, k: int) -> npt.NDArray[np.int64]:
    """Positions of the `k` highest scores above 0, highest first, equal ones in order of position."""
    bound = _lower_bound(scores, k)
    candidates = np.flatnonzero(scores >= bound if bound > 0 else scores > 0)
    order = np.argsort(-scores[candidates], kind="stable")
    return candidates[order[:k]]


def _lower_bound(scores: Floats, k: int) -> float:
    """A number that at least `k` scores reach, near the k-th highest; 0 when there is none.

    The k-th highest of the maxima of disjoint groups is one, and costs a single pass over many scores.
    """
    if len(scores) <= k:
        return 0.0
    rows = len(scores) // _COLUMNS
    if rows > 4 and k <= _COLUMNS:
        scores = scores[: rows * _COLUMNS].reshape(rows, _COLUMNS).max(axis=0)
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])
