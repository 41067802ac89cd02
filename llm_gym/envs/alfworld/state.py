"""What changes while a game is played. Places and things are numbers: their ranks in the order of the raw ids."""

from __future__ import annotations

from dataclasses import dataclass

Pairs = frozenset[tuple[int, int]]
Things = frozenset[int]


@dataclass(frozen=True, slots=True)
class State:
    """A situation in a house; hashable, so that a search can remember it.

    Attributes:
        location: of the agent.
        held: the object in its hand; None: it is empty.
        contents: the objects in each receptacle, ascending. One object may lie in two at the beginning.
        at: objects and the locations where they are known to be.
        taken: objects and the receptacles they were taken from.
        opened: receptacles.
        hot, cool, clean, sliced, toggled: objects.
    """

    location: int
    held: int | None
    contents: tuple[tuple[int, ...], ...]
    at: Pairs
    taken: Pairs
    opened: Things
    hot: Things
    cool: Things
    clean: Things
    sliced: Things
    toggled: Things
