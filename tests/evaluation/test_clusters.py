"""Intervals that take the tasks of one cluster together, and evaluations of a part of the tasks."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from scipy import stats

from llm_gym.core import Episode
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.evaluation import statistics as ours
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Records
from llm_gym.evaluation.report import report
from llm_gym.policies import FirstHitPolicy, RulePolicy

Rows = Callable[..., dict[str, Any]]
Plans = Callable[..., Plan]


@pytest.fixture
def shopping(row: Rows, plan: Plans) -> Callable[..., Evaluation]:
    """An evaluation in which `marks[i]` are the successes of the goals of product i."""

    def make(name: str, *marks: str) -> Evaluation:
        rows = [
            row(f"P{product}.h{number}", mark == "1", cluster=f"P{product}", score=100.0 * (mark == "1"))
            for product, goals in enumerate(marks)
            for number, mark in enumerate(goals)
        ]
        return Evaluation(plan(name, n=len(rows)), Records(tuple(rows)))

    return make


# -- statistics ----------------------------------------------------------------------------------------------------


def test_effective_size_of_clusters_all_alike_is_kishs() -> None:
    values, clusters = [1, 1, 1, 1, 0, 0, 1], list("aaaabbc")
    assert ours.effective_size(values, clusters) == pytest.approx(7**2 / (16 + 4 + 1))


def test_effective_size_of_opposites_in_a_cluster_is_the_number_of_values() -> None:
    assert ours.effective_size([1, 0, 0, 1, 1, 0], list("aabbcc")) == 6


def test_effective_size_of_any_numbers_by_hand() -> None:
    # mean 3, sums 4, 8 of sizes 2, 2: variance of the mean = 2/1 * ((4-6)² + (8-6)²) / 16 = 1; spread 2.5
    assert ours.effective_size([2.0, 2.0, 3.0, 5.0], list("aabb")) == pytest.approx(max(2.0, 1.5))
    # mean 5, sums 10, 10, 12, 8 of 2 each: 4/3 * (0 + 0 + 4 + 4) / 64 = 1/6; spread mean(25,25,16,36,49,25,9,25) - 25
    values = [5.0, 5.0, 4.0, 6.0, 7.0, 5.0, 3.0, 5.0]
    assert ours.effective_size(values, list("aabbccdd")) == pytest.approx(min(8.0, 1.25 / (1 / 6)))


def test_rate_of_uneven_clusters_without_a_failure_is_as_sure_as_kishs_number_of_clusters() -> None:
    assert ours.clustered_wilson([1.0] * 7, list("aaaabbc")) == ours.wilson(7 / 3, 7 / 3)


def test_bootstrap_of_uneven_clusters_agrees_with_scipys_bootstrap_of_a_ratio() -> None:
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 12, size=50)
    values = [float(generator.normal(50 + 3 * size, 20)) for size in sizes for _ in range(size)]
    clusters = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
    sums = np.bincount(clusters, weights=values)
    theirs = stats.bootstrap(
        (sums, sizes),
        lambda sums, sizes, axis: sums.sum(axis=axis) / sizes.sum(axis=axis),
        paired=True,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    interval = ours.bootstrap_mean(values, clusters)
    assert interval.low == pytest.approx(theirs.low, abs=0.4)
    assert interval.high == pytest.approx(theirs.high, abs=0.4)


def test_clustered_intervals_cover_the_truth_where_those_of_independent_tasks_do_not() -> None:
    """60 products with 1 to 12 goals each; two policies whose chances vary by product, difference 0.1 on average."""
    generator, runs, difference = np.random.default_rng(5), 300, expected_difference()
    held = {"rate": 0, "difference": 0, "rate of independent tasks": 0}
    for _ in range(runs):
        clusters = [one for one, size in enumerate(generator.integers(1, 13, size=60)) for _ in range(size)]
        skill = generator.beta(1.4, 0.6, size=60)[clusters]  # mean 0.7
        other = np.clip(skill - 0.1 - generator.normal(0, 0.1, size=60)[clusters], 0, 1)
        first, second = (generator.random(len(clusters)) < chance for chance in (skill, other))
        differences = first.astype(float) - second
        held["rate"] += covers(ours.clustered_wilson(first.astype(float).tolist(), clusters), 0.7)
        held["rate of independent tasks"] += covers(ours.wilson(float(first.sum()), len(first)), 0.7)
        held["difference"] += covers(ours.bootstrap_mean(differences.tolist(), clusters, resamples=500), difference)
    assert 0.91 <= held["rate"] / runs <= 0.98
    assert 0.91 <= held["difference"] / runs <= 0.98
    assert held["rate of independent tasks"] / runs < 0.8


def expected_difference() -> float:
    """The mean difference of the simulation: clipping at 0 and 1 takes a little of 0.1."""
    generator = np.random.default_rng(6)
    skill = generator.beta(1.4, 0.6, size=400_000)
    return float(np.mean(skill - np.clip(skill - 0.1 - generator.normal(0, 0.1, size=400_000), 0, 1)))


def covers(interval: ours.Interval, truth: float) -> bool:
    return interval.low <= truth <= interval.high


# -- episodes ------------------------------------------------------------------------------------------------------


def test_a_row_names_its_cluster_only_where_there_is_one() -> None:
    assert "cluster" not in Episode("a", "rule", (), True, "task").to_row()
    assert Episode("a", "rule", (), True, "task", cluster="P").to_row()["cluster"] == "P"


def test_a_played_shop_names_the_product_of_every_goal(make_env: Callable[..., gym.Env[str, str]]) -> None:
    evaluation = evaluate(RulePolicy(), make_env("llm_gym/WebShop-v1", split="test"), 5)
    assert [row["cluster"] for row in evaluation.rows] == [row["task_id"].split(".")[0] for row in evaluation.rows]


def test_a_cluster_that_is_no_text_is_a_bad_record(shopping: Callable[..., Evaluation], tmp_path: Path) -> None:
    shopping("rule", "1").save(tmp_path / "run")
    path = tmp_path / "run" / "episodes.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"cluster":"P0"', b'"cluster":7'))
    with pytest.raises(BadRecord, match=r"line 1: 'cluster' cannot be 7"):
        Evaluation.load(tmp_path / "run")


# -- evaluations ---------------------------------------------------------------------------------------------------


def test_intervals_are_those_of_independent_tasks_unless_asked_for(shopping: Callable[..., Evaluation]) -> None:
    evaluation = shopping("rule", "111", "000", "111", "000")
    interval = ours.wilson(6, 12)
    assert (evaluation.success.low, evaluation.success.high) == (interval.low, interval.high)
    assert evaluation.clusters is None
    assert "cluster" not in str(evaluation)


def test_clustered_intervals_count_products_that_are_all_alike_once(shopping: Callable[..., Evaluation]) -> None:
    evaluation = shopping("rule", "111", "000", "111", "000").clustered()
    interval = ours.wilson(2, 4)
    assert (evaluation.success.low, evaluation.success.high) == (interval.low, interval.high)
    assert evaluation.success.n == 12
    assert evaluation.clusters == 4
    assert evaluation.to_dict()["clusters"] == 4
    assert str(evaluation).endswith("The intervals take the tasks of one cluster together: 12 tasks, 4 clusters.")


def test_clusters_of_one_task_change_nothing(shopping: Callable[..., Evaluation]) -> None:
    evaluation = shopping("rule", *"110100")
    assert evaluation.clustered().metrics == evaluation.metrics
    assert repr(evaluation.clustered().metrics) == repr(evaluation.metrics)


def test_means_and_categories_are_clustered_too(row: Rows, plan: Plans) -> None:
    rows = [
        row(f"P{product}.h{goal}", score=10.0 * product, category="ab"[product % 2], cluster=f"P{product}")
        for product in range(8)
        for goal in range(3)
    ]
    evaluation = Evaluation(plan("rule", n=24), Records(tuple(rows)))
    clustered = evaluation.clustered()
    expected = ours.bootstrap_mean([10.0 * product for product in range(8)])
    assert (clustered.score.low, clustered.score.high) == (expected.low, expected.high)
    for category, first in (("a", 0), ("b", 1)):
        expected = ours.bootstrap_mean([10.0 * product for product in range(first, 8, 2)])
        assert clustered.by_category[category]["score"].low == expected.low


def test_what_became_of_opinions_is_clustered_too(row: Rows, plan: Plans) -> None:
    step = {"observation": "", "action": "a", "reward": 0.0, "opinions": [["a", None, "e"]]}
    other = step | {"action": "b"}
    rows = [
        row(f"P{product}.h{goal}", cluster=f"P{product}", trajectory=[step if product < 2 else other])
        for product in range(4)
        for goal in range(3)
    ]
    opinions = Evaluation(plan("rule", n=12), Records(tuple(rows))).clustered().opinions
    assert opinions is not None
    interval = ours.wilson(2, 4)
    assert (opinions.agreement_first.low, opinions.agreement_first.high) == (interval.low, interval.high)


def test_episodes_without_clusters_are_refused(row: Rows, plan: Plans) -> None:
    with pytest.raises(InvalidSetting, match="name no clusters"):
        Evaluation(plan("rule", n=1), Records((row("a"),))).clustered()


def test_a_task_that_failed_before_it_named_its_cluster_is_one_of_its_own(row: Rows, plan: Plans) -> None:
    rows = (row("P0.h0", cluster="P0"), row("P0.h1", cluster="P0"), row("P1.h0", ended_by="error", error="E: x"))
    assert Evaluation(plan("rule", n=3), Records(rows)).clustered().clusters == 2


# -- comparisons ---------------------------------------------------------------------------------------------------


def test_paired_difference_draws_whole_products(shopping: Callable[..., Evaluation]) -> None:
    first, second = shopping("a", "111", "11", "1", "0011"), shopping("b", "000", "10", "1", "0011")
    comparison = first.compare(second, clustered=True)
    differences = [1, 1, 1, 0, 1, 0, 0, 0, 0, 0]
    interval = ours.bootstrap_mean(differences, list("aaabbcdddd"))
    assert comparison.success == pytest.approx(0.4)
    assert (comparison.success.low, comparison.success.high) == (interval.low, interval.high)
    assert comparison.success_p == ours.sign_flip_test([3, 1]) == 0.5
    assert comparison.score.high == pytest.approx(100 * interval.high)
    assert (comparison.clusters, comparison.tasks) == (4, 10)
    assert str(comparison).startswith("a against b on E-v0 · 10 tasks · 4 clusters\n")


def test_a_clustered_evaluation_compares_in_clusters(shopping: Callable[..., Evaluation]) -> None:
    first, second = shopping("a", "111", "11"), shopping("b", "000", "10")
    assert first.clustered().compare(second) == first.compare(second, clustered=True)
    assert first.compare(second).clusters is None


def test_tasks_that_are_alike_within_products_are_needed_in_larger_numbers(
    shopping: Callable[..., Evaluation],
) -> None:
    marks = ["1111", "0000"] * 10 + ["1111"]
    first, second = shopping("a", *marks), shopping("b", *(["0000"] * 20 + ["1111"]))
    plain, clustered = first.compare(second), first.compare(second, clustered=True)
    assert plain.tasks_needed is not None
    assert clustered.tasks_needed == 4 * plain.tasks_needed  # each product's four goals tell as much as one


def test_equal_policies_have_an_interval_of_as_many_tasks_as_products(shopping: Callable[..., Evaluation]) -> None:
    comparison = shopping("a", "11", "00", "11").compare(shopping("b", "11", "00", "11"), clustered=True)
    interval = ours.paired_difference(3, 0, 0)
    assert (comparison.success.low, comparison.success.high) == (interval.low, interval.high)


# -- reports -------------------------------------------------------------------------------------------------------


def test_a_clustered_report_says_how_many_clusters_there_are(
    shopping: Callable[..., Evaluation], tmp_path: Path
) -> None:
    shopping("rule", "111", "000").save(tmp_path / "run")
    head, _, line = report([tmp_path / "run"], clustered=True).splitlines()
    assert "| tasks | clusters | errors |" in head
    assert "| 6 | 2 | 0 | 0.500 [0.095, 0.905] n=6 |" in line  # Wilson of 1 in 2
    assert json.loads(report([tmp_path / "run"], "json", clustered=True))[0]["clusters"] == 2
    assert report([tmp_path / "run"], "csv", clustered=True).count("clusters") == 1
    assert "clusters" not in report([tmp_path / "run"], "csv")


# -- parts ---------------------------------------------------------------------------------------------------------


def test_a_part_counts_only_its_tasks(shopping: Callable[..., Evaluation]) -> None:
    evaluation = shopping("rule", "110", "001")
    part = evaluation.subset(["P1.h2", "P0.h0", "P0.h1", "P7.h0"])
    assert [row["task_id"] for row in part.rows] == ["P0.h0", "P0.h1", "P1.h2"]
    assert (part.success, part.success.n) == (1.0, 3)
    assert (part.n, part.plan.n, part.plan.panel["size"], part.complete) == (3, 3, 3, True)
    assert part.clustered().clusters == 2
    assert evaluation.clustered().subset(["P0.h0"]).clusters == 1


def test_equal_parts_are_paired_and_others_are_not(shopping: Callable[..., Evaluation]) -> None:
    first, second = shopping("a", "110"), shopping("b", "010")
    assert first.subset(["P0.h0", "P0.h2"]).compare(second.subset(["P0.h2", "P0.h0"])).tasks == 2
    with pytest.raises(InvalidSetting, match="same tasks"):
        first.subset(["P0.h0"]).compare(second.subset(["P0.h2"]))


def test_a_part_without_tasks_is_refused(shopping: Callable[..., Evaluation]) -> None:
    with pytest.raises(InvalidSetting, match="None of these 1 tasks was played"):
        shopping("rule", "1").subset(["P9.h9"])


def test_the_goals_that_can_be_met_are_a_part_of_their_own(make_env: Callable[..., gym.Env[str, str]]) -> None:
    env = make_env("llm_gym/WebShop-v1", split="test")
    world: Any = env.unwrapped
    evaluation = evaluate(FirstHitPolicy(), env, 10)
    part = evaluation.subset(task for task in world.panel if world.reachable(task))
    assert part.n == 10  # every goal of the invented catalogue can be met
