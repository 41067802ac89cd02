"""Metrics of an evaluation, computed from its rows alone.

Every number is over attempts: a task in one repeat. An attempt of several trials counts by its last trial; only
`seconds` and what the calls to a model cost add up all trials, because they were spent. An episode that ended in an
error is an attempt without success, with the score it had reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from llm_gym.evaluation.estimate import NOTHING, Estimate
from llm_gym.evaluation.records import Attempt, Row, attempt_of
from llm_gym.evaluation.statistics import bootstrap_mean, clustered_wilson, wilson

BUILT_IN = ("success", "score", "precision", "completion_rate", "steps", "invalid_actions", "seconds")
COSTS = ("prompt_tokens", "completion_tokens", "cost_usd")

Clusters = Mapping[str, str]
"""Task → the cluster it belongs to; a task that is not there is one of its own."""
BY_TASK: Clusters = {}

Value = Callable[[Row], float | bool | None]
"""A number of one row; None leaves the row out of the metric and its n."""


def rate(rows: Sequence[Row], value: Value, clusters: Clusters = BY_TASK) -> Estimate:
    """Share of true values. Wilson interval; with several values of a cluster Wilson at the effective sample size."""
    pairs = _present(rows, value)
    if not pairs:
        return NOTHING
    values = [float(number) for _, number in pairs]
    units = [clusters.get(task, task) for task, _ in pairs]
    several = len(set(units)) < len(units)
    bounds = clustered_wilson(values, units) if several else wilson(sum(values), len(values))
    return Estimate(sum(values) / len(values), bounds.low, bounds.high, len(values))


def mean(rows: Sequence[Row], value: Value, clusters: Clusters = BY_TASK) -> Estimate:
    """Mean of the values. Percentile bootstrap of whole clusters; of one cluster the interval is unknown."""
    pairs = _present(rows, value)
    if not pairs:
        return NOTHING
    values = [float(number) for _, number in pairs]
    bounds = bootstrap_mean(values, [clusters.get(task, task) for task, _ in pairs])
    return Estimate(math.fsum(values) / len(values), bounds.low, bounds.high, len(values))


def _present(rows: Sequence[Row], value: Value) -> list[tuple[str, float]]:
    pairs = [(row["task_id"], value(row)) for row in rows]
    return [(task, number) for task, number in pairs if number is not None]


def attempts(rows: Iterable[Row]) -> list[Row]:
    """The last trial of every attempt, in the order of the rows."""
    last: dict[Attempt, Row] = {}
    for row in rows:
        held = last.setdefault(attempt_of(row), row)
        if row["trial"] > held["trial"]:
            last[attempt_of(row)] = row
    return list(last.values())


def finished(row: Row) -> bool:
    """Whether an attempt came to an end of its own, the base of `precision`.

    Where one buys that is a purchase; elsewhere an end by the task or the agent, not the step limit or an error.
    """
    if "purchase" in row["metrics"]:
        return row["metrics"]["purchase"] is True
    return row["ended_by"] in ("task", "agent")


def all_metrics(rows: Sequence[Row], timings: Sequence[Row] = (), clusters: Clusters = BY_TASK) -> dict[str, Estimate]:
    """Every metric by name; intervals take what belongs to one cluster together.

    `success` in [0, 1]; `score` in [0, 100]; `precision`, success among the finished; `completion_rate`, ended by
    task or agent; `steps` and `invalid_actions` an attempt; `seconds` an attempt; then what the model calls cost an
    attempt, and the environment's own metrics: true-or-false ones as rates named `<name>_rate`, numbers as means under
    their name (`env_<name>` if it is taken). Values that are missing or None are left out, and n says so.
    """
    played = attempts(rows)
    built_in = {
        "success": rate(played, lambda row: row["success"], clusters),
        "score": mean(played, lambda row: row["score"], clusters),
        "precision": rate([row for row in played if finished(row)], lambda row: row["success"], clusters),
        "completion_rate": rate(played, lambda row: row["ended_by"] in ("task", "agent"), clusters),
        "steps": mean(played, lambda row: row["steps"], clusters),
        "invalid_actions": mean(played, lambda row: row["invalid_actions"], clusters),
        "seconds": _total(timings, lambda row: row["seconds"], clusters),
    }
    return {**built_in, **_costs(rows, clusters), **_of_environment(played, clusters)}


def _total(rows: Sequence[Row], value: Value, clusters: Clusters) -> Estimate:
    """Mean over attempts of the sum over trials; an attempt with an unknown trial is left out."""
    sums: dict[Attempt, float | None] = {}
    for row in rows:
        known, number = sums.get(attempt_of(row), 0.0), value(row)
        sums[attempt_of(row)] = None if known is None or number is None else known + number
    totals: list[Row] = [{"task_id": attempt.task_id, "total": total} for attempt, total in sums.items()]
    return mean(totals, lambda row: row["total"], clusters)


def _costs(rows: Sequence[Row], clusters: Clusters) -> dict[str, Estimate]:
    """Tokens and dollars an attempt; empty when no step called a model."""
    if not any("usage" in step for row in rows for step in row["trajectory"]):
        return {}
    return {name: _total(rows, _cost(position), clusters) for position, name in enumerate(COSTS)}


def _cost(position: int) -> Value:
    def total(row: Row) -> float | None:
        costs = [step["usage"][position] for step in row["trajectory"] if "usage" in step]
        return None if None in costs else math.fsum(costs)

    return total


def _of_environment(played: Sequence[Row], clusters: Clusters) -> dict[str, Estimate]:
    found: dict[str, Estimate] = {}
    for key in dict.fromkeys(key for row in played for key in row["metrics"]):
        values = [row["metrics"].get(key) for row in played]
        true_or_false = all(isinstance(value, bool) for value in values if value is not None)
        name = f"{key}_rate" if true_or_false and not key.endswith("_rate") else key
        name = f"env_{name}" if name in (*BUILT_IN, *COSTS) else name
        found[name] = (rate if true_or_false else mean)(played, _own(key), clusters)
    return found


def _own(key: str) -> Value:
    return lambda row: row["metrics"].get(key)


def success_by_trial(rows: Sequence[Row], trials: int, clusters: Clusters = BY_TASK) -> list[Estimate]:
    """Share of the attempts that succeeded in trial 1 to k, for k = 1 … trials; (trials,), never falling."""
    solved = {attempt_of(row): row["trial"] for row in rows if row["success"]}
    played = attempts(rows)
    return [
        rate(played, lambda row, k=k: solved.get(attempt_of(row), trials) <= k, clusters)  # type: ignore[misc]
        for k in range(trials)
    ]


def by_category(
    rows: Sequence[Row], order: Sequence[str] = (), clusters: Clusters = BY_TASK
) -> dict[str, dict[str, Estimate]]:
    """`success`, `score` and `steps` of every category; empty when there are not two to tell apart.

    Args:
        rows: of an evaluation.
        order: categories that come first, in this order; the others follow in alphabetical order.
        clusters: what intervals take together.
    """
    groups: dict[str, list[Row]] = {}
    for row in attempts(rows):
        groups.setdefault(row["category"], []).append(row)
    if len(groups) < 2:
        return {}
    ordered = [*(category for category in order if category in groups), *sorted(groups.keys() - set(order))]
    return {
        category: {
            "success": rate(groups[category], lambda row: row["success"], clusters),
            "score": mean(groups[category], lambda row: row["score"], clusters),
            "steps": mean(groups[category], lambda row: row["steps"], clusters),
        }
        for category in ordered
    }


def errors(rows: Sequence[Row]) -> int:
    """Number of attempts that ended by an exception."""
    return sum(row["ended_by"] == "error" for row in attempts(rows))


def metrics_as_json(metrics: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: estimate.to_dict() for name, estimate in metrics.items()}
