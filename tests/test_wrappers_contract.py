"""What every registered wrapper promises."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import data_equivalence

import llm_gym
from llm_gym.envs.base import panel_of
from llm_gym.policies import RulePolicy
from llm_gym.registry import wrappers
from llm_gym.wrappers import WRAPPERS

Make = Callable[..., gym.Env[str, str]]

ARGUMENTS: dict[str, dict[str, Any]] = {
    "history": {"observations": 1, "actions": 2},
    "opinion": {"expert": RulePolicy(), "top_k": 2},
}
"""Settings with which a wrapper does something; the others need none."""

OF_NUMBERS = {"indexed"}
"""Those for networks: they change what is seen and what an action is, and keep these promises in their own words, see
tests/wrappers/test_indexed.py."""

every_wrapper = pytest.mark.parametrize("name", sorted(set(wrappers) - OF_NUMBERS))
both_worlds = pytest.mark.parametrize("env_id", ["llm_gym/Corridor-v0", "llm_gym/WebShop-v1"])


class Remembering(gym.Wrapper[str, str, str, str]):
    """Keeps every info it hands on, beside a copy of what it was then."""

    def __init__(self, env: gym.Env[str, str]) -> None:
        super().__init__(env)
        self.handed_on: list[tuple[dict[str, Any], dict[str, Any]]] = []

    def reset(self, **settings: Any) -> tuple[str, dict[str, Any]]:
        observation, info = self.env.reset(**settings)
        self.handed_on.append((info, copy.deepcopy(info)))
        return observation, info

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self.handed_on.append((info, copy.deepcopy(info)))
        return observation, reward, terminated, truncated, info


def wrapped(name: str, env: gym.Env[str, str]) -> gym.Wrapper[str, str, str, str]:
    wrapper: gym.Wrapper[str, str, str, str] = wrappers.load(name)(env, **ARGUMENTS.get(name, {}))
    return wrapper


def walk(env: gym.Env[str, str]) -> list[tuple[str, Any, bool, bool, dict[str, Any]]]:
    """The first task by its solution, with an impossible action before it."""
    env.reset(options={"task": panel_of(env)[0]})
    solution = env.unwrapped.solution()  # type: ignore[attr-defined]
    return [env.step(action) for action in ["nonsense", *solution]]


@every_wrapper
@both_worlds
def test_the_spec_rebuilds_it_with_its_settings(make_env: Make, name: str, env_id: str) -> None:
    env = wrapped(name, make_env(env_id))
    assert env.spec is not None
    again = gym.make(env.spec)
    assert str(again) == str(env)
    assert [step[:4] for step in walk(again)] == [step[:4] for step in walk(env)]


@every_wrapper
@both_worlds
def test_the_worlds_own_actions_lead_where_they_led_without_it(make_env: Make, name: str, env_id: str) -> None:
    bare, dressed = walk(make_env(env_id)), walk(wrapped(name, make_env(env_id)))
    assert [step[1:4] for step in dressed] == [step[1:4] for step in bare]


@every_wrapper
@both_worlds
def test_it_leaves_page_goal_and_success_as_they_are(make_env: Make, name: str, env_id: str) -> None:
    bare, dressed = walk(make_env(env_id)), walk(wrapped(name, make_env(env_id)))
    for key in ("page", "goal", "task_id", "success", "category", "metrics", "invalid_action"):
        assert [step[4].get(key) for step in dressed] == [step[4].get(key) for step in bare]


@every_wrapper
@both_worlds
def test_it_does_not_change_the_info_it_was_given(make_env: Make, name: str, env_id: str) -> None:
    remembering = Remembering(make_env(env_id))
    walk(wrapped(name, remembering))
    assert len(remembering.handed_on) >= 3
    # pictures are arrays, which == compares number by number
    assert all(data_equivalence(info, as_it_was, exact=True) for info, as_it_was in remembering.handed_on)


@every_wrapper
@both_worlds
def test_its_admissible_actions_are_possible(make_env: Make, name: str, env_id: str) -> None:
    env = wrapped(name, make_env(env_id))
    chosen = {"task": panel_of(env)[0]}
    _, info = env.reset(options=chosen)
    first = info["admissible_actions"][0]
    _, _, _, _, info = env.step(first)
    for action in info["admissible_actions"]:
        env.reset(options=chosen)
        env.step(first)
        assert "invalid_action" not in env.step(action)[4]


@every_wrapper
@both_worlds
def test_its_observations_are_in_its_space(make_env: Make, name: str, env_id: str) -> None:
    env = wrapped(name, make_env(env_id))
    assert env.observation_space.contains(env.reset(seed=0)[0])
    assert all(env.observation_space.contains(step[0]) for step in walk(env))


@every_wrapper
def test_it_passes_seed_and_options_on(name: str) -> None:
    bare, dressed = gym.make("llm_gym/Corridor-v0"), wrapped(name, gym.make("llm_gym/Corridor-v0"))
    assert dressed.reset(seed=3)[1]["task_id"] == bare.reset(seed=3)[1]["task_id"]
    assert dressed.reset(options={"task": "corridor-9"})[1]["task_id"] == "corridor-9"


@every_wrapper
def test_an_episode_leaves_nothing_for_the_next(name: str) -> None:
    used = wrapped(name, gym.make("llm_gym/Corridor-v0"))
    walk(used)
    fresh = wrapped(name, gym.make("llm_gym/Corridor-v0"))
    assert walk(used) == walk(fresh)


@pytest.mark.parametrize(("name", "target"), sorted(WRAPPERS.items()))
def test_the_package_offers_it_by_its_class_name(name: str, target: str) -> None:
    assert getattr(llm_gym.wrappers, target.partition(":")[2]) is wrappers.load(name)
