"""How a text world is put into arrays; stored with what is trained on them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from llm_gym.errors import InvalidSetting
from llm_gym.policies.indexed.encoders import width_of

NUMBERS = (
    "of_it_in_goal",
    "of_goal_in_it",
    "against_best",
    "stands_in_goal",
    "of_it_in_observation",
    "of_it_in_last_action",
    "new_of_goal",
    "taken",
    "taken_here",
    "early",
)
"""What is counted of each candidate, see `llm_gym.policies.indexed.features.numbers_of`."""
_MOST = 10_000
TEXTS = ("goal", "observation", "past")
"""What the state's vector is made of."""


@dataclass(frozen=True, slots=True)
class IndexedSettings:
    """The shapes of the arrays, and what fills them.

    Raises:
        InvalidSetting: k is below 1, or the encoder cannot have so many dimensions.
        UnknownName: there is no such encoder.
    """

    k: int = 64
    """How many actions have a place."""
    encoder: str = "hashing"
    """What makes vectors of texts: a name of `llm_gym.policies.indexed.encoders.ENCODERS`."""
    dimensions: int = 64
    """Of the vector of one text."""

    def __post_init__(self) -> None:
        if type(self.k) is not int or not 1 <= self.k <= _MOST:
            raise InvalidSetting(f"k must be 1 action or more, and {_MOST:,} at most, got {self.k!r}.")
        width_of(self.encoder, self.dimensions)

    @classmethod
    def of(cls, k: int, encoder: str, dimensions: int | None) -> IndexedSettings:
        """With the encoder's own number of dimensions where none is given."""
        return cls(k, encoder, width_of(encoder, dimensions))

    @classmethod
    def from_json(cls, stored: Any) -> IndexedSettings:
        """What `to_json` gave.

        Raises:
            InvalidSetting, UnknownName: it is something else.
        """
        if (
            not isinstance(stored, Mapping)
            or set(stored) != set(cls.__slots__)
            or not isinstance(stored["encoder"], str)
        ):
            raise InvalidSetting(f"These are no settings of IndexedActions: {str(stored)[:100]}.")
        return cls(**stored)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def text_width(self) -> int:
        """Of the state's vector."""
        return len(TEXTS) * self.dimensions

    @property
    def candidate_width(self) -> int:
        """Of the vector of one candidate: its encoding, then its numbers."""
        return self.dimensions + len(NUMBERS)

    def observation_space(self) -> spaces.Dict:
        """What networks see; all arrays are flat, as SB3 wants them."""
        return spaces.Dict(
            {
                "text": spaces.Box(-1.0, 1.0, (self.text_width,), np.float32),
                "actions": spaces.Box(-1.0, 1.0, (self.k * self.candidate_width,), np.float32),
                "action_mask": spaces.MultiBinary(self.k),
            }
        )
