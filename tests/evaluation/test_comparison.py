"""Paired comparison of hand-made and played evaluations."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.errors import InvalidSetting
from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records
from llm_gym.evaluation.statistics import mcnemar_exact, paired_difference, sign_flip_test
from llm_gym.policies.uniform import RandomPolicy

Rows = Callable[..., dict[str, Any]]
Plans = Callable[..., Plan]


@pytest.fixture
def solving(row: Rows, plan: Plans) -> Callable[..., Evaluation]:
    """An evaluation of a named policy that solves the tasks marked `1`; `.` marks a task it did not play."""

    def make(name: str, marks: str, **fields: Any) -> Evaluation:
        rows = [row(f"t{number}", mark == "1") for number, mark in enumerate(marks) if mark != "."]
        return Evaluation(plan(name, n=len(marks), **fields), Records(tuple(rows)))

    return make


def test_the_four_counts_add_up_and_the_test_is_mcnemars(solving: Callable[..., Evaluation]) -> None:
    comparison = solving("a", "1111110000").compare(solving("b", "1000001000"))
    counts = (comparison.both, comparison.only_first, comparison.only_second, comparison.neither)
    assert counts == (1, 5, 1, 3)
    assert comparison.success.value == pytest.approx(0.4)
    assert comparison.success_p == mcnemar_exact(5, 1)
    interval = paired_difference(10, 5, 1)
    assert (comparison.success.low, comparison.success.high) == (interval.low, interval.high)
    assert comparison.score.value == pytest.approx(40.0)
    assert comparison.score_p == sign_flip_test([100.0] * 5 + [-100.0])


def test_only_common_tasks_count_and_the_rest_is_noted(solving: Callable[..., Evaluation]) -> None:
    comparison = solving("a", "11..1").compare(solving("b", "1.011"))
    assert (comparison.tasks, comparison.both) == (2, 2)
    assert comparison.notes == ("Left out: 3 attempts that only one of the two has.",)


def test_tasks_that_tell_the_two_apart_name_the_better(solving: Callable[..., Evaluation]) -> None:
    better, worse = solving("good", "1" * 12), solving("bad", "0" * 12)
    expected = "good succeeds more often than bad: 12 tasks tell them apart (p < 0.001)."
    assert better.compare(worse).sentence == worse.compare(better).sentence == expected


def test_too_few_tasks_name_how_many_would_do(solving: Callable[..., Evaluation]) -> None:
    sentence = solving("a", "1110").compare(solving("b", "1000")).sentence
    assert sentence.startswith("4 tasks cannot tell a and b apart by success (p = 0.500).")
    # b = 1/2, c = 0: ((1.96 sqrt(.5) + .8416 sqrt(.25)) / .5)² = 13.02 → 14
    assert "+0.500 is the true one, about 14 tasks" in sentence


def test_equal_policies_need_no_number(solving: Callable[..., Evaluation]) -> None:
    comparison = solving("a", "10").compare(solving("b", "10"))
    assert comparison.tasks_needed is None
    assert "The observed difference is 0" in comparison.sentence
    assert comparison.success.low < 0 < comparison.success.high


def test_one_task_can_be_compared(solving: Callable[..., Evaluation]) -> None:
    assert "unknown" in str(solving("a", "1").compare(solving("b", "0")))


def test_repeats_are_clustered_by_task(row: Rows, plan: Plans) -> None:
    first = [row(task, True, repeat=repeat) for task in "abcd" for repeat in range(5)]
    second = [row(task, False, repeat=repeat) for task in "abcd" for repeat in range(5)]
    settings = {"n": 4, "repeats": 5}
    comparison = Evaluation(plan("p", **settings), Records(tuple(first))).compare(
        Evaluation(plan("q", **settings), Records(tuple(second)))
    )
    assert (comparison.tasks, comparison.pairs) == (4, 20)
    assert comparison.success_p == 2 / 2**4  # 20 independent pairs would give 2 / 2^20


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"description": {"split": "train", "products": 1000}}, 'description.split: "test" → "train"'),
        ({"panel": {"name": "test", "digest": "e" * 16, "size": 500}}, "panel.digest"),
        ({"environment": {"id": "E-v1"}}, 'environment.id: "E-v0" → "E-v1"'),
    ],
)
def test_different_worlds_are_refused_with_the_difference(
    solving: Callable[..., Evaluation], change: dict[str, Any], line: str
) -> None:
    with pytest.raises(InvalidSetting, match=f"not played on the same tasks(?s:.*){line}"):
        solving("a", "1").compare(solving("b", "1", **change))


def test_no_common_task_is_refused(solving: Callable[..., Evaluation]) -> None:
    with pytest.raises(InvalidSetting, match="no task and repeat in common"):
        solving("a", "1.").compare(solving("b", ".1"))


def test_another_setting_is_noted(solving: Callable[..., Evaluation]) -> None:
    comparison = solving("a", "10").compare(solving("a", "01", trials=3))
    assert comparison.notes == ("Also different: trials: 1 → 3",)
    assert (comparison.first, comparison.second) == ("a (first)", "a (second)")


def test_a_reader_beats_chance_on_the_corridor(odd_policies: ModuleType) -> None:
    env = gym.make("llm_gym/Corridor-v0")
    comparison = evaluate(odd_policies.Reader(), env, 30).compare(evaluate(RandomPolicy(), env, 30))
    assert "reader succeeds more often than random" in str(comparison)
    assert comparison.to_dict()["success"]["n"] == 30
    assert comparison._repr_html_().count("<table>") == 1
