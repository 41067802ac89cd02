"""Text worlds as arrays and numbers."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies import RandomPolicy
from llm_gym.wrappers import IndexedActions

Make = Callable[..., gym.Env[str, str]]

every_world = pytest.mark.parametrize("env_id", ["llm_gym/Corridor-v0", "llm_gym/WebShop-v1", "llm_gym/ALFWorld-v1"])


class Listing(gym.Env[str, str]):
    """Lists what it is told to, and keeps what it was asked to do."""

    observation_space: Any = gym.spaces.Text(10)
    action_space: Any = gym.spaces.Text(10)

    def __init__(self, actions: list[str] | None) -> None:
        self.actions = actions
        self.asked: list[str] = []
        self.handed_on: list[dict[str, Any]] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        return "page", self._info()

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.asked.append(action)
        return "page", 1.0 if action else 0.0, False, False, self._info()

    def _info(self) -> dict[str, Any]:
        self.handed_on.append({"goal": "red mug", "admissible_actions": self.actions})
        return self.handed_on[-1]


def corridor(**settings: Any) -> IndexedActions:
    return IndexedActions(gym.make("llm_gym/Corridor-v0", length=3, max_episode_steps=10), **{"k": 4, **settings})


# -- what it is --------------------------------------------------------------------------------------------------


@every_world
def test_it_passes_the_checker_of_gymnasium(make_env: Make, env_id: str) -> None:
    env = IndexedActions(make_env(env_id), k=8)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".*is different from the unwrapped version", UserWarning)
        check_env(env)


@pytest.mark.sb3
@every_world
def test_it_passes_the_checker_of_sb3(make_env: Make, env_id: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra sb3")
    checker.check_env(IndexedActions(make_env(env_id), k=8))


@every_world
def test_a_number_does_what_its_action_does_in_the_world_itself(make_env: Make, env_id: str) -> None:
    env, world = IndexedActions(make_env(env_id)), make_env(env_id)
    task = panel_of(world)[0]
    seen, info = env.reset(options={"task": task})
    observation, own = world.reset(options={"task": task})
    for step in range(6):
        assert env.observation_space.contains(seen)
        assert (info["page"], info["goal"]) == (observation, own["goal"])
        assert env.action_masks().tolist() == [place < len(env.indexed_actions) for place in range(64)]
        assert np.array_equal(env.action_masks(), seen["action_mask"])
        number = step % len(env.indexed_actions)
        observation, reward, terminated, truncated, own = world.step(env.indexed_actions[number])
        seen, mine, *ended, info = env.step(np.int64(number))
        assert "invalid_action" not in info
        assert [mine, *ended] == [reward, terminated, truncated]
        if terminated:
            break


@every_world
def test_its_spec_rebuilds_it_with_its_settings(make_env: Make, env_id: str) -> None:
    env = IndexedActions(make_env(env_id), k=7, dimensions=16, progress=0.25)
    assert env.spec is not None
    again: Any = gym.make(env.spec)
    assert str(again) == str(env)
    assert again.indexed_settings == env.indexed_settings
    assert again.progress == 0.25
    first, second = (one.reset(seed=3)[0] for one in (env, again))
    assert all(np.array_equal(first[key], second[key]) for key in first)


def test_one_seed_gives_the_same_arrays_whatever_was_played_before() -> None:
    def walk(env: IndexedActions) -> list[Any]:
        seen = [env.reset(seed=5)[0]]
        while len(seen) < 6:
            observation, *_, ended, _, _ = env.step(len(seen) % 2)
            seen.append(observation)
            if ended:
                break
        return [{key: values.tolist() for key, values in one.items()} for one in seen]

    used = corridor()
    first = walk(used)
    assert walk(used) == first == walk(corridor())


def test_seed_and_task_are_passed_on() -> None:
    bare = gym.make("llm_gym/Corridor-v0")
    assert IndexedActions(bare).reset(options={"task": "corridor-9"})[1]["task_id"] == "corridor-9"
    chosen = bare.reset(seed=3)[1]["task_id"]
    assert IndexedActions(bare).reset(seed=3)[1]["task_id"] == chosen


def test_the_info_it_is_given_stays_as_it_was() -> None:
    world = Listing(["a", "b"])
    env = IndexedActions(world, k=1)
    env.reset()
    _, _, _, _, info = env.step(5)
    assert {"actions_left_out", "invalid_action"} <= set(info)
    assert all(set(handed) == {"goal", "admissible_actions"} for handed in world.handed_on)


# -- what cannot be done -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [2, 3, -1, 99, 1.5, None, "0", np.array([0, 1])])
def test_a_number_without_an_action_is_impossible_and_costs_a_step(number: Any) -> None:
    env = corridor()
    seen, _ = env.reset(options={"task": "corridor-0"})
    actions = env.indexed_actions
    assert len(actions) == 2
    after, reward, terminated, truncated, info = env.step(number)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["invalid_action"].startswith("There is no action ")
    assert info["invalid_action"].endswith(": 2 can be chosen, from 0 on.")
    assert env.indexed_actions == actions
    assert all(np.array_equal(after[key], seen[key]) for key in seen)
    for _ in range(9):
        _, _, _, truncated, _ = env.step(number)
    assert truncated


def test_the_first_actions_find_a_place_and_the_others_are_counted() -> None:
    world = Listing(["a", "b", "c", "d", "e"])
    env = IndexedActions(world, k=3)
    seen, info = env.reset()
    assert env.indexed_actions == ("a", "b", "c")
    assert info["actions_left_out"] == 2
    assert seen["action_mask"].tolist() == [1, 1, 1]
    assert env.step(2)[1] == 1.0
    assert world.asked == ["c"]
    assert IndexedActions(world, k=5).reset()[1]["actions_left_out"] == 0


def test_a_world_that_cannot_list_its_actions_is_told_at_reset() -> None:
    with pytest.raises(InvalidSetting, match="lists no actions"):
        IndexedActions(Listing(None)).reset()


def test_fewer_places_than_one_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="k must be 1 action or more"):
        corridor(k=0)


def test_after_the_end_one_place_is_open_and_empty() -> None:
    env = corridor()
    env.reset(options={"task": "corridor-0"})
    seen, _, terminated, _, info = env.step(env.indexed_actions.index("open"))
    assert terminated
    assert info["admissible_actions"] == []
    assert seen["action_mask"].tolist() == [1, 0, 0, 0]
    assert env.action_masks().tolist() == [True, False, False, False]
    _, reward, _, _, info = env.step(0)
    assert reward == 0.0
    assert "invalid_action" in info


# -- reward on the way -------------------------------------------------------------------------------------------


def test_progress_is_paid_once_for_each_word_of_the_goal_that_an_action_holds() -> None:
    env = IndexedActions(Listing(["take red mug 1", "take mug 1", "look"]), progress=0.5)
    env.reset()
    # the world pays 1 for everything; the goal is "red mug"
    assert [env.step(number)[1] for number in (2, 1, 1, 0, 0)] == [1.0, 1.25, 1.0, 1.25, 1.0]
    assert env.step(9)[1] == 0.0
    env.reset()
    assert env.step(0)[1] == 1.5


def test_without_progress_the_reward_is_the_worlds() -> None:
    env = IndexedActions(Listing(["take red mug 1"]))
    env.reset()
    assert env.step(0)[1] == 1.0


# -- many of them ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_many_in_gymnasiums_vector_see_what_one_sees(mode: str) -> None:
    shared = {"shared_memory": False} if mode == "async" else {}
    make = partial(IndexedActions, k=4)
    many = gym.make_vec("llm_gym/Corridor-v0", 3, mode, vector_kwargs=shared, wrappers=(make,))
    with closing(many):
        seen, _ = many.reset(seed=[1, 2, 3])
        ones = [IndexedActions(gym.make("llm_gym/Corridor-v0"), k=4) for _ in range(3)]
        alone = [one.reset(seed=seed)[0] for seed, one in enumerate(ones, 1)]
        for _ in range(3):
            for key, values in seen.items():
                assert np.array_equal(values, np.stack([one[key] for one in alone]))
            chosen = [len(one.indexed_actions) - 2 for one in ones]
            seen, *_ = many.step(np.array(chosen))
            alone = [one.step(number)[0] for one, number in zip(ones, chosen, strict=True)]


@pytest.mark.sb3
def test_many_in_sb3s_vector_tell_their_masks() -> None:
    vectors = pytest.importorskip("stable_baselines3.common.vec_env", reason="needs the extra sb3")
    masking = pytest.importorskip("sb3_contrib.common.maskable.utils", reason="needs the extra sb3")
    many = vectors.DummyVecEnv([corridor] * 3)
    many.seed(4)
    seen = many.reset()
    assert masking.is_masking_supported(many)
    assert np.array_equal(masking.get_action_masks(many), seen["action_mask"])
    seen, rewards, _, _ = many.step(np.array([0, 0, 3]))
    assert seen["actions"].shape == (3, 4 * corridor().indexed_settings.candidate_width)
    assert rewards[2] == 0.0


# -- learning ----------------------------------------------------------------------------------------------------


def _hall(sign: int = 1) -> gym.Env[str, str]:
    """Two rooms: to open the right door at once is right half of the time, and so is random play."""
    world = gym.make("llm_gym/Corridor-v0", length=2, max_episode_steps=8)
    return gym.wrappers.TransformReward(world, lambda reward: sign * float(reward))


def _learned(algorithm: str, sign: int) -> Any:
    """Success on the world without the wrapper, after some seconds of learning from rewards times a sign."""
    import sb3_contrib
    import stable_baselines3
    import torch
    from stable_baselines3.common.env_util import make_vec_env

    from llm_gym.policies import SB3Policy
    from llm_gym.policies.indexed.network import CandidatePolicy, MaskableCandidatePolicy

    torch.set_num_threads(1)
    env = make_vec_env(lambda: IndexedActions(_hall(sign), k=3), 8, seed=1)
    model: Any
    if algorithm == "a2c":
        model = stable_baselines3.A2C(CandidatePolicy, env, 3e-3, seed=1, gamma=0.9, ent_coef=0.05)
    else:
        settings: dict[str, Any] = {"n_steps": 32, "batch_size": 64, "n_epochs": 8, "gamma": 0.9, "ent_coef": 0.02}
        falling = partial(operator.mul, 5e-3)
        model = sb3_contrib.MaskablePPO(MaskableCandidatePolicy, env, falling, seed=1, **settings)
    model.learn(3072)
    return SB3Policy.from_model(model, env).evaluate(_hall(), 60).success


@pytest.mark.sb3
@pytest.mark.parametrize("algorithm", ["a2c", "maskable-ppo"])
def test_sb3_learns_the_corridor_and_what_it_learned_plays_the_text_world(algorithm: str) -> None:
    pytest.importorskip("sb3_contrib", reason="needs the extra sb3")
    assert _learned(algorithm, 1) >= 0.9


@pytest.mark.sb3
def test_what_is_punished_for_success_learns_to_fail() -> None:
    pytest.importorskip("sb3_contrib", reason="needs the extra sb3")
    assert _learned("a2c", -1) <= 0.1


def test_a_policy_of_text_is_not_evaluated_on_numbers() -> None:
    with pytest.raises(InvalidSetting, match="evaluate on the world in the wrapper"):
        RandomPolicy().evaluate(corridor(), 3)
