"""Intervals and tests, as pure functions of numbers. The same input gives the same output: every seed is fixed.

Rates come with score (Wilson) intervals, means with bootstrap intervals; comparisons are paired. With several
attempts at a task the tasks are the independent units, so intervals and tests are clustered by task, or by what the
tasks themselves share, such as a product.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
_MAX_DRAWS = 20_000_000
"""A bootstrap draws at most so many values, and 1,000 resamples at least, so that large panels take a second."""
_BLOCK = 250_000
"""Values drawn at a time: 2 MB, which stay in the processor's cache."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a 95 % interval; both nan when the data cannot say (see the functions)."""

    low: float
    high: float


UNKNOWN = Interval(math.nan, math.nan)


def normal_quantile(share: float) -> float:
    """The point below which `share` of a standard normal distribution lies."""
    return NormalDist().inv_cdf(share)


def wilson(successes: float, n: float, confidence: float = CONFIDENCE) -> Interval:
    """Score interval of a proportion (Wilson 1927); inside [0, 1] and never of width 0.

    Args:
        successes: in [0, n]; a fraction is allowed, for an effective sample size.
        n: number of trials; 0 gives `UNKNOWN`.
        confidence: in (0, 1).
    """
    if n <= 0:
        return UNKNOWN
    z = normal_quantile((1 + confidence) / 2)
    rate, spread = successes / n, z * z / n
    centre = (rate + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(rate * (1 - rate) / n + spread / (4 * n))
    # At 0 and n the bound is exactly the end; rounding would leave 1e-18 of it.
    return Interval(0.0 if successes == 0 else centre - half, 1.0 if successes == n else centre + half)


def clustered_wilson(values: Sequence[float], clusters: Sequence[Hashable], confidence: float = CONFIDENCE) -> Interval:
    """Wilson interval at the effective sample size of clustered 0/1 values.

    Korn and Graubard 1998; Franco, Little, Louis and Slud 2019. See `effective_size`.

    Args:
        values: (N,) of 0 or 1.
        clusters: (N,) the cluster of every value, mostly its task.
        confidence: in (0, 1).
    """
    if not values:
        return UNKNOWN
    effective = effective_size(values, clusters)
    return wilson(sum(values) / len(values) * effective, effective, confidence)


def effective_size(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """How many independent values would tell as much about the mean as these clustered ones.

    The variance of the values divided by the variance of their mean between clusters (ratio estimator), kept between
    the size if the values of each cluster were all alike (Kish 1965: n² / Σ m², the number of clusters when they are
    equally large) and n, as if they were independent. Values that are all alike show no variance: the lower end.

    Args:
        values: (N,), at least one.
        clusters: (N,) the cluster of every value.
    """
    sums, sizes = _cluster_sums(values, clusters)
    n, count = float(sizes.sum()), len(sums)
    mean = float(sums.sum()) / n
    spread = float(np.mean(np.square(np.asarray(values, np.float64)))) - mean * mean
    lowest = n * n / float(np.sum(sizes**2))
    if count < 2 or spread <= 1e-12 * mean * mean:
        return lowest
    between = count / (count - 1) * float(np.sum((sums - mean * sizes) ** 2)) / n**2
    return min(max(spread / between, lowest), n) if between > 0 else n


def bootstrap_mean(
    values: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    confidence: float = CONFIDENCE,
    resamples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of the mean (Efron and Tibshirani 1993, ch. 13); values all alike give width 0.

    With clusters, whole clusters are drawn (Davison and Hinkley 1997, §3.8; Miller 2024, "Adding Error Bars to Evals",
    arXiv:2411.00640, on why repeats of a question are not independent).

    Args:
        values: (N,); fewer than two clusters give `UNKNOWN`: one number shows no spread.
        clusters: (N,) the cluster of every value, mostly its task; None means each value is its own.
        confidence: in (0, 1).
        resamples: number of redrawn samples; fewer for more than 2,000 clusters, see `_MAX_DRAWS`.
        seed: of the redrawing, fixed so that a report written twice is the same bytes.
    """
    sums, sizes = _cluster_sums(values, clusters if clusters is not None else range(len(values)))
    count = len(sums)
    if count < 2:
        return UNKNOWN
    resamples = min(resamples, max(1_000, _MAX_DRAWS // count))
    generator = np.random.default_rng(seed)
    uneven = bool(np.any(sizes != sizes[0]))
    means = np.empty(resamples)
    block = max(1, _BLOCK // count)
    for start in range(0, resamples, block):
        drawn = generator.integers(0, count, size=(min(block, resamples - start), count))  # (block, clusters)
        totals = sizes[drawn].sum(axis=1) if uneven else sizes.sum()
        means[start : start + block] = sums[drawn].sum(axis=1) / totals
    low, high = np.quantile(means, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Interval(float(low), float(high))


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p-value of McNemar's test in its exact, binomial form; in (0, 1].

    Args:
        only_first: pairs in which only the first succeeded.
        only_second: pairs in which only the second succeeded. Without any such pair the p-value is 1.
    """
    n = only_first + only_second
    term = total = 1  # of Pascal's row n, up to the smaller count
    for k in range(min(only_first, only_second)):
        term = term * (n - k) // (k + 1)
        total += term
    return min(1.0, 2 * total / int(2**n))  # whole numbers to the end: no rounding, and no underflow of the terms


def paired_difference(n: int, only_first: int, only_second: int, confidence: float = CONFIDENCE) -> Interval:
    """Interval of the difference of two rates on the same n tasks (first - second), in [-1, 1].

    Bonett and Price 2012: Wald with half a pair added to each cell; recommended by Fagerland, Lydersen and Laake
    2014. n = 0 gives `UNKNOWN`.
    """
    if n == 0:
        return UNKNOWN
    first, second = (only_first + 1) / (n + 2), (only_second + 1) / (n + 2)
    z = normal_quantile((1 + confidence) / 2)
    half = z * math.sqrt((first + second - (first - second) ** 2) / (n + 2))
    return Interval(max(-1.0, first - second - half), min(1.0, first - second + half))


def sign_flip_test(
    differences: Sequence[float],
    clusters: Sequence[Hashable] | None = None,
    *,
    resamples: int = 10_000,
    seed: int = 0,
) -> float:
    """Two-sided permutation test that paired differences have mean 0; p in (0, 1].

    Under the null hypothesis every difference has either sign with equal chance (Good 2005). All sign patterns
    are counted when there are at most `resamples` of them; else that many are drawn and the observed one is added
    (Phipson and Smyth 2010), so p is never 0.

    Args:
        differences: (N,); without one that is not 0, p is 1.
        clusters: (N,) the cluster of every difference; its differences change sign together.
        resamples: number of sign patterns.
        seed: of the drawing.
    """
    sums, _ = _cluster_sums(differences, clusters if clusters is not None else range(len(differences)))
    sums = sums[sums != 0.0]
    if not len(sums):
        return 1.0
    observed = abs(float(sums.sum())) - 1e-9 * float(np.abs(sums).sum())  # equal sums differ by rounding
    if 2 ** len(sums) <= resamples:
        patterns = np.arange(2 ** len(sums))[:, None] >> np.arange(len(sums)) & 1  # (2^N, N)
        return int(np.count_nonzero(np.abs((2.0 * patterns - 1.0) @ sums) >= observed)) / len(patterns)
    generator = np.random.default_rng(seed)
    beyond, block = 0, max(1, _BLOCK // len(sums))
    for start in range(0, resamples, block):
        signs = 2.0 * generator.integers(0, 2, size=(min(block, resamples - start), len(sums))) - 1.0
        beyond += int(np.count_nonzero(np.abs(signs @ sums) >= observed))
    return (beyond + 1) / (resamples + 1)


def tasks_needed(only_first: float, only_second: float, *, power: float = 0.8, alpha: float = 0.05) -> int | None:
    """Number of paired tasks at which McNemar's test finds such a difference with the given power.

    Connor 1987 (Biometrics 43:207), normal approximation. None when the shares are equal: no number would do.

    Args:
        only_first: share of the tasks, in [0, 1], that only the first solves.
        only_second: share that only the second solves.
        power: chance to find the difference.
        alpha: two-sided level of the test.
    """
    difference, discordant = only_first - only_second, only_first + only_second
    if difference == 0:
        return None
    level, strength = normal_quantile(1 - alpha / 2), normal_quantile(power)
    root = level * math.sqrt(discordant) + strength * math.sqrt(discordant - difference**2)
    return math.ceil((root / difference) ** 2 - 1e-9)


def _cluster_sums(values: Sequence[float], clusters: Sequence[Hashable]) -> tuple[Floats, Floats]:
    """Sum and number of the values of each cluster, in order of first appearance; both (clusters,)."""
    positions: dict[Hashable, int] = {}
    where = np.array([positions.setdefault(cluster, len(positions)) for cluster in clusters], dtype=np.int64)
    sums = np.bincount(where, weights=np.asarray(values, dtype=np.float64), minlength=len(positions))
    return sums.astype(np.float64), np.bincount(where, minlength=len(positions)).astype(np.float64)
