"""What every registered environment promises."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.envs.base import panel_of
from llm_gym.errors import UnknownName
from llm_gym.policies import RandomPolicy
from llm_gym.rollout import play

Make = Callable[..., gym.Env[str, str]]

ENV_IDS = sorted(env_id for env_id in gym.registry if env_id.startswith("llm_gym/"))
GOES_ON_AFTER_THE_END = {"llm_gym/WebShop-v0"}
"""The original shop goes on after a purchase; its own tests say how."""
NONSENSE = ["", "   ", "nonsense", "dance[now]", "click[there is no such thing]", "[]", "search[]", "\n", "открыть"]
KEYS = {"task_id", "goal", "admissible_actions", "success", "page", "category", "metrics"}

every_env = pytest.mark.parametrize("env_id", ENV_IDS)


def world_of(make_env: Make, env_id: str) -> Any:
    return make_env(env_id).unwrapped


def rollout(env: gym.Env[str, str], seed: int, steps: int = 25) -> list[Any]:
    """All that a random policy meets in a few steps of a drawn task, and of the next when it ends."""
    policy = RandomPolicy()
    policy.reset(seed=seed)
    observation, info = env.reset(seed=seed)
    met: list[Any] = [(observation, info)]
    for _ in range(steps):
        action = policy.act(observation, info).action
        assert action is not None
        observation, reward, terminated, truncated, info = env.step(action)
        met.append((action, observation, reward, terminated, truncated, info))
        if terminated or truncated:
            observation, info = env.reset()
            met.append((observation, info))
    return met


@every_env
def test_gymnasiums_checker_finds_nothing(make_env: Make, env_id: str) -> None:
    check_env(make_env(env_id).unwrapped)  # warnings are errors in this suite


@every_env
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_two_copies_with_one_seed_go_the_same_way(make_env: Make, env_id: str, seed: int) -> None:
    assert rollout(make_env(env_id), seed) == rollout(make_env(env_id), seed)


@every_env
def test_different_seeds_draw_different_tasks(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    assert len({env.reset(seed=seed)[1]["task_id"] for seed in range(8)}) > 1


@every_env
def test_the_task_asked_for_is_played_and_named(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    for task_id in panel_of(env)[:3]:
        assert env.reset(options={"task": task_id})[1]["task_id"] == task_id


@every_env
def test_the_seed_does_not_change_a_chosen_task(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    chosen = {"task": panel_of(env)[0]}
    assert env.reset(seed=1, options=chosen) == env.reset(seed=2, options=chosen)


@every_env
@pytest.mark.parametrize("action", NONSENSE)
def test_nonsense_changes_nothing_and_is_explained(make_env: Make, env_id: str, action: str) -> None:
    world = world_of(make_env, env_id)
    observation, info = world.reset(seed=0)
    for _ in range(2):  # at the beginning, and one step further on
        after, reward, terminated, truncated, answer = world.step(action)
        assert (after, reward, terminated, truncated) == (world.refusal or observation, 0.0, False, False)
        assert answer.pop("invalid_action").endswith(".")
        assert answer == info | {"page": after}
        observation, _, ended, _, info = world.step(info["admissible_actions"][0])
        if ended:
            break


@every_env
def test_something_that_is_no_string_is_explained(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    observation, _ = world.reset(seed=0)
    after, reward, _, _, info = world.step(7)
    assert (after, reward) == (world.refusal or observation, 0.0)
    assert info["invalid_action"] == "An action is a string, not int: 7"


@every_env
def test_an_explanation_does_not_outlive_the_next_action(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    _, info = world.reset(seed=0)
    world.step("nonsense")
    assert "invalid_action" not in world.step(info["admissible_actions"][0])[4]


@every_env
def test_info_has_the_common_keys_and_the_bare_page(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    observation, info = env.reset(seed=0)
    following, _, _, _, next_info = env.step(info["admissible_actions"][0])
    for page, keys in ((observation, info), (following, next_info)):
        assert set(keys) >= KEYS
        assert keys["page"] == page
        assert keys["success"] is False or next_info is keys


@every_env
def test_info_belongs_to_the_caller(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    _, info = world.reset(seed=0)
    before = list(info["admissible_actions"])
    info["admissible_actions"].clear()
    info["metrics"]["spoilt"] = 1.0
    _, _, _, _, again = world.step("nonsense")
    assert again["admissible_actions"] == before
    assert "spoilt" not in again["metrics"]


@every_env
def test_the_solution_of_each_task_is_possible_and_ends_it(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    for task_id in world.panel[:10]:
        world.reset(options={"task": task_id})
        for action in world.solution():
            _, _, terminated, _, info = world.step(action)
            assert "invalid_action" not in info
        assert terminated


@every_env
def test_the_solution_succeeds(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    for task_id in world.panel[:3]:
        world.reset(options={"task": task_id})
        for action in world.solution():
            _, reward, _, _, info = world.step(action)
        assert info["success"] is True
        assert reward == 1.0


@pytest.mark.parametrize("env_id", [env_id for env_id in ENV_IDS if env_id not in GOES_ON_AFTER_THE_END])
@pytest.mark.parametrize("action", ["nonsense", "open", "search[shoe]", "click[back to search]"])
def test_nothing_happens_after_the_end(make_env: Make, env_id: str, action: str) -> None:
    world = world_of(make_env, env_id)
    world.reset(options={"task": world.panel[0]})
    for step in world.solution():
        last = world.step(step)
    observation, reward, terminated, truncated, info = world.step(action)
    assert (observation, reward, terminated, truncated) == (last[0], 0.0, True, False)
    assert info["success"] == last[4]["success"]
    assert "reset" in info["invalid_action"]


@every_env
def test_an_unknown_task_is_refused_with_the_near_ones(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    first = panel_of(env)[0]
    with pytest.raises(UnknownName, match="Did you mean"):
        env.reset(options={"task": f"{first}x"})


@every_env
def test_an_unknown_reset_option_is_refused_with_the_near_one(make_env: Make, env_id: str) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'task'"):
        make_env(env_id).reset(options={"tusk": "1"})


@every_env
def test_an_action_before_the_first_reset_is_refused(make_env: Make, env_id: str) -> None:
    with pytest.raises(ResetNeeded):
        world_of(make_env, env_id).step("open")


@every_env
def test_the_spec_rebuilds_the_environment(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    assert env.spec is not None
    again = gym.make(env.spec)
    assert type(again.unwrapped) is type(env.unwrapped)
    assert panel_of(again).digest == panel_of(env).digest
    assert again.reset(seed=5) == env.reset(seed=5)


@every_env
def test_the_step_limit_truncates_and_does_not_terminate(make_env: Make, env_id: str) -> None:
    env = make_env(env_id, max_episode_steps=2)
    env.reset(seed=0)
    env.step("nonsense")
    _, _, terminated, truncated, _ = env.step("nonsense")
    assert (terminated, truncated) == (False, True)


@every_env
def test_the_description_is_json_and_names_split_and_number_of_tasks(make_env: Make, env_id: str) -> None:
    world = world_of(make_env, env_id)
    description = json.loads(json.dumps(world.description()))
    assert description["split"] == world.panel.name
    assert description["tasks"] == len(world.panel)


@every_env
def test_the_page_can_be_rendered_as_text(make_env: Make, env_id: str) -> None:
    env = make_env(env_id, render_mode="ansi")
    env.reset(seed=0)
    assert isinstance(env.render(), str)


@every_env
def test_a_random_policy_plays_an_episode_to_its_end(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    assert play(env, RandomPolicy(), panel_of(env)[0]).ended_by in ("task", "limit")


@every_env
def test_after_a_refused_reset_the_next_one_plays(make_env: Make, env_id: str) -> None:
    env = make_env(env_id)
    for unknown in ("no such task", 3, None, ["a list"]):
        with pytest.raises(UnknownName):
            env.reset(options={"task": unknown})
    env.reset(seed=0)
    assert len(env.step("nonsense")) == 5
