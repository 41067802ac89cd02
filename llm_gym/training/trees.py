"""Trains gradient-boosted trees with LightGBM, and takes them out of it as plain arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from llm_gym.extras import require
from llm_gym.policies.matching.forest import Forest
from llm_gym.training.match_examples import Examples

Told = Callable[[int, float, float], None]
"""Is told after each round: its number, the loss, the held-out loss."""


@dataclass(frozen=True)
class Growth:
    """How trees are grown."""

    rounds: int
    """Trees at most; those after the lowest held-out loss are cut off."""
    leaves: int = 15
    """Of a tree, at most."""
    learning_rate: float = 0.08
    seed: int = 0
    threads: int = 1

    def parameters(self) -> dict[str, Any]:
        """For LightGBM; the same trees on any machine."""
        return {
            "objective": "binary",
            "metric": "binary_logloss",
            "num_leaves": self.leaves,
            "learning_rate": self.learning_rate,
            "min_data_in_leaf": 40,
            "lambda_l2": 5.0,
            "feature_fraction": 0.7,
            "bagging_fraction": 0.8,
            "bagging_freq": 1,
            "seed": self.seed,
            "num_threads": self.threads,
            "deterministic": True,
            "force_row_wise": True,
            "verbose": -1,
        }


def grow(training: Examples, held_out: Examples, features: int, growth: Growth, told: Told) -> Forest:
    """A forest for `training`, of as many trees as are best for `held_out`.

    Raises:
        MissingDependency: the extra `train` is not installed.
    """
    lightgbm = require("lightgbm", "train")
    rows, labels, weights = training.arrays()
    data = lightgbm.Dataset(rows, labels, weight=weights)
    rows, labels, weights = held_out.arrays()
    others = lightgbm.Dataset(rows, labels, weight=weights, reference=data)

    def tell(env: Any) -> None:
        losses = {name: value for name, _, value, *_ in env.evaluation_result_list}
        told(env.iteration + 1, losses["training"], losses["held out"])

    booster = lightgbm.train(
        growth.parameters(),
        data,
        growth.rounds,
        valid_sets=[data, others],
        valid_names=["training", "held out"],
        callbacks=[tell, lightgbm.early_stopping(growth.rounds, verbose=False)],
    )
    return forest_of(booster, features)


def forest_of(booster: Any, features: int) -> Forest:
    """The trees of a booster of LightGBM, up to its best round."""
    parts = _Parts()
    for tree in booster.dump_model(num_iteration=booster.best_iteration or None)["tree_info"]:
        parts.roots.append(parts.place(tree["tree_structure"]))
    return Forest.of(parts.arrays(), features)


@dataclass
class _Parts:
    roots: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    threshold: list[float] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    unknown_left: list[bool] = field(default_factory=list)
    leaf: list[float] = field(default_factory=list)

    def place(self, node: Mapping[str, Any]) -> int:
        """Put a node and all below it in; its number."""
        if "leaf_value" in node:
            self.leaf.append(node["leaf_value"])
            return -len(self.leaf)
        assert node["decision_type"] == "<=", "no feature is a category"
        at = len(self.feature)
        self.feature.append(node["split_feature"])
        self.threshold.append(node["threshold"])
        # A feature that was always known in training has no side for NaN: LightGBM takes it for 0 there.
        known = node["missing_type"] != "NaN"
        self.unknown_left.append(node["threshold"] >= 0 if known else node["default_left"])
        self.left.append(0)
        self.right.append(0)
        self.left[at] = self.place(node["left_child"])
        self.right[at] = self.place(node["right_child"])
        return at

    def arrays(self) -> dict[str, np.ndarray]:
        return {name: np.array(values, Forest.DTYPES[name]) for name, values in vars(self).items()}
