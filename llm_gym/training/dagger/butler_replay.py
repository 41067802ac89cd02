"""Whole games as BUTLER's text agent reads them, and short excerpts drawn from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from llm_gym.data import atomic_path

Ids = npt.NDArray[np.uint16]


class Moment(NamedTuple):
    """A state of a game, and what the teacher would have done."""

    seen: Ids
    """Of the observation pool."""
    target: Ids
    """Of the teacher's command, its end included; empty where it knew none."""


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """One game, whoever played it; it has one moment at least."""

    task: Ids
    moments: tuple[Moment, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Excerpt:
    """Moments that follow one another."""

    task: Ids
    moments: tuple[Moment, ...]
    graded: int
    """So many of the first only bring the recurrent state up to date; from here on the model learns."""


class Replay:
    """The games that are learned from.

    Args:
        capacity: so many games; where there are more, one drawn at random makes room.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.trajectories: list[Trajectory] = []

    def __len__(self) -> int:
        return len(self.trajectories)

    def add(self, trajectory: Trajectory, rng: np.random.Generator) -> None:
        if len(self.trajectories) < self.capacity:
            self.trajectories.append(trajectory)
        else:
            self.trajectories[int(rng.integers(self.capacity))] = trajectory

    def draw(self, excerpts: int, length: int, burn_in: int, rng: np.random.Generator) -> list[Excerpt]:
        """Excerpts of games drawn with the same chance each, whatever their length.

        Args:
            excerpts: how many.
            length: moments of each; a shorter game is taken whole.
            burn_in: so many moments are not learned from, except at the beginning of a game, where nothing is before
                them that the recurrent state could lack.
            rng: what they are drawn with.
        """
        drawn = []
        for number in rng.integers(len(self.trajectories), size=excerpts):
            trajectory = self.trajectories[number]
            start = int(rng.integers(max(len(trajectory.moments) - length, 0) + 1))
            moments = trajectory.moments[start : start + length]
            drawn.append(Excerpt(trajectory.task, moments, burn_in if start else 0))
        return drawn

    # -- files -------------------------------------------------------------------------------------------------

    def write(self, path: Path) -> None:
        """All of it, as arrays: the texts one after the other, and where each ends."""
        texts = list(self._texts())
        ends = np.fromiter(accumulate(map(len, texts)), np.int64, len(texts))
        moments = np.array([len(trajectory.moments) for trajectory in self.trajectories], np.int64)
        ids = np.concatenate(texts) if texts else np.zeros(0, np.uint16)
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, ids=ids, ends=ends, moments=moments)

    def read(self, path: Path) -> None:
        """What `write` wrote takes the place of what is here."""
        with np.load(path, allow_pickle=False) as arrays:
            texts = iter(np.split(arrays["ids"], arrays["ends"][:-1]))
            lengths: Sequence[int] = arrays["moments"].tolist()
        self.trajectories = [
            Trajectory(next(texts), tuple(Moment(next(texts), next(texts)) for _ in range(length)))
            for length in lengths
        ]

    def _texts(self) -> Iterator[Ids]:
        for trajectory in self.trajectories:
            yield trajectory.task
            for moment in trajectory.moments:
                yield from moment
