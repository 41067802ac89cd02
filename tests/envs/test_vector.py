"""Many environments at once, by Gymnasium's vector environments: what they promise holds for worlds of text."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate
from gymnasium.wrappers.vector import DictInfoToList

import llm_gym
from llm_gym.envs.base import panel_of
from llm_gym.spaces import Unicode

WORLDS = {"llm_gym/ALFWorld-v1": 7, "llm_gym/Corridor-v0": 4, "llm_gym/WebShop-v1": 9}
"""Id → a step limit that many episodes meet in these tests."""
every_world = pytest.mark.parametrize("env_id", WORLDS)
every_mode = pytest.mark.parametrize("mode", list(AutoresetMode))
NUMBER, STEPS = 3, 30


class Seen(NamedTuple):
    """What one environment shows after a step of all, or after the reset."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    @classmethod
    def of(cls, observation: str, reward: float, terminated: bool, truncated: bool, info: dict[str, Any]) -> Seen:
        """With lists for arrays (the features of images), so that it can be compared."""
        plain = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in info.items()}
        if "final_info" in plain:
            plain["final_info"] = cls.of("", 0.0, False, False, plain["final_info"]).info
        return cls(observation, float(reward), bool(terminated), bool(truncated), plain)


def vector(env_id: str, mode: AutoresetMode = AutoresetMode.NEXT_STEP, **kwargs: Any) -> VectorEnv[Any, Any, Any]:
    kwargs = {"vectorization_mode": "sync", "num_envs": NUMBER, "max_episode_steps": WORLDS[env_id]} | kwargs
    settings = {"autoreset_mode": mode} | kwargs.pop("vector_kwargs", {})
    return gym.make_vec(env_id, vector_kwargs=settings, **kwargs)


def action_for(info: dict[str, Any], rng: random.Random) -> str:
    """A possible action; one in eight is none."""
    if rng.random() < 0.125:
        return "dance"
    return rng.choice(info["admissible_actions"] or ["search[blue shirt]", "search[lamp]"])


def walk(envs: VectorEnv[Any, Any, Any], steps: int = STEPS) -> Iterator[list[Seen]]:
    """A random walk of all environments; in mode `DISABLED` those that end are begun anew by hand."""
    mode, rngs = envs.metadata["autoreset_mode"], [random.Random(seed) for seed in range(envs.num_envs)]
    listed = DictInfoToList(envs)
    observations, infos = listed.reset(seed=11)
    yield [Seen.of(text, 0.0, False, False, info) for text, info in zip(observations, infos, strict=True)]
    for _ in range(steps):
        actions = tuple(action_for(info, rng) for info, rng in zip(infos, rngs, strict=True))
        observations, rewards, terminated, truncated, infos = listed.step(actions)
        yield [Seen.of(*seen) for seen in zip(observations, rewards, terminated, truncated, infos, strict=True)]
        ended = terminated | truncated
        if mode is AutoresetMode.DISABLED and ended.any():
            observations, begun = listed.reset(options={"reset_mask": ended})
            infos = [new if over else old for old, new, over in zip(infos, begun, ended, strict=True)]


def alone(env_id: str, seed: int, mode: AutoresetMode, steps: int = STEPS) -> Iterator[Seen]:
    """The same walk of one environment without any vector, by the description of the modes in Gymnasium's docs."""
    env, rng = gym.make(env_id, max_episode_steps=WORLDS[env_id]), random.Random(seed)
    observation, info = env.reset(seed=11 + seed)
    yield Seen.of(observation, 0.0, False, False, info)
    over = False
    for _ in range(steps):
        action = action_for(info, rng)
        if over and mode is AutoresetMode.NEXT_STEP:
            (observation, info), reward, terminated, truncated = env.reset(), 0.0, False, False
        else:
            observation, reward, terminated, truncated, info = env.step(action)  # type: ignore[assignment]
        over = terminated or truncated
        if over and mode is AutoresetMode.SAME_STEP:
            last = {"final_obs": observation, "final_info": info}
            observation, info = env.reset()
            yield Seen.of(observation, reward, terminated, truncated, info | last)
            continue
        yield Seen.of(observation, reward, terminated, truncated, info)
        if over and mode is AutoresetMode.DISABLED:
            info = env.reset()[1]


@every_world
@every_mode
def test_a_vector_shows_what_its_environments_show_alone(env_id: str, mode: AutoresetMode) -> None:
    envs = vector(env_id, mode)
    rounds = list(walk(envs))
    envs.close()
    for at in range(NUMBER):
        mine = list(alone(env_id, at, mode))
        assert [one[at] for one in rounds] == mine
        assert any(seen.terminated or seen.truncated for seen in mine)


@pytest.mark.parametrize("env_id", ["llm_gym/ALFWorld-v1", "llm_gym/WebShop-v1"])
def test_processes_show_the_same_as_one_process(env_id: str) -> None:
    apart = {"shared_memory": False, "context": "spawn"}
    envs = vector(env_id, num_envs=2, vectorization_mode="async", vector_kwargs=apart)
    try:
        rounds = list(walk(envs, 10))
    finally:
        envs.close()
    assert rounds == list(walk(vector(env_id, num_envs=2), 10))


def test_shared_memory_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="you can disable this feature with `shared_memory=False`"):
        vector("llm_gym/Corridor-v0", vectorization_mode="async")


@every_world
def test_one_process_is_the_default(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=2)
    assert type(envs.unwrapped) is gym.vector.SyncVectorEnv
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP


@pytest.mark.parametrize("way", ["sync", "async"])
def test_no_environment_is_no_vector(way: str) -> None:
    with pytest.raises(IndexError):
        gym.make_vec("llm_gym/Corridor-v0", num_envs=0, vectorization_mode=way)


# -- the modes, by hand --------------------------------------------------------------------------------------------


def corridor(mode: AutoresetMode) -> VectorEnv[Any, Any, Any]:
    """Two corridors, both at the right door of the same task, which `open` wins."""
    envs = vector("llm_gym/Corridor-v0", mode, num_envs=2, max_episode_steps=30)
    observations, infos = envs.reset(seed=1, options={"task": "corridor-3"})
    assert observations == ("Open the door of room 0.\nYou are in room 3 of 5.",) * 2
    assert list(infos["task_id"]) == ["corridor-3"] * 2
    for _ in range(3):
        observations = envs.step(("left", "left"))[0]
    assert observations == ("Open the door of room 0.\nYou are in room 0 of 5.",) * 2
    return envs


def test_next_step_shows_the_end_and_begins_anew_with_the_step_after() -> None:
    envs = corridor(AutoresetMode.NEXT_STEP)
    observations, rewards, terminated, _, infos = envs.step(("open", "right"))
    assert observations[0] == "Open the door of room 0.\nYou are in room 0 of 5.\nThe door is open."
    assert rewards.tolist() == [1, 0]
    assert terminated.tolist() == [True, False]
    assert infos["success"].tolist() == [True, False]
    assert "final_info" not in infos
    observations, rewards, terminated, _, infos = envs.step(("dance", "right"))
    assert "The door is open." not in observations[0]
    assert rewards.tolist() == [0, 0]
    assert not terminated.any()
    assert "invalid_action" not in infos  # the first action was given to nobody
    assert observations[1] == "Open the door of room 0.\nYou are in room 2 of 5."


def test_same_step_shows_the_next_task_and_keeps_the_end_apart() -> None:
    envs = corridor(AutoresetMode.SAME_STEP)
    observations, rewards, terminated, _, infos = envs.step(("open", "right"))
    assert "The door is open." not in observations[0]
    assert rewards.tolist() == [1, 0]
    assert terminated.tolist() == [True, False]
    assert infos["success"].tolist() == [False, False]
    last = "Open the door of room 0.\nYou are in room 0 of 5.\nThe door is open."
    assert infos["final_obs"].tolist() == [last, None]
    assert infos["_final_obs"].tolist() == [True, False]
    assert infos["final_info"]["success"][0]
    assert infos["final_info"]["task_id"].tolist() == ["corridor-3", None]


def test_disabled_leaves_it_to_the_caller_to_begin_anew() -> None:
    envs = corridor(AutoresetMode.DISABLED)
    ended = envs.step(("open", "right"))[2]
    assert ended.tolist() == [True, False]
    with pytest.raises(AssertionError):
        envs.step(("right", "right"))
    observations, infos = envs.reset(options={"reset_mask": ended, "task": "corridor-3"})
    assert observations[0] == "Open the door of room 0.\nYou are in room 3 of 5."
    assert observations[1] == "Open the door of room 0.\nYou are in room 1 of 5."
    assert infos["_task_id"].tolist() == [True, False]
    assert envs.step(("right", "right"))[0][1] == "Open the door of room 0.\nYou are in room 2 of 5."


# -- infos ---------------------------------------------------------------------------------------------------------


@every_world
def test_the_possible_actions_stay_a_list_for_each_environment(env_id: str) -> None:
    envs = vector(env_id)
    _, infos = envs.reset(seed=0)
    for at, possible in enumerate(infos["admissible_actions"]):
        assert possible == gym.make(env_id).reset(seed=at)[1]["admissible_actions"]


def test_what_only_some_tell_is_masked() -> None:
    envs = vector("llm_gym/Corridor-v0")
    envs.reset(seed=0)
    _, _, _, _, infos = envs.step(("dance", "open", "open"))
    assert infos["_invalid_action"].tolist() == [True, False, False]
    assert infos["invalid_action"].tolist()[1:] == [None, None]


def test_purchases_at_the_same_step_keep_their_measures() -> None:
    """A share that does not apply is None alone, and NaN beside the shares of others."""
    envs = vector("llm_gym/WebShop-v1", num_envs=6, max_episode_steps=9)
    singles = [gym.make("llm_gym/WebShop-v1") for _ in range(6)]
    infos, alone = envs.reset(seed=0)[1], [env.reset(seed=seed)[1] for seed, env in enumerate(singles)]
    for place in (0, -1, None):  # search, the last result, buy
        chosen = [("click[buy now]" if place is None else possible[place]) for possible in infos["admissible_actions"]]
        infos, alone = envs.step(chosen)[4], [env.step(action)[4] for env, action in zip(singles, chosen, strict=True)]
    assert infos["metrics"]["purchase"].all()
    for name in ("attributes", "options", "type", "price"):
        expected = [np.nan if info["metrics"][name] is None else info["metrics"][name] for info in alone]
        found = [np.nan if value is None else value for value in infos["metrics"][name]]
        np.testing.assert_array_equal(found, expected)


def test_lists_that_are_kept_do_not_change_later() -> None:
    envs = vector("llm_gym/ALFWorld-v1", num_envs=2)
    _, infos = envs.reset(seed=0)
    kept, copy = infos["admissible_actions"], [list(possible) for possible in infos["admissible_actions"]]
    envs.step(tuple(possible[0] for possible in kept))
    assert list(kept) == copy


# -- seeds, tasks, wrappers ----------------------------------------------------------------------------------------


@every_world
def test_each_environment_draws_its_own_tasks_from_its_own_seed(env_id: str) -> None:
    envs = vector(env_id, num_envs=8)
    drawn = envs.reset(seed=5)[1]["task_id"]
    assert list(drawn) == list(envs.reset(seed=5)[1]["task_id"])
    assert list(drawn) == list(envs.reset(seed=list(range(5, 13)))[1]["task_id"])
    assert len(set(drawn)) > 4  # of eight


def test_an_unknown_task_is_refused_as_by_one_environment() -> None:
    with pytest.raises(llm_gym.errors.UnknownName, match="corridor-999"):
        vector("llm_gym/Corridor-v0").reset(options={"task": "corridor-999"})


def test_worlds_of_a_vector_share_their_panel() -> None:
    envs = vector("llm_gym/WebShop-v1")
    assert isinstance(envs.unwrapped, gym.vector.SyncVectorEnv)
    panels = [panel_of(env) for env in envs.unwrapped.envs]
    assert all(list(panel) == list(panels[0]) for panel in panels)


# -- spaces --------------------------------------------------------------------------------------------------------


@every_world
def test_observations_and_samples_belong_to_the_spaces(env_id: str) -> None:
    envs = vector(env_id)
    assert envs.single_action_space == gym.make(env_id).action_space
    assert envs.observation_space.contains(envs.reset(seed=0)[0])
    sample = envs.action_space.sample()
    assert envs.action_space.contains(sample)
    assert envs.observation_space.contains(envs.step(sample)[0])


def test_a_batch_of_strings_is_drawn_by_its_seed_and_not_one_string_many_times() -> None:
    batch = batch_space(Unicode(40, seed=3), 5)
    assert batch == batch_space(Unicode(40, seed=4), 5)
    batch.seed(7)
    first, second = batch.sample(), batch.sample()
    batch.seed(7)
    assert (batch.sample(), batch.sample()) == (first, second)
    assert len(set(first)) == 5
    assert batch_space(Unicode(40, seed=3), 5).sample() == batch_space(Unicode(40, seed=3), 5).sample()


def test_strings_are_put_together_and_taken_apart_unchanged() -> None:
    space, texts = Unicode(40), ("a", "", "ein Käse\n")
    batch = batch_space(space, len(texts))
    together = concatenate(space, texts, create_empty_array(space, len(texts)))
    assert together == texts
    assert tuple(iterate(batch, together)) == texts


@pytest.mark.parametrize("actions", [["left", "right", "open"], np.array(["left", "right", "open"])])
def test_actions_may_be_a_list_or_an_array(actions: Sequence[str]) -> None:
    envs = vector("llm_gym/Corridor-v0")
    envs.reset(seed=0)
    assert envs.step(actions)[2].tolist() == [False, False, True]
