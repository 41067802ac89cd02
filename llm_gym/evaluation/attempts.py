"""Playing one attempt at a task; an exception becomes a row, never the end of the evaluation."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import gymnasium as gym
import orjson

from llm_gym.core import Episode, derive_seed
from llm_gym.errors import FATAL
from llm_gym.evaluation.records import Attempt, Played, Row, encoded
from llm_gym.rollout import Actor, Rollout, never


def play_attempt(
    policy: Actor,
    env: gym.Env[str, str],
    attempt: Attempt,
    *,
    trials: int,
    seed: int,
    stopped: Callable[[], bool] = never,
) -> Iterator[Played]:
    """The trials of one attempt, each as soon as it is over; a success or an exception is the last.

    The seeds depend on the task, the repeat and the trial alone, so neither order nor process changes a result.
    Environment and policy have streams of their own.

    Raises:
        Stopped: in the middle of an episode, soon after `stopped` says so.
    """
    for trial in range(trials):
        played = _play(Rollout(policy, attempt.task_id, attempt.repeat, trial), env, seed, stopped)
        last = trial == trials - 1 or played.row["success"] or played.traceback is not None
        yield replace(played, last=last)
        if last:
            return


def _play(rollout: Rollout, env: gym.Env[str, str], seed: int, stopped: Callable[[], bool]) -> Played:
    place = rollout.task_id, rollout.repeat, rollout.trial
    begin = time.perf_counter()
    try:
        episode = rollout.play(
            env,
            env_seed=derive_seed(seed, "env", *place),
            policy_seed=derive_seed(seed, "policy", *place),
            stopped=stopped,
        )
        row, trace = _row(episode), None
    except FATAL:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary: a failed episode is data
        row, trace = _failed_row(rollout, error), traceback.format_exc()
    return Played(row, round(time.perf_counter() - begin, 6), trace, last=True)


def _row(episode: Episode) -> Row:
    """The row as it will be read again; what JSON cannot hold fails here, where it is one episode's failure."""
    if not math.isfinite(episode.score):
        raise ValueError(f"the return of an episode must be a finite number, it is {episode.total_reward}")
    row: Row = orjson.loads(encoded(episode.to_row()))
    return row


def _failed_row(rollout: Rollout, error: BaseException) -> Row:
    episode = rollout.failed(error)
    try:
        return _row(episode)
    except (TypeError, ValueError):  # the steps or metrics are what failed: without them the row can be written
        return _row(replace(episode, steps=(), metrics={}))


def lost(policy_name: str, attempt: Attempt, trial: int, reason: str) -> Played:
    """The record of a trial whose process died: nobody knows its steps."""
    episode = Episode(attempt.task_id, policy_name, (), False, "error", attempt.repeat, trial, error=reason)
    return Played(_row(episode), 0.0, f"{reason}\n", last=True)


def complete(rows: list[dict[str, Any]], trials: int) -> bool:
    """Whether the rows of one attempt are all of it, and none of them is an error."""
    if [row["trial"] for row in rows] != list(range(len(rows))) or any(row["ended_by"] == "error" for row in rows):
        return False
    return bool(rows) and (rows[-1]["success"] or len(rows) == trials)
