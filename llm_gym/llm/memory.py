"""What an agent remembers of an episode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np

from llm_gym.errors import InvalidSetting, suggestion
from llm_gym.llm.chat import Message
from llm_gym.llm.embedding import Embedder, HashingEmbedder, Vectors

Similarity = Literal["cosine", "l2"]


class WindowMemory:
    """The last messages."""

    def __init__(self, size: int = 10) -> None:
        if size < 0:
            raise InvalidSetting(f"size must be 0 or more, got {size}.")
        self._size = size
        self._messages: list[Message] = []

    @property
    def messages(self) -> tuple[Message, ...]:
        """Oldest first."""
        return tuple(self._messages)

    def add(self, message: Message) -> None:
        self._messages = [*self._messages, message][-self._size :] if self._size else []

    def clear(self) -> None:
        """Forget all."""
        self._messages = []


class VectorMemory:
    """Texts that come back to mind when something similar is met."""

    def __init__(self, embedder: Embedder | None = None, similarity: Similarity = "cosine") -> None:
        """Choose.

        Args:
            embedder: None: the hashing one, which needs no package and no model.
            similarity: "cosine" of the angle, or the smallest distance "l2".
        """
        if similarity not in get_args(Similarity):
            raise InvalidSetting(
                f"Unknown similarity {similarity!r}. {suggestion(similarity, [*get_args(Similarity)])}"
            )
        self._embedder = embedder if embedder is not None else HashingEmbedder()
        self._similarity = similarity
        self.clear()

    def settings(self) -> dict[str, Any]:
        """What distinguishes this memory from others, as JSON."""
        return {"similarity": self._similarity, **self._embedder.settings()}

    def __len__(self) -> int:
        return len(self._texts)

    def add(self, text: str) -> None:
        """Keep a text; it is embedded when something is recalled."""
        self._texts.append(text)

    def clear(self) -> None:
        """Forget all."""
        self._texts: list[str] = []
        self._vectors: list[Vectors] = []

    def recall(
        self, query: str, k: int = 4, tokens: int | None = None, count: Callable[[str], int] | None = None
    ) -> list[str]:
        """The texts that are most similar to the query, the best first; of equal ones the older first.

        Args:
            query: what is met.
            k: how many at most.
            tokens: that they have together at most; the first that finds no room ends the list.
            count: tokens of a text; needed with `tokens`.

        Raises:
            ChatError: the embedder asks a model, and got no answer.
        """
        if tokens is not None and count is None:
            raise InvalidSetting("A limit of tokens needs a function that counts them.")
        if not self._texts or k < 1:
            return []
        if new := self._texts[len(self._vectors) :]:
            self._vectors.extend(self._embedder.embed(new))
        scores = _scores(np.array(self._vectors), self._embedder.embed([query])[0], self._similarity)
        best = [self._texts[place] for place in np.argsort(-scores, kind="stable")[:k]]
        if tokens is None or count is None:
            return best
        ends = np.cumsum([count(text) for text in best])
        return best[: int(np.searchsorted(ends, tokens, side="right"))]


def _scores(vectors: Vectors, query: Vectors, similarity: Similarity) -> Vectors:
    """How similar each row (N, D) is to the query (D,): (N,), the more the better.

    Rounded, for sums in another order must not decide between equal texts.
    """
    if similarity == "l2":
        scores: Vectors = -np.linalg.norm(vectors - query, axis=1)
    else:
        lengths = np.linalg.norm(vectors, axis=1) * np.linalg.norm(query)
        scores = vectors @ query / np.where(lengths == 0.0, 1.0, lengths)
    return scores.round(9)
