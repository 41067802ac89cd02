"""What is taught: anything that plays many games at once and learns from what a teacher would have done there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from llm_gym.core import Info


@dataclass(frozen=True, slots=True)
class Seen:
    """What a student sees of one of the games that are played side by side."""

    slot: int
    """Number of the game in its round, from 0."""
    observation: str
    info: Info


@dataclass(frozen=True, slots=True)
class Lesson:
    """What came of a state: what the teacher would have done there, and what was done."""

    slot: int
    labels: tuple[str, ...]
    """The teacher's commands, all equally good; empty when it knew none."""
    played: str


class LossNotFinite(ArithmeticError):
    """What `Student.learn` raises instead of making an update with such a loss."""


class Student(Protocol):
    """A model with its memory of states, its replay and its optimiser.

    A round of games is `begin`, then for every parallel step `act` and `remember` with those games that still go on,
    and `learn` as often as the schedule says; `end` closes the round. Everything random comes from the generators that
    are passed in and from what `load_state` restores, so that one seed gives one set of weights.
    """

    @property
    def name(self) -> str: ...

    def begin(self, games: int) -> None:
        """Forget the games of the last round: so many new ones begin."""

    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        """A command for each; not greedy: drawn as the student sees fit for training."""

    def remember(self, lessons: Sequence[Lesson]) -> None:
        """What came of the states that `act` saw last, in its order."""

    def end(self) -> None:
        """The round is over: put its games into the replay."""

    def learn(self, rng: np.random.Generator, progress: float) -> float | None:
        """One update; its loss, or None where the replay holds too little yet. `progress` runs from 0 to 1.

        Raises:
            LossNotFinite: before the weights are touched.
        """

    def save_state(self, folder: Path) -> None:
        """Write all that the next round depends on: weights, optimiser, replay."""

    def load_state(self, folder: Path) -> None:
        """Read what `save_state` wrote."""

    def save(self, folder: Path) -> None:
        """Write the trained policy's checkpoint, which `from_pretrained` of its policy reads."""
