"""Gradient-boosted trees as plain arrays, evaluated all at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Forest:
    """Binary trees that sum to the log-odds of "yes". N nodes and L leaves of all trees together, T trees.

    A child below 0 is a leaf: -1 the first of all, -2 the second.
    """

    DTYPES: ClassVar[Mapping[str, str]] = {
        "roots": "<i4",
        "feature": "<i2",
        "threshold": "<f8",
        "left": "<i4",
        "right": "<i4",
        "unknown_left": "|b1",
        "leaf": "<f8",
    }
    """Of the arrays, as they are stored."""

    roots: npt.NDArray[np.int32]
    """(T,) where each tree begins: a node, or a leaf."""
    feature: npt.NDArray[np.int16]
    """(N,) the column that decides."""
    threshold: Floats
    """(N,) a value up to it goes left."""
    left: npt.NDArray[np.int32]
    """(N,)"""
    right: npt.NDArray[np.int32]
    """(N,)"""
    unknown_left: npt.NDArray[np.bool_]
    """(N,) where NaN goes."""
    leaf: Floats
    """(L,)"""

    def log_odds(self, rows: Floats) -> Floats:
        """Of each row; (R, features) → (R,)."""
        places = np.broadcast_to(self.roots, (len(rows), len(self.roots))).copy()
        active = np.nonzero(places.ravel() >= 0)[0]
        flat = places.ravel()
        owner = np.repeat(np.arange(len(rows)), len(self.roots))
        while len(active):
            nodes = flat[active]
            values = rows[owner[active], self.feature[nodes]]
            goes_left = np.where(np.isnan(values), self.unknown_left[nodes], values <= self.threshold[nodes])
            following = np.where(goes_left, self.left[nodes], self.right[nodes])
            flat[active] = following
            active = active[following >= 0]
        total: Floats = self.leaf[-1 - flat].reshape(places.shape).sum(axis=1)
        return total

    def confidence(self, rows: Floats) -> Floats:
        """How likely each row is a "yes", in [0, 1]; (R, features) → (R,)."""
        probability: Floats = 1 / (1 + np.exp(-self.log_odds(rows)))
        return probability

    def arrays(self) -> dict[str, Array]:
        """Name → array, as they are stored."""
        return {name: getattr(self, name) for name in self.DTYPES}

    @classmethod
    def empty(cls) -> Forest:
        """No trees: even odds for every row."""
        return cls.of({name: np.zeros(0, dtype) for name, dtype in cls.DTYPES.items()}, 0)

    @classmethod
    def of(cls, arrays: Mapping[str, Array], features: int) -> Forest:
        """The forest of stored arrays.

        Raises:
            ValueError: an array is missing or of another type or shape, or a number in it leads nowhere.
        """
        for name, dtype in cls.DTYPES.items():
            array = arrays.get(name)
            if array is None or array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{name} should be a row of numbers of type {dtype}")
        forest = cls(**{name: arrays[name] for name in cls.DTYPES})  # type: ignore[arg-type]
        forest._check(features)
        return forest

    def _check(self, features: int) -> None:
        nodes, leaves = len(self.feature), len(self.leaf)
        if not all(len(row) == nodes for row in (self.threshold, self.left, self.right, self.unknown_left)):
            raise ValueError("the rows of the nodes differ in length")
        if nodes and not (self.feature.min() >= 0 and self.feature.max() < features):
            raise ValueError(f"a node asks for a feature that is none of the {features}")
        if not (np.isfinite(self.threshold).all() and np.isfinite(self.leaf).all()):
            raise ValueError("a threshold or a leaf is not finite")
        places = np.concatenate([self.roots, self.left, self.right])
        if len(places) and not (places.min() >= -leaves and places.max() < nodes):
            raise ValueError("a node leads to one that is not there")
        own = np.arange(nodes)
        if not ((self.left < 0) | (self.left > own)).all() or not ((self.right < 0) | (self.right > own)).all():
            raise ValueError("a node leads back")
