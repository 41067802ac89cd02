"""How the authors of Additional Opinions (Yang, Yue and He 2023) counted an episode, beside what the world knows.

Their program read the model's last reply. If it was the command `finish`, the episode counted as finished (bought,
where one buys) with the reward that the message before it named, or 0; otherwise as not finished, with reward 0. So
an agent that stops without buying has a purchase with reward 0; and a purchase at the last loop, or one that is
followed by any other reply than `finish`, is lost. Where a task ended by itself the model was always asked once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from llm_gym.evaluation.estimate import NOTHING, Estimate
from llm_gym.evaluation.metrics import attempts, finished, mean, rate
from llm_gym.evaluation.records import Row

FULL = 100.0
"""The reward of a success, on the scale of the paper."""


@dataclass(frozen=True, slots=True)
class Counted:
    """An episode as somebody counts it."""

    finished: bool
    """Ended with `finish`, or with a purchase where one buys."""
    reward: float
    """In [0, 100]."""

    @property
    def success(self) -> bool:
        return self.reward >= FULL


@dataclass(frozen=True, slots=True)
class Accounting:
    """The columns of the paper's tables."""

    success: Estimate
    reward: Estimate
    precision: Estimate
    """Success among the finished."""
    finished: Estimate
    """Purchase rate or completion rate."""


def as_published(row: Row, loops: int, asked_after_end: bool) -> Counted:
    """An episode as the authors' program would have counted it.

    Args:
        row: of an agent that gives one command a step.
        loops: after which the agent was stopped.
        asked_after_end: whether the episode holds the reply that the model gave after the task had ended. If not,
            that reply is taken to be `finish`: what is counted then is the most that they could have counted.
    """
    steps = row["trajectory"]
    if row["ended_by"] == "agent":
        return Counted(True, FULL * steps[-2]["reward"] if len(steps) > 1 else 0.0)
    if row["ended_by"] == "task" and not asked_after_end and len(steps) < loops:
        return Counted(True, FULL * steps[-1]["reward"])
    return Counted(False, 0.0)


def as_it_was(row: Row) -> Counted:
    """An episode as the world knows it."""
    return Counted(finished(row), row["score"])


def accounting(rows: Sequence[Row], counted: Sequence[Counted]) -> Accounting:
    """The columns of the paper over attempts.

    Args:
        rows: the last trial of each attempt, as `metrics.attempts` gives them.
        counted: one for each row.
    """
    told = [
        {"task_id": row["task_id"], "success": one.success, "reward": one.reward, "finished": one.finished}
        for row, one in zip(rows, counted, strict=True)
    ]
    ended = [row for row in told if row["finished"]]
    return Accounting(
        success=rate(told, lambda row: row["success"]),
        reward=mean(told, lambda row: row["reward"]),
        precision=rate(ended, lambda row: row["success"]) if ended else NOTHING,
        finished=rate(told, lambda row: row["finished"]),
    )


def both_accountings(rows: Sequence[Row], loops: int, asked_after_end: bool) -> tuple[Accounting, Accounting]:
    """What happened, and what the authors' program would have counted."""
    played = attempts(rows)
    published = [as_published(row, loops, asked_after_end) for row in played]
    return accounting(played, [as_it_was(row) for row in played]), accounting(played, published)
