"""Flat shapes in the unit square, and which points lie in them. x goes right, y goes down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Grid = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


class Shape(Protocol):
    """A part of the plane."""

    def covers(self, x: Grid, y: Grid) -> Mask:
        """Which points lie inside; (H, W) each."""
        ...


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, its corners rounded by `radius`."""

    left: float
    top: float
    right: float
    bottom: float
    radius: float = 0.0

    def covers(self, x: Grid, y: Grid) -> Mask:
        middle_x, middle_y = (self.left + self.right) / 2, (self.top + self.bottom) / 2
        beyond_x = np.abs(x - middle_x) - (self.right - self.left) / 2 + self.radius
        beyond_y = np.abs(y - middle_y) - (self.bottom - self.top) / 2 + self.radius
        corner = np.hypot(np.maximum(beyond_x, 0), np.maximum(beyond_y, 0)) + np.minimum(
            np.maximum(beyond_x, beyond_y), 0
        )
        inside: Mask = corner <= self.radius
        return inside


@dataclass(frozen=True, slots=True)
class Oval:
    """An ellipse by its centre and half axes."""

    x: float
    y: float
    width: float
    height: float

    def covers(self, x: Grid, y: Grid) -> Mask:
        inside: Mask = ((x - self.x) / self.width) ** 2 + ((y - self.y) / self.height) ** 2 <= 1
        return inside


@dataclass(frozen=True, slots=True)
class Polygon:
    """A closed line through points; parts that it goes around twice lie outside."""

    points: Sequence[tuple[float, float]]

    def covers(self, x: Grid, y: Grid) -> Mask:
        inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
        for (x0, y0), (x1, y1) in zip(self.points, [*self.points[1:], self.points[0]], strict=True):
            if y0 != y1:
                crossed = (y0 > y) != (y1 > y)
                inside ^= crossed & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
        return inside


@dataclass(frozen=True, slots=True)
class Line:
    """A line of some width through points, with round ends."""

    points: Sequence[tuple[float, float]]
    width: float

    def covers(self, x: Grid, y: Grid) -> Mask:
        inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
        for (x0, y0), (x1, y1) in zip(self.points, self.points[1:], strict=False):
            length = (x1 - x0) ** 2 + (y1 - y0) ** 2
            along = np.clip(((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length, 0, 1)
            inside |= np.hypot(x - x0 - along * (x1 - x0), y - y0 - along * (y1 - y0)) <= self.width / 2
        return inside


@dataclass(frozen=True, slots=True)
class Ring:
    """What lies between an ellipse and the one inside it at a distance of `width`."""

    x: float
    y: float
    radius_x: float
    radius_y: float
    width: float

    def covers(self, x: Grid, y: Grid) -> Mask:
        outer = Oval(self.x, self.y, self.radius_x, self.radius_y)
        inner = Oval(self.x, self.y, self.radius_x - self.width, self.radius_y - self.width)
        return outer.covers(x, y) & ~inner.covers(x, y)


def covered(shapes: Sequence[Shape], x: Grid, y: Grid) -> Mask:
    """Points in at least one of the shapes."""
    inside = np.zeros(np.broadcast_shapes(x.shape, y.shape), bool)
    for shape in shapes:
        inside |= shape.covers(x, y)
    return inside
