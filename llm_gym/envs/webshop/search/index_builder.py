"""Turns a stream of documents into the arrays of an index, with memory for the vocabulary and the ids only.

Numbers are not final while documents stream in: terms and documents are numbered as they arrive, and postings are set
aside in runs. At the end both are numbered again in sorted order, the runs are distributed over the terms, and every
term's postings are brought into document order.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.search import weights
from llm_gym.envs.webshop.search.storage import Storage
from llm_gym.envs.webshop.search.string_table import StringTable
from llm_gym.envs.webshop.search.tokens import analyze
from llm_gym.errors import DataError

_RUN_POSTINGS = 4_000_000
"""Postings held in memory, and sorted, at a time."""
_MAX_FREQUENCY = 65_535

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Run:
    """Postings in order of arrival, under the provisional numbers; all (p,)."""

    name: str
    terms: npt.NDArray[np.int32]
    documents: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class _Postings:
    """The finished postings: starts of the T terms, (T + 1,), and the arrays they cut, (P,)."""

    starts: Integers
    documents: npt.NDArray[np.int32]
    frequencies: npt.NDArray[np.uint16]
    impacts: npt.NDArray[np.float32]


class IndexBuilder:
    """Builds one index into a storage: `add` every document, then `finish` once."""

    def __init__(self, storage: Storage, *, run_postings: int = _RUN_POSTINGS) -> None:
        self._storage = storage
        self._run_postings = run_postings
        self._vocabulary: defaultdict[str, int] = defaultdict()
        self._vocabulary.default_factory = self._vocabulary.__len__
        self._ids: list[str] = []
        self._lengths = array("q")
        self._runs: list[_Run] = []
        self._start_run()

    def add(self, document_id: str, text: str) -> None:
        """Take in one document; its text is analysed as `tokens.analyze` does."""
        terms = analyze(text)
        counts = Counter(terms)
        vocabulary = self._vocabulary
        self._ids.append(document_id)
        self._lengths.append(len(terms))
        self._distinct_terms.append(len(counts))
        self._terms.extend([vocabulary[term] for term in counts])
        # A term that fills 65,535 places saturates the formula in any case.
        self._frequencies.extend([min(count, _MAX_FREQUENCY) for count in counts.values()])
        if len(self._terms) >= self._run_postings:
            self._end_run()

    def finish(self) -> int:
        """Write all arrays into the storage; returns the number of documents that hold a term.

        Raises:
            DataError: two documents have the same id.
        """
        self._end_run()
        document_ranks = self._write_table("id", self._ids)
        term_ranks = self._write_table("term", list(self._vocabulary))
        starts = self._write_posting_starts(term_ranks)
        postings = _Postings(
            starts,
            self._storage.allocate("documents", int(starts[-1]), np.int32),
            self._storage.allocate("frequencies", int(starts[-1]), np.uint16),
            self._storage.allocate("impacts", int(starts[-1]), np.float32),
        )
        self._distribute(document_ranks, term_ranks, postings)
        self._sort(postings)
        lengths = np.empty(len(self._ids), np.int64)
        lengths[document_ranks] = np.asarray(self._lengths, np.int64)
        return self._weigh(lengths, postings)

    def _start_run(self) -> None:
        self._terms, self._frequencies, self._distinct_terms = array("i"), array("H"), array("q")

    def _end_run(self) -> None:
        name, size = f"run_{len(self._runs)}", len(self._terms)
        run = _Run(
            name,
            self._storage.allocate(f"{name}_terms", size, np.int32),
            self._storage.allocate(f"{name}_documents", size, np.int32),
            self._storage.allocate(f"{name}_frequencies", size, np.uint16),
        )
        first = len(self._ids) - len(self._distinct_terms)
        run.terms[:] = self._terms
        run.documents[:] = np.repeat(np.arange(first, len(self._ids)), np.asarray(self._distinct_terms))
        run.frequencies[:] = self._frequencies
        self._runs.append(run)
        self._start_run()

    def _write_table(self, name: str, strings: list[str]) -> Integers:
        """Write the strings as a sorted table; returns the place of each, (n,)."""
        order = sorted(range(len(strings)), key=strings.__getitem__)
        for before, after in pairwise(order):
            if strings[before] == strings[after]:
                raise DataError(f"Two documents have the {name} {strings[after]!r}; every document needs its own.")
        table = StringTable.of(strings[position] for position in order)
        self._storage.allocate(f"{name}_text", len(table.text), np.uint8)[:] = table.text
        self._storage.allocate(f"{name}_starts", len(table.starts), np.int64)[:] = table.starts
        ranks = np.empty(len(strings), np.int64)
        ranks[order] = np.arange(len(strings))
        return ranks

    def _write_posting_starts(self, term_ranks: Integers) -> Integers:
        counts = np.zeros(len(term_ranks), np.int64)
        for run in self._runs:
            counts += np.bincount(term_ranks[run.terms], minlength=len(counts))
        starts: Integers = self._storage.allocate("posting_starts", len(counts) + 1, np.int64)
        starts[0] = 0
        np.cumsum(counts, out=starts[1:])
        return starts

    def _distribute(self, document_ranks: Integers, term_ranks: Integers, postings: _Postings) -> None:
        """Bring the postings of all runs to their terms, there in order of arrival."""
        free = postings.starts[:-1].copy()  # next free place of each term
        for run in self._runs:
            ranks = term_ranks[run.terms]
            order = np.argsort(ranks, kind="stable")
            counts = np.bincount(ranks, minlength=len(free))
            first_of_term = np.cumsum(counts) - counts
            ranks = ranks[order]
            places = free[ranks] + np.arange(len(ranks)) - first_of_term[ranks]
            postings.documents[places] = document_ranks[run.documents[order]]
            postings.frequencies[places] = run.frequencies[order]
            free += counts
            for part in ("terms", "documents", "frequencies"):
                self._storage.discard(f"{run.name}_{part}")
        self._runs.clear()

    def _sort(self, postings: _Postings) -> None:
        """Bring each term's postings into document order."""
        documents, frequencies, starts = postings.documents, postings.frequencies, postings.starts
        for first, last in self._blocks(starts):
            block = slice(starts[first], starts[last])
            term_of = np.repeat(np.arange(last - first), np.diff(starts[first : last + 1]))
            order = np.lexsort((documents[block], term_of))
            documents[block], frequencies[block] = documents[block][order], frequencies[block][order]

    def _weigh(self, lengths: Integers, postings: _Postings) -> int:
        """Write length codes, norms and impacts; returns the number of documents that hold a term."""
        searchable = int(np.count_nonzero(lengths))
        average = np.float32(int(lengths.sum()) / searchable) if searchable else np.float32(1)
        codes = self._storage.allocate("length_codes", len(lengths), np.uint8)
        codes[:] = weights.encode_lengths(lengths)
        norms = self._storage.allocate("norms", len(weights.DECODED_LENGTHS), np.float32)
        norms[:] = weights.inverse_norms(average)
        holders, kind = np.unique(np.diff(postings.starts), return_inverse=True)
        term_weights = np.array([weights.term_weight(1, int(count), searchable) for count in holders], np.float32)[kind]
        for first, last in self._blocks(postings.starts):
            block = slice(postings.starts[first], postings.starts[last])
            weight = np.repeat(term_weights[first:last], np.diff(postings.starts[first : last + 1]))
            norm = norms[codes[postings.documents[block]]]
            postings.impacts[block] = weights.impacts(weight, postings.frequencies[block], norm)
        return searchable

    def _blocks(self, starts: Integers) -> Iterator[tuple[int, int]]:
        """Ranges of terms that have about a run's number of postings together, or are one term."""
        first, terms = 0, len(starts) - 1
        while first < terms:
            last = int(np.searchsorted(starts, starts[first] + self._run_postings, side="right")) - 1
            last = min(max(last, first + 1), terms)
            yield first, last
            first = last
