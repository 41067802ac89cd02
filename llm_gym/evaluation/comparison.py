"""Two evaluations against each other, task by task."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.metrics import BY_TASK, Clusters, attempts
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Row, attempt_of
from llm_gym.evaluation.statistics import (
    Interval,
    bootstrap_mean,
    effective_size,
    mcnemar_exact,
    paired_difference,
    sign_flip_test,
    tasks_needed,
)
from llm_gym.evaluation.tables import Table, estimate_cells, printable

ALPHA = 0.05
"""Level of the tests in the sentence."""

Pair = tuple[Row, Row]
"""The two policies' last trials of one attempt."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the same tasks say about two policies. Differences are first minus second."""

    first: str
    second: str
    environment: str
    tasks: int
    pairs: int
    """Tasks times repeats that both played."""
    both: int
    only_first: int
    only_second: int
    neither: int
    """Pairs by who succeeded; the four add up to `pairs`."""
    success_first: float
    success_second: float
    success: Estimate
    """Difference of the success rates, in [-1, 1]."""
    success_p: float
    """McNemar's exact test; with repeats or clusters a sign-flip test that takes them together."""
    score_first: float
    score_second: float
    score: Estimate
    """Difference of the scores, in points of 100."""
    score_p: float
    """Sign-flip permutation test, clustered by task or by the tasks' own clusters."""
    tasks_needed: int | None
    """Paired tasks to find the observed difference of success with 80 % power; None when it is 0."""
    clusters: int | None = None
    """Number of clusters that intervals and tests take together; None: every task counts as independent."""
    notes: tuple[str, ...] = ()
    """What else differs between the two plans."""

    @property
    def sentence(self) -> str:
        """Whether these tasks can tell the two apart, and if not, how many could."""
        if self.success_p < ALPHA:
            better, worse = (self.first, self.second) if self.success > 0 else (self.second, self.first)
            return f"{better} succeeds more often than {worse}: {self.tasks} tasks tell them apart ({self._p()})."
        told = f"{self.tasks} tasks cannot tell {self.first} and {self.second} apart by success ({self._p()})."
        if self.tasks_needed is None:
            return f"{told} The observed difference is 0, so no number of tasks can be named."
        needed = max(self.tasks_needed, self.tasks + 1)
        return (
            f"{told} If the observed difference of {float(self.success):+.3f} is the true one, "
            f"about {needed:,} tasks would show it with 80 % power."
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        record = asdict(self)
        return {
            **record,
            "success": self.success.to_dict(),
            "score": self.score.to_dict(),
            "notes": list(self.notes),
            "sentence": self.sentence,
        }

    def __str__(self) -> str:
        return "\n".join([self._heading(), self._table().text(), *self._closing()])

    def _repr_html_(self) -> str:
        closing = "".join(f"<div>{html.escape(line)}</div>" for line in self._closing())
        return f"<div><strong>{html.escape(self._heading())}</strong>{self._table().html()}{closing}</div>"

    def _p(self) -> str:
        return "p < 0.001" if self.success_p < 0.001 else f"p = {self.success_p:.3f}"

    def _heading(self) -> str:
        pairs = f" · {self.pairs} pairs" if self.pairs != self.tasks else ""
        clusters = "" if self.clusters is None else f" · {self.clusters} clusters"
        counts = f"{self.tasks} tasks{pairs}{clusters}"
        return printable(f"{self.first} against {self.second} on {self.environment} · {counts}")

    def _table(self) -> Table:
        success, score = estimate_cells(self.success), estimate_cells(self.score, 1)
        sides = (f"{self.success_first:.3f}", f"{self.success_second:.3f}")
        scores = (f"{self.score_first:.1f}", f"{self.score_second:.1f}")
        return Table(
            ("metric", self.first, self.second, "difference", "95 % interval", "p"),
            (
                ("success", *sides, *success[:2], f"{self.success_p:.4f}"),
                ("score", *scores, *score[:2], f"{self.score_p:.4f}"),
            ),
        )

    def _closing(self) -> list[str]:
        counts = (
            f"both succeed: {self.both} · only {self.first}: {self.only_first} · "
            f"only {self.second}: {self.only_second} · neither: {self.neither}"
        )
        return [printable(line) for line in (counts, self.sentence, *self.notes)]


def compare(
    first: tuple[Plan, Sequence[Row]], second: tuple[Plan, Sequence[Row]], clusters: Clusters = BY_TASK
) -> Comparison:
    """Pair two evaluations by task and repeat; attempts that only one has are left out, and a note says how many.

    Args:
        first: plan and rows of the one that differences are positive for when it is better.
        second: of the other.
        clusters: what intervals and tests take together.

    Raises:
        InvalidSetting: another environment, description or panel, or no task in common: the rates would be about
            different things.
    """
    _refuse_different_worlds(first[0], second[0])
    pairs, left_out = _paired(first[1], second[1])
    if not pairs:
        raise InvalidSetting("The two evaluations have no task and repeat in common, so there is nothing to pair.")
    name, other = _labels(first[0], second[0])
    wins = [(a["success"], b["success"]) for a, b in pairs]
    only_first, only_second = wins.count((True, False)), wins.count((False, True))
    units = [clusters.get(a["task_id"], a["task_id"]) for a, _ in pairs]
    success, success_p = _success(pairs, units, only_first, only_second)
    score, score_p = _score(pairs, units)
    return Comparison(
        first=name,
        second=other,
        environment=first[0].environment["id"],
        tasks=len({a["task_id"] for a, _ in pairs}),
        pairs=len(pairs),
        both=wins.count((True, True)),
        only_first=only_first,
        only_second=only_second,
        neither=wins.count((False, False)),
        success_first=sum(a for a, _ in wins) / len(wins),
        success_second=sum(b for _, b in wins) / len(wins),
        success=success,
        success_p=success_p,
        score_first=sum(a["score"] for a, _ in pairs) / len(pairs),
        score_second=sum(b["score"] for _, b in pairs) / len(pairs),
        score=score,
        score_p=score_p,
        tasks_needed=_tasks_needed(wins, units if clusters else None),
        clusters=len(set(units)) if clusters else None,
        notes=(*left_out, *_notes(first[0], second[0])),
    )


def _refuse_different_worlds(first: Plan, second: Plan) -> None:
    parts = ("environment.id", "description", "panel")
    lines = [line for line in first.difference(second) if line.startswith(parts)]
    if lines:
        shown = "\n  ".join(lines)
        raise InvalidSetting(f"These were not played on the same tasks of the same world:\n  {shown}")


def _paired(first: Sequence[Row], second: Sequence[Row]) -> tuple[list[Pair], list[str]]:
    mine = {attempt_of(row): row for row in attempts(first)}
    theirs = {attempt_of(row): row for row in attempts(second)}
    pairs = [(row, theirs[attempt]) for attempt, row in mine.items() if attempt in theirs]
    left_out = len(mine) + len(theirs) - 2 * len(pairs)
    return pairs, [f"Left out: {left_out} attempts that only one of the two has."] if left_out else []


def _labels(first: Plan, second: Plan) -> tuple[str, str]:
    """The policies' names, told apart when they are the same: by the wrappers if these differ, else by their place."""
    names: tuple[str, str] = (first.policy["name"], second.policy["name"])
    if names[0] == names[1]:
        names = (_wrapped(first), _wrapped(second))
    return names if names[0] != names[1] else (f"{names[0]} (first)", f"{names[1]} (second)")


def _wrapped(plan: Plan) -> str:
    """`rule + OpinionWrapper`."""
    return " + ".join([plan.policy["name"], *(str(one.get("name")) for one in plan.environment.get("wrappers", []))])


def _success(pairs: Sequence[Pair], units: Sequence[str], only_first: int, only_second: int) -> tuple[Estimate, float]:
    differences = [float(a["success"]) - float(b["success"]) for a, b in pairs]
    several = len(set(units)) < len(units)
    interval: Interval
    if several and only_first + only_second:
        interval = bootstrap_mean(differences, units)
    else:  # every unit has one pair; or no pair differs, where a bootstrap would claim to be sure
        interval = paired_difference(len(set(units)), only_first, only_second)
    p = sign_flip_test(differences, units) if several else mcnemar_exact(only_first, only_second)
    return Estimate(sum(differences) / len(pairs), interval.low, interval.high, len(pairs)), p


def _score(pairs: Sequence[Pair], units: Sequence[str]) -> tuple[Estimate, float]:
    differences = [a["score"] - b["score"] for a, b in pairs]
    interval = bootstrap_mean(differences, units)
    value = sum(differences) / len(pairs)
    return Estimate(value, interval.low, interval.high, len(pairs)), sign_flip_test(differences, units)


def _tasks_needed(wins: Sequence[tuple[bool, bool]], units: Sequence[str] | None) -> int | None:
    """As of independent tasks; of tasks in clusters such as these, by their design effect more."""
    needed = tasks_needed(wins.count((True, False)) / len(wins), wins.count((False, True)) / len(wins))
    if needed is None or units is None:
        return needed
    return math.ceil(needed * len(wins) / effective_size([float(a) - float(b) for a, b in wins], units))


def _notes(first: Plan, second: Plan) -> list[str]:
    """Settings besides policy and number of tasks that the two do not share: part of what the difference measures."""
    lines = [line for line in first.difference(second) if not line.startswith(("policy", "n:"))]
    return [f"Also different: {line}" for line in lines]
