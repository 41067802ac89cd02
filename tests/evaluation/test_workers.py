"""Several processes: the same bytes as one, and a process that dies costs one attempt."""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.envs.corridor import Corridor
from llm_gym.errors import InvalidSetting, MissingDependency
from llm_gym.evaluation import evaluate
from llm_gym.policies.uniform import RandomPolicy

Env = gym.Env[str, str]


class Silent(gym.Wrapper[str, str, str, str]):
    """A wrapper that does not record how it was made."""


def test_two_processes_write_the_same_bytes_as_one(corridor: Env, tmp_path: Path) -> None:
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        evaluate(RandomPolicy(), corridor, 30, repeats=2, trials=2, jobs=jobs, out=out)
    for name in ("plan.json", "episodes.jsonl", "failures.jsonl"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_environment_settings_and_wrappers_travel(odd_policies: ModuleType) -> None:
    env = gym.wrappers.TimeLimit(gym.make("llm_gym/Corridor-v0", length=30, max_episode_steps=9), 4)
    one, two = (evaluate(odd_policies.Reader(), env, 12, jobs=jobs) for jobs in (1, 2))
    assert one.rows == two.rows
    assert {row["ended_by"] for row in one.rows} == {"task", "limit"}
    assert max(row["steps"] for row in one.rows) == 4


def test_an_exception_in_a_process_leaves_its_siblings(corridor: Env, odd_policies: ModuleType) -> None:
    one, two = (evaluate(odd_policies.Raises(), corridor, 8, jobs=jobs) for jobs in (1, 2))
    assert one.rows == two.rows
    assert "in misbehave" in two.failures[0]["traceback"]


@pytest.mark.parametrize(("kind", "reason"), [("Dies", "exit code 3"), ("Killed", "signal SIGKILL, often a sign")])
def test_a_process_that_dies_is_an_error_and_the_others_go_on(
    corridor: Env, odd_policies: ModuleType, tmp_path: Path, kind: str, reason: str
) -> None:
    result = evaluate(getattr(odd_policies, kind)(), corridor, 8, jobs=2, out=tmp_path / "run")
    by_task: dict[str, Any] = {row["task_id"]: row for row in result.rows}
    assert len(by_task) == 8
    lost = by_task.pop("corridor-3")
    assert lost["ended_by"] == "error"
    assert reason in lost["error"]
    assert all(row["success"] for row in by_task.values())
    assert result.failures[0]["task_id"] == "corridor-3"


def test_a_death_in_a_later_trial_keeps_the_trials_before(corridor: Env, odd_policies: ModuleType) -> None:
    policy = odd_policies.Learner()
    policy.reader = odd_policies.Dies()
    result = evaluate(policy, corridor, 5, trials=2, jobs=2)
    assert [(row["trial"], row["ended_by"]) for row in result.rows if row["task_id"] == "corridor-3"] == [
        (0, "task"),
        (1, "error"),
    ]


def test_a_caller_that_stops_leaves_no_process(corridor: Env, odd_policies: ModuleType) -> None:
    def stop(row: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(odd_policies.Slow(), corridor, 20, jobs=2, progress=stop)
    assert multiprocessing.active_children() == []


def test_a_missing_package_in_a_process_reaches_the_caller(corridor: Env, odd_policies: ModuleType) -> None:
    with pytest.raises(MissingDependency, match=r"llm-gym\[torch\]"):
        evaluate(odd_policies.Lacks(), corridor, 8, jobs=2)


def test_a_policy_that_cannot_travel_is_refused_before_anything_is_written(
    corridor: Env, odd_policies: ModuleType, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting, match=r"cannot be copied.*use jobs=1 and concurrency=1"):
        evaluate(odd_policies.Unpicklable(), corridor, 2, jobs=2, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_policy_that_cannot_be_made_elsewhere_says_why(corridor: Env, odd_policies: ModuleType) -> None:
    with pytest.raises(InvalidSetting, match=r"no model here.*use jobs=1"):
        evaluate(odd_policies.UnmadeElsewhere(), corridor, 2, jobs=2)


def test_an_environment_that_gymnasium_did_not_make_needs_one_process(odd_policies: ModuleType) -> None:
    bare = Corridor()
    with pytest.raises(InvalidSetting, match=r"not made by gymnasium\.make"):
        evaluate(odd_policies.Reader(), bare, 2, jobs=2)
    assert evaluate(odd_policies.Reader(), bare, 2).success == 1.0


@pytest.mark.parametrize("limits", [[], [3], [3, 20], [20, 3]])
def test_the_step_limit_that_is_in_force_travels(odd_policies: ModuleType, limits: list[int]) -> None:
    env = gym.make("llm_gym/Corridor-v0", length=9).unwrapped
    for limit in limits:
        env = gym.wrappers.TimeLimit(env, limit)
    one, two = (evaluate(odd_policies.Reader(), env, 12, jobs=jobs) for jobs in (1, 2))
    assert one.rows == two.rows
    assert max(row["steps"] for row in one.rows) == (3 if limits else 5)


def test_a_wrapper_that_records_nothing_needs_one_process(corridor: Env) -> None:
    with pytest.raises(InvalidSetting, match="Silent does not record its arguments"):
        evaluate(RandomPolicy(), Silent(corridor), 2, jobs=2)
