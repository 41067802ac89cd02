"""`evaluate`: play a plan, in this thread or in many threads and processes, into memory or into a run folder."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path

import gymnasium as gym

from llm_gym.envs.base import TaskPanel, panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.attempts import play_attempt
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.parcel import packed, sealed
from llm_gym.evaluation.plan import Plan, plan_of
from llm_gym.evaluation.records import Attempt, Played, Records, Row, attempt_of
from llm_gym.evaluation.store import RunFolder, finished, opened
from llm_gym.evaluation.threads import play_in_threads
from llm_gym.evaluation.workers import play_in_processes
from llm_gym.policies.base import Policy

logger = logging.getLogger(__name__)

DEFAULT_N = 50
"""Of `evaluate`. It means "50, or all there are", so that a new user's first call works on a small panel."""

Progress = Callable[[Row], object]
"""Receives every episode's row once: at resume first those that are there, then each when it is finished."""

Player = Callable[[Sequence[Attempt]], Generator[Sequence[Played]]]
"""Plays attempts and gives each as soon as it is finished, in any order; closing it ends what it started."""


def evaluate(
    policy: Policy,
    env: gym.Env[str, str],
    n: int | None = DEFAULT_N,
    *,
    repeats: int = 1,
    trials: int = 1,
    jobs: int = 1,
    concurrency: int = 1,
    seed: int = 0,
    out: str | Path | None = None,
    progress: Progress | None = None,
) -> Evaluation:
    """Play the first `n` tasks of the environment's panel and measure.

    An exception inside an episode is that episode's result and leaves the others alone; a dying process costs the
    attempts that it was playing. Interrupting loses only what is being played: the same call with the same `out` goes
    on from there, and plays again what ended in an error.

    Args:
        policy: who decides.
        env: any text environment, wrapped or not.
        n: number of tasks, in panel order; None plays the whole panel. The default of 50 means "at most 50": on a
            smaller panel it plays all and says so in the log. Any other number that the panel cannot give is refused.
        repeats: attempts at every task, each with its own random stream.
        trials: tries within an attempt; a success ends the attempt.
        jobs: processes, for policies that compute.
        concurrency: episodes in flight in each process, in threads, for policies that wait for a network. The result is
            the same bytes whatever both numbers are. Above 1 the environment is made anew from `env.spec` and the
            policy is pickled for each thread and process; the chat clients in it are shared by a process.
        seed: of everything random in policy and environment.
        out: the run folder; None keeps the result in memory.
        progress: called with the row of each finished episode.

    Raises:
        InvalidSetting: an argument that cannot work.
        RunFolderError: the run folder cannot be used or written; PlanMismatch when it is another plan's.
        MissingDependency, MissingData, InvalidSetting: of the policy or the environment; nothing can be played.
        BudgetExceeded, AccessDenied, UnknownModel: of the policy; what was finished before is in `out`.
    """
    for name, value in (("repeats", repeats), ("trials", trials), ("jobs", jobs), ("concurrency", concurrency)):
        if value < 1:
            raise InvalidSetting(f"{name} must be 1 or more, got {value}.")
    panel = panel_of(env)
    if isinstance(env.action_space, gym.spaces.Discrete):
        raise InvalidSetting("Policies act in text, this environment in numbers: evaluate on the world in the wrapper.")
    tasks = panel[: number_of_tasks(n, panel)]
    plan = plan_of(policy, env, n=len(tasks), repeats=repeats, trials=trials, seed=seed)
    attempts = [Attempt(task_id, repeat) for task_id, repeat in itertools.product(tasks, range(repeats))]
    play, tell = _player(policy, env, plan, jobs, concurrency), progress or _silent
    if out is None:
        return Evaluation(plan, _into_memory(play, attempts, tell))
    return _into_folder(Path(out), plan, play, attempts, tell)


def number_of_tasks(n: int | None, panel: TaskPanel) -> int:
    """How many tasks of the panel `n` means; see `evaluate`."""
    if n is None:
        return len(panel)
    if n < 1:
        raise InvalidSetting(f"n must be 1 or more, got {n}. None plays the whole panel.")
    if n > len(panel) and n != DEFAULT_N:
        raise InvalidSetting(f"Panel {panel.name!r} has {len(panel)} tasks, n={n} is more. None plays all of them.")
    if n > len(panel):
        logger.warning("panel %r has only %d tasks: all of them are played", panel.name, len(panel))
    return min(n, len(panel))


def _player(policy: Policy, env: gym.Env[str, str], plan: Plan, jobs: int, concurrency: int) -> Player:
    """How attempts are played. What cannot travel is refused now, before anything is written."""
    if jobs == concurrency == 1:

        def play_here(attempts: Sequence[Attempt]) -> Generator[Sequence[Played]]:
            for attempt in attempts:
                yield list(play_attempt(policy, env, attempt, trials=plan.trials, seed=plan.seed))

        return play_here
    parcel = packed(policy, env)
    if jobs == 1:
        return partial(play_in_threads, parcel=parcel, concurrency=concurrency, trials=plan.trials, seed=plan.seed)
    return partial(
        play_in_processes,
        payload=sealed(parcel, policy),
        name=policy.name,
        jobs=jobs,
        concurrency=concurrency,
        trials=plan.trials,
        seed=plan.seed,
    )


def _into_memory(play: Player, attempts: Sequence[Attempt], progress: Progress) -> Records:
    done: dict[Attempt, Sequence[Played]] = {}
    with closing(play(attempts)) as results:
        for attempt in results:
            done[attempt_of(attempt[0].row)] = attempt
            _tell(progress, (played.row for played in attempt))
    every = [played for attempt in attempts for played in done[attempt]]
    return Records(
        tuple(played.row for played in every),
        tuple(played.failure() for played in every if played.traceback is not None),
        tuple(played.timing() for played in every),
    )


def _into_folder(path: Path, plan: Plan, play: Player, attempts: Sequence[Attempt], progress: Progress) -> Evaluation:
    records = finished(path, plan, attempts)
    if records is not None:
        _tell(progress, records.episodes)
        return Evaluation(plan, records)
    with opened(path, plan, attempts) as folder:
        present = folder.records()
        _tell(progress, present.episodes)
        done = {attempt_of(row) for row in present.episodes}
        missing = [attempt for attempt in attempts if attempt not in done]
        if missing:
            folder.keep_only(present)
            _fill(folder, play, missing, progress)
        evaluation = Evaluation(plan, folder.finish())
        folder.write_report(str(evaluation))
        return evaluation


def _fill(folder: RunFolder, play: Player, missing: Sequence[Attempt], progress: Progress) -> None:
    with closing(play(missing)) as results:
        for attempt in results:
            folder.append(attempt)
            _tell(progress, (played.row for played in attempt))


def _tell(progress: Progress, rows: Iterable[Row]) -> None:
    for row in rows:
        progress(row)


def _silent(row: Row) -> None:
    """No progress is shown."""
