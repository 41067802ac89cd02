"""Intervals and tests against scipy, published examples and other ways of calculating them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from llm_gym.evaluation import statistics as ours


@pytest.mark.parametrize(("successes", "n"), [(0, 10), (1, 1), (7, 20), (20, 20), (29, 100), (3, 5000)])
def test_wilson_equals_scipy(successes: int, n: int) -> None:
    theirs = stats.binomtest(successes, n).proportion_ci(method="wilson")
    assert ours.wilson(successes, n) == ours.Interval(pytest.approx(theirs.low, abs=1e-12), pytest.approx(theirs.high))


def test_wilson_is_newcombes_published_interval_for_81_of_263() -> None:
    # Newcombe 1998, Statistics in Medicine 17:857, table I, method 3
    interval = ours.wilson(81, 263)
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_wilson_of_nothing_is_unknown() -> None:
    assert math.isnan(ours.wilson(0, 0).low)


@given(st.integers(1, 200), st.data())
def test_wilson_holds_the_rate_and_stays_between_0_and_1(n: int, data: st.DataObject) -> None:
    successes = data.draw(st.integers(0, n))
    interval = ours.wilson(successes, n)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1
    assert interval.low < interval.high


def test_clustered_wilson_of_identical_repeats_counts_tasks_not_attempts() -> None:
    values, tasks = [1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0], list("aaabbbcccddd")
    assert ours.clustered_wilson(values, tasks) == ours.wilson(2, 4)


def test_clustered_wilson_of_independent_repeats_counts_attempts() -> None:
    values, tasks = [1, 0] * 6, [task for task in "abcdef" for _ in range(2)]
    assert ours.clustered_wilson(values, tasks) == ours.wilson(6, 12)


def test_clustered_wilson_between_the_two_uses_the_effective_size() -> None:
    # sums 2, 1, 0, 2 of 2 each; p = 5/8; variance = 4/3 * (.75² + .25² + 1.25² + .75²) / 64
    variance = 4 / 3 * (0.5625 + 0.0625 + 1.5625 + 0.5625) / 64
    effective = max(4.0, (5 / 8) * (3 / 8) / variance)
    expected = ours.wilson(5 / 8 * effective, effective)
    assert ours.clustered_wilson([1, 1, 1, 0, 0, 0, 1, 1], list("aabbccdd")) == expected


def test_clustered_wilson_of_only_successes_counts_tasks() -> None:
    assert ours.clustered_wilson([1.0] * 30, [number // 3 for number in range(30)]) == ours.wilson(10, 10)


def test_clustered_wilson_covers_the_truth_about_95_times_in_100() -> None:
    generator, held, runs = np.random.default_rng(1), 0, 400
    for _ in range(runs):
        rates = generator.beta(2, 2, size=40)  # mean 0.5, tasks of different difficulty
        values = (generator.random((40, 3)) < rates[:, None]).astype(float).ravel()
        interval = ours.clustered_wilson(values.tolist(), [task for task in range(40) for _ in range(3)])
        held += interval.low <= 0.5 <= interval.high
    assert 0.92 <= held / runs <= 0.98


def test_bootstrap_agrees_with_scipy() -> None:
    values = np.random.default_rng(5).gamma(2.0, 10.0, size=60)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(0)).confidence_interval
    interval = ours.bootstrap_mean(values.tolist())
    assert interval.low == pytest.approx(theirs.low, abs=0.25)
    assert interval.high == pytest.approx(theirs.high, abs=0.25)


def test_bootstrap_is_the_same_every_time() -> None:
    assert ours.bootstrap_mean([1, 2, 3, 5]) == ours.bootstrap_mean([1, 2, 3, 5])


def test_bootstrap_of_copies_of_a_task_is_as_wide_as_of_the_task() -> None:
    values = [0.0, 20.0, 50.0, 90.0, 100.0]
    tripled = [value for value in values for _ in range(3)]
    clusters = [task for task in range(5) for _ in range(3)]
    assert ours.bootstrap_mean(tripled, clusters) == ours.bootstrap_mean(values)
    narrow = ours.bootstrap_mean(tripled)
    wide = ours.bootstrap_mean(values)
    assert narrow.high - narrow.low < 0.7 * (wide.high - wide.low)


@pytest.mark.parametrize("values", [[], [3.0]])
def test_bootstrap_of_one_value_or_none_is_unknown(values: list[float]) -> None:
    assert math.isnan(ours.bootstrap_mean(values).low)


def test_bootstrap_of_one_task_with_repeats_is_unknown() -> None:
    assert math.isnan(ours.bootstrap_mean([1.0, 2.0], ["a", "a"]).low)


def test_bootstrap_of_a_whole_split_is_near_the_normal_interval() -> None:
    values = np.random.default_rng(2).normal(50, 10, size=12_000)
    half = 1.96 * values.std() / math.sqrt(len(values))
    interval = ours.bootstrap_mean(values.tolist())
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.1)


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_the_binomial_test(only_first: int, only_second: int) -> None:
    n = only_first + only_second
    expected = stats.binomtest(only_first, n).pvalue if n else 1.0
    assert ours.mcnemar_exact(only_first, only_second) == pytest.approx(expected, rel=1e-9)


def test_mcnemar_of_a_large_panel_does_not_overflow() -> None:
    assert ours.mcnemar_exact(3000, 3300) == pytest.approx(stats.binomtest(3000, 6300).pvalue, rel=1e-9)


def test_paired_difference_by_hand() -> None:
    # n = 10, b = 4, c = 1: p12 = 5/12, p21 = 2/12; 0.25 ± 1.96 sqrt((7/12 - 1/16) / 12)
    half = 1.959963985 * math.sqrt((7 / 12 - 1 / 16) / 12)
    interval = ours.paired_difference(10, 4, 1)
    assert interval.low == pytest.approx(0.25 - half)
    assert interval.high == pytest.approx(0.25 + half)


def test_paired_difference_covers_the_truth_about_95_times_in_100() -> None:
    generator = np.random.default_rng(3)
    counts = generator.multinomial(50, [0.3, 0.1, 0.6], size=2000)  # true difference 0.2
    held = 0
    for only_first, only_second, _ in counts.tolist():
        interval = ours.paired_difference(50, only_first, only_second)
        held += interval.low <= 0.2 <= interval.high
    assert 0.93 <= held / 2000 <= 0.975


@pytest.mark.parametrize("differences", [[1, 2, 3], [5, -1, 2, 2, 0, -3], [0.1, 0.2, -0.3, 0.4]])
def test_sign_flip_of_few_pairs_counts_every_pattern(differences: list[float]) -> None:
    observed = abs(sum(differences)) - 1e-12
    patterns = list(itertools.product([-1, 1], repeat=len(differences)))
    beyond = sum(abs(sum(a * b for a, b in zip(signs, differences, strict=True))) >= observed for signs in patterns)
    assert ours.sign_flip_test(differences) == pytest.approx(beyond / len(patterns))


def test_sign_flip_of_many_pairs_agrees_with_scipy() -> None:
    differences = np.random.default_rng(4).normal(0.3, 1.0, size=40)
    theirs = stats.permutation_test(
        (differences,),
        lambda x, axis: np.mean(x, axis=axis),
        permutation_type="samples",
        vectorized=True,
        rng=np.random.default_rng(0),
    )
    assert ours.sign_flip_test(differences.tolist()) == pytest.approx(theirs.pvalue, abs=0.015)


def test_sign_flip_of_success_differences_is_mcnemar() -> None:
    assert ours.sign_flip_test([1.0] * 7 + [-1.0] * 2 + [0.0] * 20) == pytest.approx(ours.mcnemar_exact(7, 2))


def test_sign_flip_moves_the_repeats_of_a_task_together() -> None:
    assert ours.sign_flip_test([1, 1, 1, 2, 2, 2], list("aaabbb")) == ours.sign_flip_test([3, 6]) == 0.5


def test_sign_flip_without_a_difference_is_1() -> None:
    assert ours.sign_flip_test([0.0, 0.0]) == ours.sign_flip_test([]) == 1.0


def test_tasks_needed_gives_the_power_it_promises() -> None:
    only_first, only_second = 0.25, 0.10
    n = ours.tasks_needed(only_first, only_second)
    assert n is not None
    # Power of the exact test, by summing over the number of discordant pairs and their split.
    power = 0.0
    for discordant in range(n + 1):
        chance = stats.binom.pmf(discordant, n, only_first + only_second)
        splits = np.arange(discordant + 1)
        p_values = np.array([ours.mcnemar_exact(int(k), discordant - int(k)) for k in splits])
        share = only_first / (only_first + only_second)
        power += chance * stats.binom.pmf(splits, discordant, share)[p_values < 0.05].sum()
    assert 0.75 <= power <= 0.85


def test_tasks_needed_by_connors_formula_worked_by_hand() -> None:
    # discordant .35, difference .15: ((1.959964 * .591608 + .841621 * .572276) / .15)² = 119.9…
    assert ours.tasks_needed(0.25, 0.10) == math.ceil(((1.959964 * 0.591608 + 0.841621 * 0.572276) / 0.15) ** 2)


def test_tasks_needed_of_no_difference_is_none() -> None:
    assert ours.tasks_needed(0.2, 0.2) is None
