"""Walkthroughs are followed as long as the game is where they pass through."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import gymnasium as gym
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies import WalkthroughPolicy
from llm_gym.rollout import play

Make = Callable[..., gym.Env[str, str]]
WALKTHROUGH = ["go to desk 1", "take pen 1 from desk 1", "go to shelf 1", "move pen 1 to shelf 1"]
LOST = "The walkthrough has nothing to say about this state."


@pytest.fixture
def study(make_env: Make, studies: Path) -> gym.Env[str, str]:
    return make_env("llm_gym/ALFWorld-v1", games=studies, split="train")


def asked(env: gym.Env[str, str], task_id: str, *commands: str) -> tuple[str | None, str]:
    """What the policy does, and says, after somebody played some commands."""
    policy = WalkthroughPolicy()
    policy.watch(env.unwrapped)
    env.reset(options={"task": task_id})
    for command in commands:
        env.step(command)
    decision = policy.act("", {})
    return decision.action, decision.rationale


def test_it_plays_the_walkthrough_and_wins(study: gym.Env[str, str]) -> None:
    episode = play(study, WalkthroughPolicy(), "told")
    assert [step.action for step in episode.steps] == WALKTHROUGH
    assert episode.success


def test_it_speaks_the_words_of_the_papers_where_they_are_understood(make_env: Make, studies: Path) -> None:
    episode = play(make_env("llm_gym/ALFWorld-v0", games=studies, split="train"), WalkthroughPolicy(), "told")
    assert episode.steps[-1].action == "put pen 1 in/on shelf 1"
    assert episode.success


@pytest.mark.parametrize(
    "commands",
    [
        [],
        ["look"],
        ["jump"],
        ["go to desk 1"],
        ["go to desk 1", "examine desk 1"],
        ["go to tray 1", "go to desk 1"],
        ["go to desk 1", "take pen 1 from desk 1", "move pen 1 to desk 1"],
    ],
    ids=" | ".join,
)
def test_it_goes_on_where_somebody_is_on_its_way(study: gym.Env[str, str], commands: list[str]) -> None:
    action, _ = asked(study, "told", *commands)
    assert action == WALKTHROUGH["go to desk 1" in commands]


@pytest.mark.parametrize("commands", [["go to tray 1"], ["go to desk 2", "take pen 2 from desk 2"]], ids=" | ".join)
def test_it_stops_where_somebody_left_its_way(study: gym.Env[str, str], commands: list[str]) -> None:
    assert asked(study, "told", *commands) == (None, LOST)


def test_it_stops_at_the_end(study: gym.Env[str, str]) -> None:
    assert asked(study, "told", *WALKTHROUGH) == (None, LOST)


def test_it_stops_at_once_in_a_game_without_one(study: gym.Env[str, str]) -> None:
    assert asked(study, "silent") == (None, "This game has no walkthrough.")


def test_it_stops_where_its_command_is_impossible(study: gym.Env[str, str]) -> None:
    episode = play(study, WalkthroughPolicy(), "wrong")
    assert [step.action for step in episode.steps] == ["go to desk 1", None]
    assert episode.ended_by == "agent"


def test_one_policy_plays_many_games(study: gym.Env[str, str]) -> None:
    policy = WalkthroughPolicy()
    lengths = [len(play(study, policy, task_id).steps) for task_id in ("told", "silent", "wrong", "told")]
    assert lengths == [4, 1, 2, 4]


@pytest.mark.parametrize(("env_id", "world"), [("llm_gym/Corridor-v0", "Corridor"), ("llm_gym/WebShop-v1", "WebShop")])
def test_it_stops_at_once_in_a_world_without_walkthroughs(make_env: Make, env_id: str, world: str) -> None:
    env = make_env(env_id)
    [step] = play(env, WalkthroughPolicy(), panel_of(env)[0]).steps
    assert (step.action, step.rationale) == (None, f"{world} has no walkthroughs.")


def test_without_a_world_it_says_that_it_needs_one() -> None:
    with pytest.raises(InvalidSetting, match="call watch"):
        WalkthroughPolicy().act("", {})


def test_a_copy_in_another_process_has_no_world(study: gym.Env[str, str]) -> None:
    policy = WalkthroughPolicy()
    play(study, policy, "told")
    assert pickle.dumps(policy) == pickle.dumps(WalkthroughPolicy())
