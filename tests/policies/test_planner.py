"""The planner: it needs as few commands as there can be, from wherever somebody went."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import pytest

from llm_gym.core import Opinion
from llm_gym.envs.base import Outcome, TaskPanel, TextEnv
from llm_gym.errors import InvalidSetting
from llm_gym.policies import PlannerPolicy
from llm_gym.rollout import play

Make = Callable[..., gym.Env[str, str]]
ALFWORLD = "llm_gym/ALFWorld-v1"


@pytest.fixture
def study(make_env: Make, studies: Path) -> gym.Env[str, str]:
    env = make_env(ALFWORLD, games=studies, split="train")
    env.reset(options={"task": "told"})
    return env


def advice(env: gym.Env[str, str], k: int) -> list[str]:
    policy = PlannerPolicy()
    policy.watch(env.unwrapped)
    return [opinion.action for opinion in policy.advise("", {}, k)]


@pytest.mark.parametrize(("env_id", "last"), [(ALFWORLD, "move pen"), ("llm_gym/ALFWorld-v0", "put pen")])
def test_it_wins_in_as_few_commands_as_there_can_be(make_env: Make, studies: Path, env_id: str, last: str) -> None:
    for task_id in ("told", "silent", "wrong"):
        episode = play(make_env(env_id, games=studies, split="train"), PlannerPolicy(), task_id)
        assert episode.success
        assert len(episode.steps) == 4
        assert (episode.steps[-1].action or "").startswith(last)


@pytest.mark.parametrize(
    ("wandered", "left"),
    [
        (["look", "jump"], 4),
        (["go to tray 1", "examine tray 1"], 4),
        (["go to desk 1", "take pen 1 from desk 1", "go to tray 1"], 2),
        (["go to desk 1", "take pen 1 from desk 1", "move pen 1 to desk 1", "go to desk 2"], 3),
    ],
    ids=lambda value: " | ".join(value) if isinstance(value, list) else str(value),
)
def test_it_goes_on_from_where_somebody_else_went(study: gym.Env[str, str], wandered: list[str], left: int) -> None:
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    for command in wandered:
        policy.act("", {})
        study.step(command)
    for step in range(left):
        *_, ended, _, _ = study.step(policy.act("", {}).action or "")
        assert ended == (step == left - 1)


def test_it_plans_anew_when_its_plan_is_left(study: gym.Env[str, str]) -> None:
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    first = policy.act("", {}).action
    other = {"go to desk 1": "go to desk 2", "go to desk 2": "go to desk 1"}[first or ""]
    study.step(other)
    assert policy.act("", {}).action == f"take pen {other[-1]} from desk {other[-1]}"


def test_asked_for_several_it_names_all_equally_good_commands_its_own_first(study: gym.Env[str, str]) -> None:
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    opinions = policy.advise("", {}, 5)
    assert opinions[0].action == policy.act("", {}).action
    assert sorted(opinions, key=lambda opinion: opinion.action) == [
        Opinion("go to desk 1", 1.0, "planner"),
        Opinion("go to desk 2", 1.0, "planner"),
    ]


@pytest.mark.parametrize(("k", "named"), [(1, 1), (2, 2), (9, 2)])
def test_it_names_no_more_than_asked_for(study: gym.Env[str, str], k: int, named: int) -> None:
    assert len(advice(study, k)) == named


def test_asking_for_advice_changes_nothing(study: gym.Env[str, str]) -> None:
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    for commands_left in (4, 3, 2, 1):
        advised = policy.advise("", {})[0].action
        assert policy.advise("", {}, 3)[0].action == policy.act("", {}).action == advised
        *_, ended, _, _ = study.step(advised)
        assert ended == (commands_left == 1)


def test_it_stops_when_the_goal_is_met(study: gym.Env[str, str]) -> None:
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    for action in study.unwrapped.solution():  # type: ignore[attr-defined]
        study.step(action)
    assert policy.act("", {}).action is None
    assert policy.act("", {}).rationale == "The goal is met."
    assert advice(study, 3) == []


def test_it_stops_when_the_goal_can_no_longer_be_met(study: gym.Env[str, str]) -> None:
    study.step("go to tray 1")
    study.step("take coin 1 from tray 1")
    policy = PlannerPolicy()
    policy.watch(study.unwrapped)
    assert policy.act("", {}).rationale == "The goal cannot be met from here."
    assert advice(study, 3) == []


def test_a_copy_in_another_process_has_no_world_and_plays_alike(study: gym.Env[str, str]) -> None:
    policy = PlannerPolicy()
    played = play(study, policy, "told")
    assert pickle.dumps(policy) == pickle.dumps(PlannerPolicy())
    assert play(study, pickle.loads(pickle.dumps(policy)), "told").steps == played.steps


# -- other worlds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", ["llm_gym/Corridor-v0", "llm_gym/WebShop-v1"])
def test_a_world_that_knows_a_solution_is_solved(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    for task_id in env.unwrapped.panel[:5]:  # type: ignore[attr-defined]
        assert play(env, PlannerPolicy(), task_id).success


class Silent(TextEnv):
    """A world that knows no solution."""

    def __init__(self) -> None:
        super().__init__(TaskPanel("all", ["only"]))

    def _begin(self, task_id: str) -> Outcome:
        return Outcome("", {"admissible_actions": None})

    def _respond(self, action: str) -> Outcome | str:
        return "no"

    def description(self) -> dict[str, object]:
        return {}


def test_a_world_that_knows_no_solution_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="Silent knows no solution: the planner cannot play it"):
        play(Silent(), PlannerPolicy(), "only")


def test_without_a_world_it_says_that_it_needs_one() -> None:
    with pytest.raises(InvalidSetting, match="call watch"):
        PlannerPolicy().act("", {})
