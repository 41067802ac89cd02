"""The official order of the goals, and the splits that are slices of it; needs no data, only their number."""

from __future__ import annotations

import random

import numpy as np
import pytest

from llm_gym.envs.webshop.build import goal_rows, shuffled
from llm_gym.envs.webshop.panels import FULL_HUMAN_GOALS, GoalTable, make_panel, selections


def test_shuffle_is_the_check_vector_of_the_original() -> None:
    order = shuffled(FULL_HUMAN_GOALS).tolist()
    random.seed(233)
    expected = list(range(FULL_HUMAN_GOALS))
    random.shuffle(expected)
    assert order == expected
    assert [order.index(goal) for goal in range(10)] == [4999, 3621, 4517, 5624, 6682, 9380, 4058, 2543, 1195, 7902]


class FullStore:
    """As many products as the full world has human goals, one goal each."""

    meta = {"splits": "official"}  # noqa: RUF012

    def asin(self, position: int) -> str:
        return f"P{position}"


def full_table() -> GoalTable:
    rows = goal_rows(np.ones(FULL_HUMAN_GOALS, np.int64))
    return GoalTable(FullStore(), "human", rows[:, 0], rows[:, 1], shuffled(FULL_HUMAN_GOALS))  # type: ignore[arg-type]


@pytest.mark.parametrize(("split", "start", "end"), [("test", 0, 500), ("dev", 500, 1500), ("train", 1500, 12087)])
def test_official_split_is_the_slice_of_the_shuffled_goals(split: str, start: int, end: int) -> None:
    random.seed(233)
    order = list(range(FULL_HUMAN_GOALS))
    random.shuffle(order)
    panel = make_panel(full_table(), split)
    assert list(panel) == [f"P{goal}.h0" for goal in order[start:end]]


def test_first_goals_of_the_catalogue_fall_into_the_splits_that_human_goals_json_gives_them() -> None:
    """Shuffled positions 4999, 3621, … 1195: all in train but goal 8 (1195), which is in dev."""
    panels = {split: set(make_panel(full_table(), split)) for split in ("test", "dev", "train")}
    where = [next(split for split, ids in panels.items() if f"P{goal}.h0" in ids) for goal in range(10)]
    assert where == ["train"] * 8 + ["dev"] + ["train"]


def test_paper50_are_the_first_fifty_goals_before_the_shuffle() -> None:
    assert list(make_panel(full_table(), "paper50")) == [f"P{goal}.h0" for goal in range(50)]


def test_all_official_splits_are_offered_with_all_human_goals() -> None:
    names = list(selections(full_table()))
    by_product = ["train_products", "heldout_products", "training_products", "validation_products"]
    assert names == ["test", "dev", "train", "paper50", "all", *by_product]


def test_goals_of_a_product_follow_each_other_before_the_shuffle() -> None:
    assert goal_rows(np.array([2, 0, 3])).tolist() == [[0, 0], [0, 1], [2, 0], [2, 1], [2, 2]]
