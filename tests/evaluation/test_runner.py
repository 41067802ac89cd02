"""`evaluate` on the corridor: what is played, in what order, and what an odd policy does to it."""

from __future__ import annotations

import logging
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Decision, Info
from llm_gym.errors import (
    AccessDenied,
    BudgetExceeded,
    InvalidSetting,
    LLMGymError,
    MissingData,
    MissingDependency,
    UnknownModel,
)
from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.policies.base import Policy
from llm_gym.policies.uniform import RandomPolicy

Corridor = gym.Env[str, str]


class Seeds(Policy):
    """Remembers the seeds it was given."""

    name = "seeds"

    def __init__(self) -> None:
        self.given: list[tuple[int | None, int]] = []

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self.given.append((seed, trial))

    def act(self, observation: str, info: Info) -> Decision:
        return Decision(None)


def test_the_first_n_tasks_are_played_in_panel_order(corridor: Corridor) -> None:
    result = evaluate(RandomPolicy(), corridor, 4)
    assert [row["task_id"] for row in result.rows] == [f"corridor-{number}" for number in range(4)]


def test_policy_evaluate_is_the_same_call(corridor: Corridor) -> None:
    assert RandomPolicy().evaluate(corridor, 5).rows == evaluate(RandomPolicy(), corridor, 5).rows


def test_none_plays_the_whole_panel() -> None:
    env = gym.make("llm_gym/Corridor-v0", tasks=13)
    assert evaluate(RandomPolicy(), env, None).n == 13


def test_the_default_n_plays_all_of_a_small_panel_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    env = gym.make("llm_gym/Corridor-v0", tasks=13)
    with caplog.at_level(logging.WARNING):
        assert evaluate(RandomPolicy(), env).plan.n == 13
    assert "only 13 tasks" in caplog.text


def test_any_other_n_beyond_the_panel_is_refused() -> None:
    env = gym.make("llm_gym/Corridor-v0", tasks=13)
    with pytest.raises(InvalidSetting, match="has 13 tasks, n=14"):
        evaluate(RandomPolicy(), env, 14)


@pytest.mark.parametrize("setting", ["n", "repeats", "trials", "jobs", "concurrency"])
@pytest.mark.parametrize("value", [0, -1])
def test_settings_below_1_are_refused(corridor: Corridor, setting: str, value: int) -> None:
    with pytest.raises(InvalidSetting, match=f"{setting} must be 1 or more, got {value}"):
        evaluate(RandomPolicy(), corridor, **{setting: value})


def test_an_environment_without_tasks_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="no task panel"):
        evaluate(RandomPolicy(), gym.make("CartPole-v1"), 1)


def test_every_attempt_and_trial_has_a_seed_of_its_own(corridor: Corridor) -> None:
    policy = Seeds()
    evaluate(policy, corridor, 3, repeats=2, trials=2)
    assert len({seed for seed, _ in policy.given}) == 3 * 2 * 2
    assert [trial for _, trial in policy.given] == [0, 1] * 6


def test_a_tasks_seed_does_not_depend_on_the_tasks_before_it(corridor: Corridor) -> None:
    few, many = Seeds(), Seeds()
    evaluate(few, corridor, 2)
    evaluate(many, corridor, 5)
    assert many.given[:2] == few.given


def test_another_seed_gives_other_episodes(corridor: Corridor) -> None:
    assert evaluate(RandomPolicy(), corridor, 9).rows != evaluate(RandomPolicy(), corridor, 9, seed=1).rows


def test_trials_end_at_the_first_success(corridor: Corridor, odd_policies: ModuleType) -> None:
    result = evaluate(odd_policies.Learner(), corridor, 20, trials=3)
    trials = {row["task_id"]: row["trial"] for row in result.rows if row["success"]}
    assert len(trials) == 20
    assert set(trials.values()) == {0, 1}
    assert float(result.success) == 1.0
    assert 0 < result.success_by_trial[0] < result.success_by_trial[1] == 1.0


def test_an_exception_is_one_failed_episode_and_leaves_its_siblings(
    corridor: Corridor, odd_policies: ModuleType
) -> None:
    result = evaluate(odd_policies.Raises(), corridor, 8)
    ended = {row["task_id"]: row["ended_by"] for row in result.rows}
    assert ended.pop("corridor-3") == "error"
    assert set(ended.values()) == {"task"}
    assert (result.errors, float(result.success)) == (1, 7 / 8)
    (failure,) = result.failures
    assert (failure["task_id"], failure["error"]) == ("corridor-3", "RuntimeError: no idea")
    assert "in misbehave" in failure["traceback"]


def test_a_policy_that_exits_is_a_failed_episode(corridor: Corridor, odd_policies: ModuleType) -> None:
    result = evaluate(odd_policies.Exits(), corridor, 5)
    assert result.failures[0]["error"] == "SystemExit: bye"


def test_a_missing_package_stops_the_evaluation(corridor: Corridor, odd_policies: ModuleType) -> None:
    with pytest.raises(MissingDependency, match=r'pip install "llm-gym\[torch\]"'):
        evaluate(odd_policies.Lacks(), corridor, 5)


class Refused(Policy):
    """Is refused by the world outside, at the third task."""

    name = "refused"

    def __init__(self, error: LLMGymError) -> None:
        self.error = error

    def act(self, observation: str, info: Info) -> Decision:
        if info["task_id"] == "corridor-2":
            raise self.error
        return Decision(None)


@pytest.mark.parametrize("concurrency", [1, 4])
@pytest.mark.parametrize("kind", [AccessDenied, BudgetExceeded, InvalidSetting, MissingData, UnknownModel])
def test_what_would_fail_again_stops_the_evaluation_and_keeps_what_is_finished(
    corridor: Corridor, tmp_path: Path, kind: type[LLMGymError], concurrency: int
) -> None:
    heard: list[str] = []
    with pytest.raises(kind, match="no further"):
        evaluate(
            Refused(kind("no further")),
            corridor,
            9,
            concurrency=concurrency,
            out=tmp_path,
            progress=lambda row: heard.append(row["task_id"]),
        )
    kept = Evaluation.load(tmp_path)
    assert sorted(heard) == sorted(row["task_id"] for row in kept.rows)
    assert "corridor-2" not in heard
    assert kept.errors == 0
    assert concurrency > 1 or len(heard) == 2


def test_half_a_surrogate_pair_is_written_as_the_replacement_character(
    corridor: Corridor, odd_policies: ModuleType
) -> None:
    result = evaluate(odd_policies.Odd(), corridor, 1)
    assert result.rows[0]["trajectory"][0]["rationale"] == "half \ufffd pair"
    assert result.metrics["prompt_tokens"] == 3
    assert result.metrics["cost_usd"].n == 0


class Broken(gym.Wrapper[str, str, str, str]):
    """Gives a metric or a reward that no JSON holds."""

    def __init__(self, env: Corridor, reward: float = 0.0, metric: Any = None) -> None:
        super().__init__(env)
        self.reward, self.metric = reward, metric

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation, _, _, _, info = self.env.step(action)
        return observation, self.reward, True, False, {**info, "metrics": {"metric": self.metric}}


@pytest.mark.parametrize(
    ("broken", "error"), [({"reward": float("nan")}, "ValueError: the return"), ({"metric": object()}, "TypeError: ")]
)
def test_what_json_cannot_hold_is_a_failed_episode(corridor: Corridor, broken: dict[str, Any], error: str) -> None:
    (row,) = evaluate(RandomPolicy(), Broken(corridor, **broken), 1).rows
    assert row["ended_by"] == "error"
    assert row["error"].startswith(error)
    assert (row["metrics"], row["trajectory"]) == ({}, [])


def test_progress_hears_of_every_episode(corridor: Corridor) -> None:
    heard: list[dict[str, Any]] = []
    result = evaluate(RandomPolicy(), corridor, 5, repeats=2, progress=heard.append)
    assert heard == list(result.rows)


def test_without_a_folder_nothing_is_written(
    corridor: Corridor, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(RandomPolicy(), corridor, 2)
    assert list(tmp_path.iterdir()) == []
