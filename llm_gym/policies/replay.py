"""A policy that repeats what was recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from llm_gym.core import Decision, Info
from llm_gym.errors import BadRecord, DataError, MissingData, suggestion
from llm_gym.policies.base import Policy

_EPISODES = "episodes.jsonl"


class ReplayPolicy(Policy):
    """Plays the recorded actions of a task in order and stops when there are no more.

    Used as an expert it tells one recorded action each time it is asked.

    Args:
        actions: task id → actions, or the folder of a run, which is read when it is needed. A task that is not among
            them raises `DataError`; without a recording at all (None) the policy stops at once in every task.
    """

    name = "replay"

    def __init__(self, actions: Mapping[str, Sequence[str]] | str | Path | None = None) -> None:
        self.actions = actions
        self._played = 0

    @cached_property
    def _recording(self) -> Mapping[str, Sequence[str]] | None:
        return recorded_actions(self.actions) if isinstance(self.actions, str | Path) else self.actions

    @classmethod
    def from_run(cls, folder: str | Path) -> ReplayPolicy:
        """The recording of a run folder: of each task the first trial of the first repeat.

        Raises:
            MissingData: the folder holds no `episodes.jsonl`.
            BadRecord: a line is no episode; the message names file and line.
        """
        return cls(recorded_actions(folder))

    def settings(self) -> dict[str, Any]:
        """Number of tasks and a digest of all actions; the actions themselves would fill a page."""
        if self._recording is None:
            return {"tasks": 0}
        listed = sorted((task_id, list(actions)) for task_id, actions in self._recording.items())
        return {"tasks": len(listed), "digest": hashlib.sha256(orjson.dumps(listed)).hexdigest()[:16]}

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._played = 0

    def act(self, observation: str, info: Info) -> Decision:
        actions = self._recorded(info.get("task_id", ""))
        if self._played >= len(actions):
            return Decision(None)
        self._played += 1
        return Decision(actions[self._played - 1])

    def _recorded(self, task_id: str) -> Sequence[str]:
        recording = self._recording
        if recording is None:
            return ()
        if task_id not in recording:
            near = suggestion(task_id, list(recording))
            raise DataError(f"The recording of {len(recording)} tasks holds no task {task_id!r}. {near}")
        return recording[task_id]


def recorded_actions(folder: str | Path) -> dict[str, list[str]]:
    """Task id → actions of a run folder; see `ReplayPolicy.from_run`."""
    path = Path(folder) / _EPISODES
    if not path.is_file():
        raise MissingData(f"{path} does not exist. Give the folder that an evaluation was written to with out=….")
    first: dict[str, tuple[tuple[int, int], list[str]]] = {}
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                task_id, turn, actions = _episode(line)
            except (ValueError, KeyError, TypeError) as error:
                raise BadRecord(f"{path}, line {number}: no episode of a run ({_reason(error)}).") from error
            if task_id not in first or turn < first[task_id][0]:
                first[task_id] = turn, actions
    return {task_id: actions for task_id, (_, actions) in first.items()}


def _episode(line: bytes) -> tuple[str, tuple[int, int], list[str]]:
    """Task id, repeat and trial, and the actions of a row; a step without an action is a stop, the end of it."""
    row = orjson.loads(line)
    task_id, actions = row["task_id"], [step["action"] for step in row["trajectory"]]
    if not isinstance(task_id, str):
        raise TypeError(f"task_id is {task_id!r}")
    if None in actions:
        actions = actions[: actions.index(None)]
    for action in actions:
        if not isinstance(action, str):
            raise TypeError(f"an action is {action!r}")
    return task_id, (int(row.get("repeat", 0)), int(row.get("trial", 0))), actions


def _reason(error: Exception) -> str:
    return f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
