"""What became of the opinions that a policy was shown, computed from the rows of an evaluation.

A step counts where there were opinions and the policy acted; stopping is no answer to a suggestion. An action agrees
with an opinion that is the same but for case and width of blanks. Of an attempt the last trial counts; intervals are
clustered by task.

Rates of success say with whom opinions were followed, not what following does: an agent may follow where the task is
easy. The effect of opinions is the paired comparison with the same policy without them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from llm_gym.evaluation.estimate import Estimate
from llm_gym.evaluation.metrics import BY_TASK, Clusters, attempts, rate
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.tables import Table, estimate_cells

_VERB = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often an action was one that was suggested, in [0, 1]."""

    first: Estimate
    """It was the first opinion."""
    any: Estimate
    """It was one of the opinions."""


@dataclass(frozen=True, slots=True)
class OpinionUse:
    """What became of the opinions."""

    shown: Estimate
    """Share of all actions: there were opinions before it."""
    agreement_first: Estimate
    """Share of the actions with opinions: it was the first opinion."""
    agreement_any: Estimate
    """Share of the actions with opinions: it was one of them."""
    uptake: Estimate
    """Share of the actions with opinions that follow one that was none of its opinions: now it was one of them."""
    refused: Estimate
    """Share of the actions that were an opinion: the world refused it as impossible."""
    success_followed: Estimate
    """Success of attempts in which more than half of the actions with opinions were one of them."""
    success_not_followed: Estimate
    """Success of the other attempts with opinions."""
    by_type: Mapping[str, Agreement]
    """By the kind of action, its first word: search and click, or take, go, open …"""

    def rates(self) -> dict[str, Estimate]:
        """All but the agreement by type, by name."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "by_type"}

    def tables(self) -> Iterator[Table]:
        """As people read it."""
        rates = tuple((name, *estimate_cells(estimate)) for name, estimate in self.rates().items())
        yield Table(("opinions", "value", "95 % interval", "n"), rates)
        yield Table(
            ("action", "agrees with first", "95 % interval", "with any", "95 % interval", "n"),
            tuple(
                (kind, *estimate_cells(agreement.first)[:2], *estimate_cells(agreement.any))
                for kind, agreement in self.by_type.items()
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        by_type = {
            kind: {"first": agreement.first.to_dict(), "any": agreement.any.to_dict()}
            for kind, agreement in self.by_type.items()
        }
        return {**{name: estimate.to_dict() for name, estimate in self.rates().items()}, "by_type": by_type}


@dataclass(frozen=True, slots=True)
class _Answer:
    """An action, and how it relates to the opinions before it."""

    unit: str
    """The task, or its cluster."""
    kind: str
    shown: bool
    first: bool
    any: bool
    refused: bool


def opinion_use(rows: Sequence[Row], clusters: Clusters = BY_TASK) -> OpinionUse | None:
    """What became of the opinions; None where no policy was shown any. Intervals take a cluster's answers together."""
    episodes = [(row, _answers(row, clusters.get(row["task_id"], row["task_id"]))) for row in attempts(rows)]
    every = [answer for _, answers in episodes for answer in answers]
    answers = [answer for answer in every if answer.shown]
    if not answers:
        return None
    after_disagreement = [now for _, answers in episodes for now in _after_disagreement(answers)]
    advised = [(row, told) for row, answers in episodes if (told := [answer for answer in answers if answer.shown])]
    followed = [row for row, told in advised if _followed(told)]
    not_followed = [row for row, told in advised if not _followed(told)]
    return OpinionUse(
        shown=_share(every, "shown"),
        agreement_first=_share(answers, "first"),
        agreement_any=_share(answers, "any"),
        uptake=_share(after_disagreement, "any"),
        refused=_share([answer for answer in answers if answer.any], "refused"),
        success_followed=rate(followed, lambda row: row["success"], clusters),
        success_not_followed=rate(not_followed, lambda row: row["success"], clusters),
        by_type=_by_type(answers),
    )


def _answers(row: Row, unit: str) -> list[_Answer]:
    return [_answer(unit, step) for step in row["trajectory"] if isinstance(step.get("action"), str)]


def _answer(unit: str, step: Mapping[str, Any]) -> _Answer:
    action = _plain(step["action"])
    opinions = [_plain(opinion[0]) for opinion in step.get("opinions", ())]
    verb = _VERB.search(action)
    return _Answer(
        unit=unit,
        kind=verb[0] if verb else "(none)",
        shown=bool(opinions),
        first=opinions[:1] == [action],
        any=action in opinions,
        refused="invalid" in step,
    )


def _plain(action: str) -> str:
    return " ".join(action.lower().split())


def _after_disagreement(answers: Sequence[_Answer]) -> Iterable[_Answer]:
    """The answers that come right after one that was none of its opinions."""
    return (now for before, now in pairwise(answers) if before.shown and not before.any and now.shown)


def _followed(answers: Sequence[_Answer]) -> bool:
    return 2 * sum(answer.any for answer in answers) > len(answers)


def _by_type(answers: Sequence[_Answer]) -> dict[str, Agreement]:
    """The most frequent first, equals in the order of the alphabet."""
    kinds: dict[str, list[_Answer]] = {}
    for answer in answers:
        kinds.setdefault(answer.kind, []).append(answer)
    ordered = sorted(kinds, key=lambda kind: (-len(kinds[kind]), kind))
    return {kind: Agreement(_share(kinds[kind], "first"), _share(kinds[kind], "any")) for kind in ordered}


def _share(answers: Iterable[_Answer], question: str) -> Estimate:
    rows = [{"task_id": answer.unit, "yes": getattr(answer, question)} for answer in answers]
    return rate(rows, lambda row: row["yes"])
