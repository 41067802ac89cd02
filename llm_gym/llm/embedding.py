"""Texts as vectors whose direction says what they are about."""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from llm_gym.errors import InvalidSetting, UnusableAnswer
from llm_gym.llm.endpoint import Endpoint
from llm_gym.llm.protocol import json_of

Vectors = npt.NDArray[np.float64]
"""(texts, dimensions)"""
_KEPT_WORDS = 65_536


class Embedder(Protocol):
    """What makes vectors of texts. It can be pickled, and used from several threads."""

    def settings(self) -> dict[str, Any]:
        """What distinguishes it from others, as JSON, without secrets."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text.

        Raises:
            ChatError: an embedder that asks a model got no answer.
        """


class HashingEmbedder:
    """Counts words and triples of letters, in as many boxes as there are dimensions; needs nothing but the text.

    Texts that share words are near each other; meaning it does not know. The rows have length 1, or 0 for a text
    without a letter or digit. The same on every machine.
    """

    def __init__(self, dimensions: int = 1024) -> None:
        if dimensions < 1:
            raise InvalidSetting(f"dimensions must be 1 or more, got {dimensions}.")
        self._dimensions = dimensions

    def settings(self) -> dict[str, Any]:
        return {"embedder": "hashing", "dimensions": self._dimensions}

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self._dimensions))
        for row, text in zip(vectors, texts, strict=True):
            hashes = np.fromiter((one for word in _words(text) for one in _hashes(word)), np.int64)
            boxes, signs = (hashes >> 1) % self._dimensions, np.where(hashes & 1, 1.0, -1.0)
            row += np.bincount(boxes, signs, self._dimensions)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths == 0.0, 1.0, lengths)


class EndpointEmbedder:
    """The embeddings of a server that speaks OpenAI's protocol; the arguments are those of `OpenAICompatible`."""

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        key_variable: str | None = "OPENAI_API_KEY",
        timeout_s: float = 60.0,
        name: str | None = None,
    ) -> None:
        self._model = model
        self._endpoint = Endpoint(base_url, key_variable, timeout_s)
        self._name = name or self._endpoint.url

    def settings(self) -> dict[str, Any]:
        return {"embedder": "endpoint", "model": self._model, "endpoint": self._name}

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, 0))
        body: Mapping[str, Any] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        asked = self._endpoint.asked(self._model)
        data = json_of(self._endpoint.post("embeddings", body, {}, asked), asked)
        try:
            rows = sorted(data["data"], key=lambda row: row["index"])
            vectors = np.array([row["embedding"] for row in rows], dtype=np.float64)
        except (LookupError, TypeError, ValueError) as error:
            raise UnusableAnswer(f"{asked.endpoint} answered no embeddings ({error}).") from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not np.isfinite(vectors).all():
            raise UnusableAnswer(f"{asked.endpoint} answered {vectors.shape} numbers for {len(texts)} texts.")
        return vectors


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@lru_cache(maxsize=_KEPT_WORDS)
def _hashes(word: str) -> tuple[int, ...]:
    """Of a word and its triples of letters, 32 bits each."""
    features = [word, *(f"{word[start : start + 3]}…" for start in range(len(word) - 2))]
    return tuple(zlib.crc32(feature.encode("utf-8", "replace")) for feature in features)
