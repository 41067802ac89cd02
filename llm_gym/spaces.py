"""A Gymnasium space of strings."""

from __future__ import annotations

from typing import Any, SupportsInt

import numpy as np
from gymnasium.spaces import Space

SAMPLE_CHARACTERS = "abcdefghijklmnopqrstuvwxyz 0123456789[]<>.,'-"


class Unicode(Space[str]):
    """Every string of at most `max_length` characters, the empty one included.

    `gymnasium.spaces.Text` admits a fixed alphabet and no empty string, so no page of a shop would be a member.
    """

    def __init__(self, max_length: int, seed: int | np.random.Generator | None = None) -> None:
        self.max_length = max_length
        super().__init__(dtype=str, seed=seed)

    @property
    def is_np_flattenable(self) -> bool:
        return False

    def sample(self, mask: None = None, probability: None = None) -> str:
        """A random string of at most 32 characters; masks do not apply to strings."""
        length = int(self.np_random.integers(0, min(32, self.max_length) + 1))
        letters = self.np_random.integers(0, len(SAMPLE_CHARACTERS), size=length)
        return "".join(SAMPLE_CHARACTERS[int(index)] for index in letters)

    def contains(self, x: Any) -> bool:
        return isinstance(x, str) and len(x) <= self.max_length

    def to_jsonable(self, sample_n: Any) -> list[str]:
        return list(sample_n)

    def from_jsonable(self, sample_n: list[SupportsInt] | list[Any]) -> list[str]:
        return [str(sample) for sample in sample_n]

    def __repr__(self) -> str:
        return f"Unicode({self.max_length})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unicode) and other.max_length == self.max_length

    def __hash__(self) -> int:
        return hash((Unicode, self.max_length))
