"""Fewer numbers that say most of what many said: a projection fitted on some examples and used on all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from llm_gym.errors import InvalidSetting

Matrix = npt.NDArray[np.floating]
_NOTHING = 1e-7
"""A direction with a smaller share of the greatest variance holds rounding errors only."""


@dataclass(frozen=True)
class Projection:
    """(N, D) → (N, K). Over the examples, the squares of a row sum to K on average.

    Attributes:
        mean: (D,) of the examples.
        directions: (D, K), the one with most variance first; zero where the examples have no more directions.
        kept: share of the examples' variance in the K directions.
        rank: how many directions are not zero.
    """

    mean: Matrix
    directions: Matrix
    kept: float
    rank: int

    def __call__(self, features: Matrix) -> npt.NDArray[np.float32]:
        projected: npt.NDArray[np.float32] = ((features - self.mean) @ self.directions).astype(np.float32)
        return projected


def fitted(batches: Iterable[Matrix], width: int) -> Projection:
    """The principal directions of examples that come in batches, (B, D) each; all are never held at once.

    Raises:
        InvalidSetting: there are less than two examples, or all are equal.
    """
    count, total, squares = 0, np.zeros(0), np.zeros((0, 0))
    for batch in batches:
        exact = batch.astype(np.float64)
        if not count:
            total, squares = np.zeros(exact.shape[1]), np.zeros((exact.shape[1],) * 2)
        count += len(exact)
        total += exact.sum(axis=0)
        squares += exact.T @ exact
    if count < 2:
        raise InvalidSetting(
            f"A projection is fitted on two pictures of training products at least, there are {count}."
        )
    mean = total / count
    variances, vectors = np.linalg.eigh(squares / count - np.outer(mean, mean))
    variances, vectors = variances[::-1], vectors[:, ::-1]
    rank = min(width, count - 1, int((variances > _NOTHING * variances[0]).sum()))
    if variances[0] <= 0 or not rank:
        raise InvalidSetting(f"The pictures of all {count} training products are equal.")
    directions = np.zeros((len(mean), width))
    directions[:, :rank] = vectors[:, :rank]
    # A direction and its opposite are equally good: the greatest part is made positive, on every machine.
    greatest = directions[np.abs(directions).argmax(axis=0), np.arange(width)]
    directions *= np.where(greatest < 0, -1.0, 1.0) * np.sqrt(width / variances[:rank].sum())
    kept = float(variances[:rank].sum() / variances.sum())
    return Projection(mean, directions, kept, rank)
