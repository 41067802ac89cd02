"""Seeded draws: the same on every machine and with every version of Python."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from math import fsum
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Draws that hang on a path: a seed, and names or numbers below it.

    Only `random()` is asked for, the one method whose sequence Python promises never to change; every other draw is
    arithmetic on it (sums exactly rounded, as the plain `sum` is not in every version).
    """

    def __init__(self, *path: int | str) -> None:
        self._unit = random.Random("/".join(map(str, path))).random

    def chance(self, probability: float) -> bool:
        return self._unit() < probability

    def between(self, low: int, high: int) -> int:
        """Whole number, both ends included."""
        return low + int(self._unit() * (high - low + 1))

    def pick(self, items: Sequence[T]) -> T:
        return items[int(self._unit() * len(items))]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """A key, in proportion to its weight."""
        point = self._unit() * fsum(weights.values())
        for key, weight in weights.items():
            point -= weight
            if point < 0:
                return key
        return next(key for key in reversed(list(weights)) if weights[key] > 0)  # the sum was rounded up

    def spread(self, weights: Mapping[T, float], draws: int) -> list[T]:
        """Keys in proportion to their weights, as evenly as so few draws can be, in any order."""
        points = [(number + self._unit()) / draws * fsum(weights.values()) for number in range(draws)]
        ends = list(accumulate(weights.values()))
        keys = list(weights)
        return self.shuffled([keys[min(bisect_right(ends, point), len(keys) - 1)] for point in points])

    def shuffled(self, items: Sequence[T]) -> list[T]:
        pool = list(items)
        for last in range(len(pool) - 1, 0, -1):
            other = self.between(0, last)
            pool[last], pool[other] = pool[other], pool[last]
        return pool
