"""Seeded draws that cost little: one numpy generator, read in blocks."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Dice:
    """Draws for one product or one table, from `seed` and a path of numbers (stream, index).

    Only uniform doubles are drawn from numpy and every other draw is arithmetic on them, so the bytes of a
    catalogue do not depend on numpy's choice of algorithm for normals, permutations and the like.
    """

    BLOCK = 128

    def __init__(self, seed: int, *path: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64([seed, *path]))
        self._block: list[float] = []

    def unit(self) -> float:
        """Uniform in [0, 1)."""
        if not self._block:
            self._block = self._generator.random(self.BLOCK).tolist()
        return self._block.pop()

    def chance(self, probability: float) -> bool:
        return self.unit() < probability

    def between(self, low: int, high: int) -> int:
        """Whole number, both ends included."""
        return low + int(self.unit() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self.unit() * len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        pool = list(items)
        for last in range(len(pool) - 1, 0, -1):
            other = int(self.unit() * (last + 1))
            pool[last], pool[other] = pool[other], pool[last]
        return pool

    def weighted(self, weights: Sequence[float]) -> int:
        """Position drawn in proportion to `weights`."""
        point = self.unit() * sum(weights)
        for position, weight in enumerate(weights):
            point -= weight
            if point < 0:
                return position
        return len(weights) - 1

    def normal(self) -> float:
        """Nearly standard normal: twelve uniforms, so bounded by six."""
        return sum(self.unit() for _ in range(12)) - 6.0

    def geometric(self, mean: float) -> int:
        """Zero or more, with the given mean."""
        count = 0
        stay = mean / (1.0 + mean)
        while count < 12 and self.chance(stay):
            count += 1
        return count
