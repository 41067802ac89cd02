"""Where things are: a square floor in cells, four walls, and points in centimetres."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from llm_gym.envs.alfworld.generator.dice import Dice

NORTH, EAST, SOUTH, WEST = range(4)
_AHEAD = {NORTH: (0, 1), EAST: (1, 0), SOUTH: (0, -1), WEST: (-1, 0)}
STRIDE = 25
"""Centimetres between two cells."""


class Spot(NamedTuple):
    """A point in a room, in centimetres; y is the height."""

    x: int
    y: int
    z: int


class Stand(NamedTuple):
    """Where an agent stands, in cells of the floor, and which way it faces."""

    x: int
    z: int
    facing: int

    def before(self, aside: int, height: int) -> Spot:
        """The point half a metre ahead, `aside` centimetres along the wall."""
        ahead_x, ahead_z = _AHEAD[self.facing]
        x = self.x * STRIDE + ahead_x * 2 * STRIDE + abs(ahead_z) * aside
        z = self.z * STRIDE + ahead_z * 2 * STRIDE + abs(ahead_x) * aside
        return Spot(x, height, z)


@dataclass(frozen=True, slots=True)
class Square:
    """The floor of a room; `side` is in cells, one corner is at (-`west`, -`south`)."""

    side: int
    west: int
    south: int

    @classmethod
    def with_stands(cls, wanted: int, dice: Dice) -> Square:
        """One large enough for so many stands at its walls, and a few more."""
        side = 2 * (-(-wanted // len(_AHEAD)) + 1)
        return cls(side, dice.between(0, side), dice.between(0, side))

    def stands(self) -> Iterator[Stand]:
        """One before each half metre of the four walls."""
        for facing, (ahead_x, ahead_z) in _AHEAD.items():
            for step in range(1, self.side, 2):
                x = step if ahead_z else self.side * (ahead_x > 0)
                z = step if ahead_x else self.side * (ahead_z > 0)
                yield Stand(x - self.west, z - self.south, facing)

    def away_from_walls(self, count: int, dice: Dice) -> list[Stand]:
        """Up to `count` stands in the middle of the room, facing anywhere."""
        inner = range(2, self.side - 1)
        cells = dice.shuffled([(x - self.west, z - self.south) for x in inner for z in inner])
        return [Stand(x, z, dice.between(NORTH, WEST)) for x, z in cells[:count]]
