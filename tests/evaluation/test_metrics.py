"""Metrics of hand-made rows with values worked out by hand."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from llm_gym.core import Episode
from llm_gym.evaluation import metrics
from llm_gym.evaluation.estimate import NOTHING, Estimate
from llm_gym.evaluation.records import EPISODE
from llm_gym.evaluation.statistics import wilson

Rows = Callable[..., dict[str, Any]]


def test_success_is_a_rate_with_its_wilson_interval(row: Rows) -> None:
    success = metrics.all_metrics([row("a", True), row("b"), row("c"), row("d")])["success"]
    assert (success.value, success.n) == (0.25, 4)
    assert (success.low, success.high) == (wilson(1, 4).low, wilson(1, 4).high)


def test_score_is_the_mean_on_0_to_100(row: Rows) -> None:
    found = metrics.all_metrics([row("a", score=50.0), row("b", score=75.0)])["score"]
    assert (found.value, found.low, found.high) == (62.5, 50.0, 75.0)


def test_precision_is_success_among_those_that_bought(row: Rows) -> None:
    rows = [
        row("a", True, metrics={"purchase": True}),
        row("b", metrics={"purchase": True}),
        row("c", metrics={"purchase": False}, ended_by="agent"),
        row("d", metrics={"purchase": False}, ended_by="limit"),
    ]
    found = metrics.all_metrics(rows)
    assert (found["precision"].value, found["precision"].n) == (0.5, 2)
    assert (found["purchase_rate"].value, found["purchase_rate"].n) == (0.5, 4)
    assert found["completion_rate"] == 0.75


def test_precision_without_purchases_is_success_among_the_finished(row: Rows) -> None:
    rows = [row("a", True), row("b", ended_by="agent"), row("c", ended_by="limit"), row("d", ended_by="error")]
    assert metrics.all_metrics(rows)["precision"].n == 2
    assert metrics.all_metrics(rows)["precision"] == 0.5


def test_precision_of_nothing_finished_is_nan_with_n_0(row: Rows) -> None:
    precision = metrics.all_metrics([row("a", ended_by="limit")])["precision"]
    assert math.isnan(precision)
    assert precision.n == 0


def test_an_error_counts_as_a_failure_and_is_counted(row: Rows) -> None:
    rows = [row("a", True), row("b", ended_by="error", error="E: x")]
    assert metrics.all_metrics(rows)["success"] == 0.5
    assert metrics.errors(rows) == 1


def test_missing_values_leave_the_metric_and_its_n(row: Rows) -> None:
    rows = [row("a", metrics={"options": 0.5}), row("b", metrics={"options": None}), row("c")]
    found = metrics.all_metrics(rows)["options"]
    assert (found.value, found.n) == (0.5, 1)
    assert math.isnan(found.low)


def test_environment_metrics_never_hide_the_built_in_ones(row: Rows) -> None:
    found = metrics.all_metrics([row("a", True, metrics={"steps": 9.0, "success": False, "hit_rate": True})])
    assert (found["steps"], found["env_steps"]) == (1.0, 9.0)
    assert (found["success"], found["success_rate"], found["hit_rate"]) == (1.0, 0.0, 1.0)


def test_an_attempt_counts_by_its_last_trial(row: Rows) -> None:
    rows = [row("a", trial=0, score=10.0), row("a", True, trial=1), row("b", trial=0), row("b", trial=1, score=30.0)]
    found = metrics.all_metrics(rows)
    assert (found["success"].value, found["success"].n, found["score"].value) == (0.5, 2, 65.0)


def test_success_by_trial_adds_up(row: Rows) -> None:
    rows = [row("a", True), row("b", trial=0), row("b", True, trial=1), row("c", trial=0), row("c", trial=1)]
    assert [round(float(k), 3) for k in metrics.success_by_trial(rows, 2)] == [0.333, 0.667]


def test_repeats_are_clustered_by_task(row: Rows) -> None:
    rows = [row(task, task in "ab", repeat=repeat) for task in "abcd" for repeat in range(3)]
    success = metrics.all_metrics(rows)["success"]
    assert success.n == 12
    assert (success.low, success.high) == (wilson(2, 4).low, wilson(2, 4).high)


def test_seconds_add_up_the_trials_of_an_attempt(row: Rows) -> None:
    timings = [{"task_id": "a", "repeat": 0, "trial": trial, "seconds": 1.5} for trial in range(2)]
    assert metrics.all_metrics([row("a")], timings)["seconds"] == 3.0


def test_an_unknown_price_is_left_out_of_the_cost(row: Rows) -> None:
    paid = [{"observation": "", "action": "", "reward": 0.0, "usage": [10, 5, 0.25]}]
    free = [{"observation": "", "action": "", "reward": 0.0, "usage": [20, 5, None]}]
    found = metrics.all_metrics([row("a", trajectory=paid * 2), row("b", trajectory=free)])
    assert (found["prompt_tokens"].value, found["cost_usd"].value, found["cost_usd"].n) == (20.0, 0.5, 1)


def test_no_rows_give_nothing_everywhere() -> None:
    found = metrics.all_metrics([])
    assert {estimate.n for estimate in found.values()} == {0}
    assert metrics.by_category([]) == {}


def test_categories_are_told_apart(row: Rows) -> None:
    found = metrics.by_category([row("a", True, category="x"), row("b", category="y"), row("c", category="x")])
    assert (found["x"]["success"], found["x"]["success"].n, found["y"]["score"]) == (0.5, 2, 0.0)


def test_categories_named_in_an_order_come_first_and_the_others_by_the_alphabet(row: Rows) -> None:
    rows = [row(str(number), category=name) for number, name in enumerate(["b", "z", "look", "a", "pick"])]
    assert list(metrics.by_category(rows, ["pick", "clean", "look"])) == ["pick", "look", "a", "b", "z"]


def test_one_category_makes_no_table(row: Rows) -> None:
    assert metrics.by_category([row("a"), row("b")]) == {}


def test_the_schema_holds_exactly_what_an_episode_writes() -> None:
    assert set(EPISODE) == set(Episode("a", "p", (), False, "task").to_row())


def test_an_estimate_is_a_float_that_survives_pickle_and_copy() -> None:
    estimate = Estimate(0.42, 0.29, 0.56, 50)
    for twin in (pickle.loads(pickle.dumps(estimate)), copy.deepcopy(estimate)):
        assert (twin, twin.low, twin.high, twin.n) == (0.42, 0.29, 0.56, 50)
    assert repr(estimate) == "0.420 [0.29, 0.56] n=50"
    assert f"{estimate:.1f}" == "0.4"
    assert type(estimate + 1) is float


def test_an_estimate_of_nothing_says_so() -> None:
    assert repr(NOTHING) == "– n=0"
    assert NOTHING.to_dict() == {"value": None, "low": None, "high": None, "n": 0}


def test_an_estimate_of_one_value_has_an_unknown_interval() -> None:
    assert repr(Estimate(3.0, math.nan, math.nan, 1)) == "3.000 [unknown] n=1"


@pytest.mark.parametrize("name", metrics.BUILT_IN)
def test_every_built_in_metric_is_always_there(name: str, row: Rows) -> None:
    assert name in metrics.all_metrics([row("a")])
