"""A training as a picture: its loss, and the measures on examples that it never saw."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from llm_gym.data import atomic_path
from llm_gym.extras import require
from llm_gym.training.log import HELD_OUT, STEP, Row
from llm_gym.training.schedule import LOSS

Floats = npt.NDArray[np.float64]

CURVES = "curves.png"
_SMOOTHED = 20
"""Updates that a point of the loss averages."""


def draw_curves(folder: Path, rows: Sequence[Row]) -> None:
    """Write `curves.png`: losses on the left, all other held-out measures on the right.

    Raises:
        MissingDependency: the extra `train` is not installed.
    """
    figure = require("matplotlib.figure", "train").Figure(figsize=(11, 4))
    left, right = figure.subplots(1, 2)
    updates = [(row[STEP], row[LOSS]) for row in rows if LOSS in row]
    if updates:
        steps, losses = np.array(updates).T
        left.plot(steps, _smooth(losses), label="training")
    held_out = [(row[STEP], row[HELD_OUT]) for row in rows if HELD_OUT in row]
    for name in dict.fromkeys(name for _, measures in held_out for name in measures):
        points = [(step, measures[name]) for step, measures in held_out if name in measures]
        if name == LOSS:
            left.plot(*zip(*points, strict=True), marker="o", label="held out")
        else:
            right.plot(*zip(*points, strict=True), marker="o", label=name)
    for axes, title in ((left, "loss"), (right, "held-out measures")):
        axes.set(title=title, xlabel="updates")
        if axes.lines:
            axes.legend()
    with atomic_path(folder / CURVES) as temporary:
        figure.savefig(temporary, format="png", dpi=120)


def _smooth(values: Floats) -> Floats:
    """Mean over the last few values at each place; (N,) → (N,)."""
    total = np.cumsum(np.insert(values, 0, 0.0))
    ends = np.arange(1, len(values) + 1)
    starts = np.maximum(0, ends - _SMOOTHED)
    smooth: Floats = (total[ends] - total[starts]) / (ends - starts)
    return smooth
