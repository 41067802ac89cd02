"""Demonstrations out of a run folder: what was done is known there, what could have been done is found by replaying."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import gymnasium as gym

from llm_gym.core import Info, derive_seed
from llm_gym.demonstrations.files import Header, check_world
from llm_gym.demonstrations.record import Demonstration, DemonstrationStep
from llm_gym.demonstrations.recorder import EVERYTHING, Selection, Sight
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, LLMGymError, UnknownName
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.store import EPISODES, read_plan, read_records


def environment_id_of(plan: Plan) -> str:
    """The id of a plan's environment.

    Raises:
        UnknownName: it is not registered; nothing is imported because a file names it.
    """
    identity: str = plan.environment["id"]
    if identity not in gym.registry:
        raise UnknownName("environment of the run", identity, list(gym.registry))
    return identity


def environment_of(plan: Plan, **changed: Any) -> gym.Env[str, str]:
    """The world of a plan, made anew without its wrappers.

    Args:
        plan: of a run folder.
        changed: keywords in place of the plan's, such as the folder where the data lie now.

    Raises:
        UnknownName: no such environment is registered; that of a module of yours is, once the module is imported.
        InvalidSetting: it cannot be made with the plan's keywords.
        DataMismatch: it can, but its data are others than the run's.
    """
    identity = environment_id_of(plan)
    keywords = {**keywords_of(plan), "render_mode": None, **changed}
    try:
        with warnings.catch_warnings():
            # The run was played in that version, whatever is newer by now.
            warnings.filterwarnings("ignore", r".*is out of date", DeprecationWarning)
            env: gym.Env[str, str] = gym.make(identity, **keywords)
    except LLMGymError:
        raise
    except (TypeError, ValueError, AssertionError) as error:
        raise InvalidSetting(f"{identity} cannot be made with the keywords of the run ({error}).") from error
    world: Any = env.unwrapped
    check_world(Header(identity, plan.description), world.description(), "The episodes of the run")
    return env


def keywords_of(plan: Plan) -> dict[str, Any]:
    """The keywords that the environment of a plan was made with."""
    recorded = plan.environment.get("kwargs")
    return dict(recorded) if isinstance(recorded, Mapping) else {}


def header_of_run(plan: Plan, env: gym.Env[str, str], **origin: Any) -> Header:
    """The header of demonstrations out of a run; `origin` tells what the plan does not, such as what was kept."""
    policy = {"policy": plan.policy["name"], "settings": plan.policy.get("settings", {})}
    counts = {"tasks": plan.n, "repeats": plan.repeats, "trials": plan.trials, "seed": plan.seed}
    return Header.of(env, **policy, **counts, **origin)


def demonstrations_of_run(
    folder: str | Path, env: gym.Env[str, str] | None = None, keep: Selection = EVERYTHING
) -> Iterator[Demonstration]:
    """The episodes of a run as demonstrations, in the order of the run; see `replayed`.

    Args:
        folder: of an evaluation, finished or not.
        env: the world; None makes it from the plan.
        keep: which episodes.

    Raises:
        MissingData: it is no run folder.
        BadRecord: a row is malformed.
        DataMismatch: the world answers otherwise than it did.
    """
    folder = Path(folder)
    plan = read_plan(folder)
    rows = read_records(folder).episodes
    every = replayed(plan, rows, environment_of(plan) if env is None else env, keep, str(folder / EPISODES))
    return (one for one in every if one is not None)


def replayed(
    plan: Plan, rows: Iterable[Row], env: gym.Env[str, str], keep: Selection, where: str
) -> Iterator[Demonstration | None]:
    """Each episode as a demonstration; None for one that is not kept, has no step, or ended by an error.

    Every step is played again in the bare world and compared with what was recorded: the page, the reward, and whether
    the world refused.

    Raises:
        BadRecord: an action is no text.
        DataMismatch: the world answers otherwise than it did; the message names the task and the step.
    """
    for row in rows:
        if row["ended_by"] == "error" or not keep.keeps(row["success"], row["score"]):
            yield None
            continue
        goal, steps = _replayed(env.unwrapped, plan, row, f"{where}, task {row['task_id']}")
        known = row["task_id"], goal, steps, row["success"], row["score"], plan.policy["name"]
        yield Demonstration(*known) if steps else None


def _replayed(world: gym.Env[str, str], plan: Plan, row: Row, where: str) -> tuple[str, tuple[DemonstrationStep, ...]]:
    """Goal and steps of an episode."""
    seed = derive_seed(plan.seed, "env", row["task_id"], row["repeat"], row["trial"])
    wrapped = bool(plan.environment["wrappers"])
    observation, info = world.reset(seed=seed, options={"task": row["task_id"]})
    goal, steps = str(info.get("goal", "")), []
    for number, recorded in enumerate(row["trajectory"], start=1):
        place = f"{where}, step {number}"
        sight = Sight.of(observation, cast(Info, info))
        action = recorded.get("action")
        _agree(_same_page(sight.page, recorded.get("observation"), wrapped), "page", place)
        if action is None:
            break
        if not isinstance(action, str):
            raise BadRecord(f"{place}: an action is a text or null, not {action!r:.80}.")
        observation, reward, terminated, _, info = world.step(sight.plain(action))
        refused = info.get("invalid_action") is not None
        _agree(refused == (recorded.get("invalid") is not None), "answer", place)
        _agree(_same_reward(float(reward), recorded.get("reward")), "reward", place)
        if not refused:
            steps.append(sight.choice(action))
        if terminated:
            break
    return goal, tuple(steps)


def _same_page(page: str, recorded: object, wrapped: bool) -> bool:
    """Wrappers may have put something before and after the page."""
    return isinstance(recorded, str) and (page == recorded or (wrapped and page in recorded))


def _same_reward(reward: float, recorded: object) -> bool:
    return isinstance(recorded, (int, float)) and math.isclose(reward, recorded, abs_tol=1e-9)


def _agree(agrees: bool, what: str, place: str) -> None:
    if not agrees:
        raise DataMismatch(
            f"{place}: the world gives another {what} than the run recorded. The run was played with other data or "
            "settings, or by another version; play it again."
        )
