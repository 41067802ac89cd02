"""Trees as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llm_gym.policies.matching.forest import Forest

NAN = float("nan")


def arrays(**others: Any) -> dict[str, Any]:
    """Tree 1: column 0 ≤ 1 → leaf 0.5, else column 1 ≤ 5 → -1 or 2. Tree 2: a leaf of 0.25."""
    told = {
        "roots": [0, -4],
        "feature": [0, 1],
        "threshold": [1.0, 5.0],
        "left": [-1, -2],
        "right": [1, -3],
        "unknown_left": [True, False],
        "leaf": [0.5, -1.0, 2.0, 0.25],
    } | others
    return {name: np.array(values, Forest.DTYPES[name]) for name, values in told.items()}


def test_each_row_falls_to_a_leaf_of_every_tree() -> None:
    rows = np.array([[1.0, 0.0], [1.1, 5.0], [1.1, 5.1], [NAN, 0.0], [2.0, NAN]])
    assert Forest.of(arrays(), 2).log_odds(rows).tolist() == [0.75, -0.75, 2.25, 0.75, 2.25]


def test_confidence_is_the_probability_of_the_log_odds() -> None:
    confidence = Forest.of(arrays(), 2).confidence(np.array([[1.0, 0.0]]))
    assert confidence == pytest.approx([1 / (1 + np.exp(-0.75))])


def test_no_trees_give_even_odds() -> None:
    assert Forest.empty().confidence(np.zeros((3, 7))).tolist() == [0.5, 0.5, 0.5]
    assert Forest.empty().confidence(np.zeros((0, 7))).tolist() == []


@pytest.mark.parametrize(
    ("others", "reason"),
    [
        ({"feature": [0, 2]}, "none of the 2"),
        ({"left": [-1]}, "differ in length"),
        ({"right": [1, -9]}, "not there"),
        ({"left": [0, -2]}, "leads back"),
        ({"leaf": [0.5, NAN, 2.0, 0.25]}, "not finite"),
        ({"roots": [[0, -4]]}, "roots should be"),
    ],
)
def test_arrays_that_lead_nowhere_are_refused(others: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Forest.of(arrays(**others), 2)


def test_a_missing_array_is_refused() -> None:
    with pytest.raises(ValueError, match="leaf should be"):
        Forest.of({name: array for name, array in arrays().items() if name != "leaf"}, 2)
