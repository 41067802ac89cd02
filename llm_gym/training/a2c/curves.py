"""A training by acting as a picture: what it earned, its losses, and how long its episodes were."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from llm_gym.data import atomic_path
from llm_gym.extras import require
from llm_gym.training.log import HELD_OUT, STEP, Row

CURVES = "curves.png"
_LOSSES = ("policy", "value", "entropy")
_AVERAGED = 50
"""Episodes that a point of the training's own curve averages."""


def draw_curves(folder: Path, rows: Sequence[Row]) -> None:
    """Write `curves.png`: scores in training and on held-out tasks, losses, and lengths of episodes.

    Raises:
        MissingDependency: the extra `train` is not installed.
    """
    figure = require("matplotlib.figure", "train").Figure(figsize=(15, 4))
    scores, parts, lengths = figure.subplots(1, 3)
    _draw_episodes(scores, rows, "scores")
    _draw_episodes(lengths, rows, "lengths")
    looks = [(row[STEP], row[HELD_OUT]) for row in rows if HELD_OUT in row]
    for axes, names in ((scores, ("score", "success")), (lengths, ("steps",))):
        for name in names:
            points = [(step, measures[name]) for step, measures in looks if name in measures]
            if points:
                axes.plot(*zip(*points, strict=True), marker="o", label=f"held out: {name}")
    for name in _LOSSES:
        points = [(row[STEP], row[name]) for row in rows if name in row]
        if points:
            parts.plot(*zip(*points, strict=True), label=name, linewidth=0.7)
    for axes, title in ((scores, "score"), (parts, "losses"), (lengths, "actions of an episode")):
        axes.set(title=title, xlabel="updates")
        if axes.lines:
            axes.legend()
    with atomic_path(folder / CURVES) as temporary:
        figure.savefig(temporary, format="png", dpi=120)


def _draw_episodes(axes: Any, rows: Sequence[Row], name: str) -> None:
    """The mean of the last episodes at each place."""
    values = [(row[STEP], value) for row in rows for value in row.get(name, ())]
    if len(values) < _AVERAGED:
        return
    means = np.convolve([value for _, value in values], np.ones(_AVERAGED) / _AVERAGED, mode="valid")
    axes.plot([step for step, _ in values[_AVERAGED - 1 :]], means, label="training")
