"""One game: a household and a task in it."""

from __future__ import annotations

from dataclasses import dataclass

from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.tasks import Task, task_of, task_type_of

SPLITS = ("train", "valid_seen", "valid_unseen", "valid_train")
"""Those of the releases; `valid_train` is in 2.1.3 only and no standard split."""


@dataclass(frozen=True, slots=True)
class Game:
    """A game of a release, or a generated one.

    Attributes:
        task_id: `<task folder>/<trial folder>`, as in a release, without the split.
        goal: the sentence after "Your task is to: ", with its full stop.
        walkthrough: commands that win it, in the current wording; None where the file holds none.
        annotations: what people wrote, seeing a video of the solution; empty where that is not known.
        solvable: what the file says; a file that says nothing counts as False.
    """

    task_id: str
    split: str
    goal: str
    problem: Problem
    walkthrough: tuple[str, ...] | None = None
    annotations: tuple[str, ...] = ()
    solvable: bool = True

    @property
    def task(self) -> Task:
        return task_of(self.problem.goal)

    @property
    def task_type(self) -> str:
        """One of `TASK_TYPES`, or "other"."""
        return task_type_of(self.task)
