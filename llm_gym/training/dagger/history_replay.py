"""Episodes that the history student has played, with what the teacher would have done there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import torch

from llm_gym.data import atomic_path
from llm_gym.policies.alfworld.raw_history.events import Integers, Moment
from llm_gym.training.dagger.history_network import Lessons

_MOST = 4096
"""Numbers in the rows of events and commands are below; five of them fit into 60 bits."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]


class Taught(NamedTuple):
    """An episode. Axes: T states; G, E, R words of the goal, events and commands of all of them together."""

    goal: Integers
    """(G,)"""
    events: Integers
    """(E, ROW)"""
    event_of: Integers
    """(E,): the state."""
    commands: Integers
    """(R, ROW)"""
    command_of: Integers
    """(R,)"""
    counts: Integers
    """(R,)"""
    labels: Flags
    """(R,)"""

    @classmethod
    def of(cls, moments: Sequence[Moment], labels: Sequence[Flags]) -> Self:
        """An episode of at least one state, state by state."""
        return cls(
            moments[0].goal,
            np.concatenate([one.events for one in moments]),
            _numbers([len(one.events) for one in moments]),
            np.concatenate([one.commands for one in moments]),
            _numbers([len(one.commands) for one in moments]),
            np.concatenate([one.counts for one in moments]),
            np.concatenate(labels),
        )

    @property
    def times(self) -> int:
        return int(self.command_of[-1]) + 1


def _numbers(sizes: Sequence[int]) -> Integers:
    return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)


def side_by_side(episodes: Sequence[Taught]) -> Lessons:
    """What the network reads of several episodes."""
    count = len(episodes)

    def joined(name: str) -> torch.Tensor:
        return torch.from_numpy(np.concatenate([getattr(one, name) for one in episodes]))

    def states(name: str) -> torch.Tensor:
        numbers = [getattr(one, name).astype(np.int64) * count + at for at, one in enumerate(episodes)]
        return torch.from_numpy(np.concatenate(numbers))

    commands, which = _different(np.concatenate([one.commands for one in episodes]))
    return Lessons(
        times=max(one.times for one in episodes),
        episodes=count,
        goals=joined("goal"),
        goal_of=torch.from_numpy(_numbers([len(one.goal) for one in episodes])),
        events=joined("events"),
        event_of=states("event_of"),
        commands=torch.from_numpy(commands),
        command=torch.from_numpy(which),
        command_of=states("command_of"),
        position=torch.from_numpy(np.concatenate([_positions(one.command_of) for one in episodes])),
        counts=joined("counts"),
        labels=joined("labels"),
    )


def _different(rows: Integers) -> tuple[Integers, np.ndarray[Any, np.dtype[np.int64]]]:
    """The rows that differ, and which of them each row is."""
    keys = np.zeros(len(rows), np.int64)
    for column in rows.T:
        keys = keys * _MOST + column
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return rows[first], which


def _positions(of: Integers) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Sorted numbers of states → the how manieth of its state each is."""
    begins = np.searchsorted(of, of)
    return np.arange(len(of)) - begins


def write_episodes(path: Path, episodes: Sequence[Taught]) -> None:
    """All episodes in one file of plain arrays."""
    arrays: dict[str, Any] = {}
    for name in Taught._fields:
        parts = [getattr(one, name) for one in episodes]
        arrays[f"{name}.sizes"] = np.array([len(part) for part in parts])
        if parts:
            arrays[name] = np.concatenate(parts)
    with atomic_path(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_episodes(path: Path) -> Iterator[Taught]:
    """What `write_episodes` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        sizes = {name: stored[f"{name}.sizes"] for name in Taught._fields}
        if not len(sizes["goal"]):
            return
        parts = [np.split(stored[name], sizes[name].cumsum()[:-1]) for name in Taught._fields]
    yield from (Taught(*fields) for fields in zip(*parts, strict=True))
