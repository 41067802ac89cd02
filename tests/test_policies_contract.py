"""What every registered policy promises; shown on the corridor, and on one task of the shop."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import gymnasium as gym
import pytest

import llm_gym
from llm_gym.core import Decision, Opinion
from llm_gym.envs.base import panel_of
from llm_gym.extras import installed
from llm_gym.policies import POLICIES, Policy, RandomPolicy, SB3Policy
from llm_gym.policies.base import Advisor
from llm_gym.registry import policies
from llm_gym.rollout import play
from llm_gym.wrappers import IndexedActions

Make = Callable[..., gym.Env[str, str]]

ARGUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "human": lambda: {"ask": lambda question: "1", "show": lambda text: None},
    "heeding": lambda: {"policy": RandomPolicy()},
    "advised": lambda: {"policy": RandomPolicy(), "expert": RandomPolicy(), "top_k": 2, "draw": "sample"},
    "sb3": lambda: {"trained": untrained()},
    **dict.fromkeys(("autogpt", "react", "tools"), lambda: {"model": "scripted"}),
}
"""What a policy needs to play without a person, a network or a file; the others need nothing."""

NEEDED: dict[str, str] = {"il": "torch", "a2c": "torch", "rnn": "torch", "sb3": "stable_baselines3"}
"""The package that a policy cannot play without."""

every_policy = pytest.mark.parametrize("name", sorted(policies))


def made(name: str) -> Policy:
    if name in NEEDED and not installed(NEEDED[name]):
        pytest.skip(f"{name} needs the package {NEEDED[name]}")
    policy: Policy = policies.load(name)(**ARGUMENTS.get(name, dict)())
    return policy


@cache
def untrained() -> Any:
    """What stable-baselines3 begins with."""
    from stable_baselines3 import A2C

    from llm_gym.policies.indexed.network import CandidatePolicy

    env = IndexedActions(corridor(), k=4, dimensions=8)
    model = A2C(CandidatePolicy, env, policy_kwargs={"width": 8}, seed=0)
    return SB3Policy.from_model(model, env).trained


def sendable(name: str) -> Policy:
    """A policy as another process could get it: without the functions that play the person."""
    policy: Policy = policies.load(name)() if name == "human" else made(name)
    return policy


def corridor() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0")


def actions_of(policy: Policy, task_id: str, seed: int) -> list[str | None]:
    return [step.action for step in play(corridor(), policy, task_id, seed=seed).steps]


@every_policy
def test_it_acts_on_admissible_actions_or_stops(name: str) -> None:
    policy, env = made(name), corridor()
    for task_id in panel_of(env)[:5]:
        policy.watch(env.unwrapped)
        policy.reset(seed=1)
        observation, info = env.reset(options={"task": task_id})
        ended = False
        while not ended:
            decision = policy.act(observation, info)
            assert isinstance(decision, Decision)
            if decision.action is None:
                break
            assert decision.action in info["admissible_actions"]
            observation, _, terminated, truncated, info = env.step(decision.action)
            ended = terminated or truncated


@every_policy
def test_one_seed_gives_the_same_actions_whatever_was_played_before(name: str) -> None:
    policy = made(name)
    first = actions_of(policy, "corridor-1", seed=7)
    actions_of(policy, "corridor-2", seed=8)
    assert actions_of(policy, "corridor-1", seed=7) == first == actions_of(made(name), "corridor-1", seed=7)


@every_policy
def test_a_pickled_copy_has_the_same_settings_and_plays_alike(name: str) -> None:
    if name == "human":
        assert pickle.loads(pickle.dumps(sendable(name))).settings() == made(name).settings()
        return
    policy = made(name)
    played = actions_of(policy, "corridor-1", seed=7)
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.settings() == policy.settings()
    assert actions_of(copy, "corridor-1", seed=7) == played


@every_policy
def test_a_pickle_does_not_carry_the_world_along(name: str) -> None:
    policy = sendable(name)
    before = len(pickle.dumps(policy))
    policy.watch(corridor().unwrapped)
    assert len(pickle.dumps(policy)) <= before


@every_policy
def test_its_settings_are_json_and_do_not_change_by_playing(name: str) -> None:
    policy = made(name)
    settings = policy.settings()
    actions_of(policy, "corridor-0", seed=0)
    assert json.loads(json.dumps(settings)) == settings == policy.settings()


@every_policy
def test_its_constructor_stores_its_arguments_under_their_names(name: str) -> None:
    policy = made(name)
    parameters = inspect.signature(type(policy)).parameters
    assert all(hasattr(policy, parameter) for parameter in parameters)


@every_policy
@pytest.mark.parametrize("k", [1, 3])
def test_it_gives_at_most_k_different_opinions_of_its_own(name: str, k: int) -> None:
    policy, env = made(name), corridor()
    policy.watch(env.unwrapped)
    policy.reset(seed=0)
    observation, info = env.reset(seed=0)
    opinions = policy.advise(observation, info, k)
    assert isinstance(policy, Advisor)
    assert len({opinion.action for opinion in opinions}) == len(opinions) <= k
    for opinion in opinions:
        assert isinstance(opinion, Opinion)
        assert opinion.action in info["admissible_actions"]
        assert opinion.source == policy.name
        assert opinion.confidence is None or 0 <= opinion.confidence <= 1


@every_policy
def test_it_plays_a_task_of_the_shop_to_an_end(make_env: Make, name: str) -> None:
    env = make_env("llm_gym/WebShop-v1", max_episode_steps=30)
    episode = play(env, made(name), panel_of(env)[0])
    assert episode.ended_by in ("task", "agent", "limit")
    assert episode.policy == policies.load(name).name


@every_policy
def test_it_is_shown_by_its_class_and_settings(name: str) -> None:
    policy = made(name)
    assert repr(policy).startswith(f"{type(policy).__name__}(")


@pytest.mark.parametrize(("name", "target"), sorted(POLICIES.items()))
def test_the_package_offers_it_by_its_class_name(name: str, target: str) -> None:
    attribute = target.partition(":")[2]
    assert getattr(llm_gym.policies, attribute) is policies.load(name)
    assert attribute in llm_gym.policies.__all__
    assert policies.load(name).name == name


@every_policy
def test_its_class_says_what_it_does(name: str) -> None:
    assert inspect.getdoc(policies.load(name)) != inspect.getdoc(Policy)
