"""The policy with an expert beside it is the policy in a wrapper."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Episode
from llm_gym.envs.base import panel_of
from llm_gym.policies import (
    AdvisedPolicy,
    ALFWorldExpertPolicy,
    HeedingPolicy,
    LexicalPolicy,
    Policy,
    RandomPolicy,
    RulePolicy,
)
from llm_gym.rollout import play
from llm_gym.wrappers import OpinionWrapper

Make = Callable[..., gym.Env[str, str]]

SETTINGS: list[dict[str, Any]] = [
    {},
    {"top_k": 3, "draw": "sample"},
    {"top_k": 3, "draw": "sample_without_replacement", "append": False},
    {"draw": "beam", "when": "after_failure"},
    {"when": "uncertain", "threshold": 0.2},
    {"top_k": 2, "control": "random"},
]


def steps(episode: Episode) -> list[tuple[Any, ...]]:
    return [(step.action, step.reward, step.invalid, step.opinions) for step in episode.steps]


def seen(episode: Episode) -> list[str]:
    return [step.observation for step in episode.steps]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("expert", [RandomPolicy, LexicalPolicy])
def test_it_plays_the_episodes_of_the_wrapper(make_env: Make, settings: dict[str, Any], expert: type[Policy]) -> None:
    bare = make_env("llm_gym/WebShop-v1", max_episode_steps=15)
    wrapped = OpinionWrapper(make_env("llm_gym/WebShop-v1", max_episode_steps=15), expert(), **settings)
    reader = HeedingPolicy(RandomPolicy(), 0.5)
    advised = AdvisedPolicy(HeedingPolicy(RandomPolicy(), 0.5), expert(), **settings)
    for seed, task_id in enumerate(panel_of(bare)[:6]):
        inside, beside = play(wrapped, reader, task_id, seed=seed), play(bare, advised, task_id, seed=seed)
        assert steps(inside) == steps(beside)
        assert (inside.success, inside.ended_by, inside.metrics) == (beside.success, beside.ended_by, beside.metrics)


def test_two_experts_come_in_the_same_order(make_env: Make) -> None:
    bare = make_env("llm_gym/ALFWorld-v1", max_episode_steps=12)
    stack = OpinionWrapper(OpinionWrapper(bare, RandomPolicy(), top_k=2), RandomPolicy())
    advised = AdvisedPolicy(AdvisedPolicy(HeedingPolicy(RandomPolicy(), 0.5), RandomPolicy()), RandomPolicy(), top_k=2)
    task_id = panel_of(bare)[0]
    inside = play(stack, HeedingPolicy(RandomPolicy(), 0.5), task_id, seed=3)
    assert steps(inside) == steps(play(bare, advised, task_id, seed=3))
    assert [len(step.opinions) for step in inside.steps] == [3] * len(inside.steps)


def test_its_policy_reads_what_the_wrapper_would_show(make_env: Make) -> None:
    class Reader(RulePolicy):
        """Keeps what it reads."""

        def reset(self, seed: int | None = None, trial: int = 0) -> None:
            super().reset(seed, trial)
            self.read: list[str] = []

        def act(self, observation: str, info: Any) -> Any:
            self.read.append(observation)
            return super().act(observation, info)

    bare, reader = make_env("llm_gym/WebShop-v1"), Reader()
    task_id = panel_of(bare)[0]
    shown = seen(play(OpinionWrapper(bare, LexicalPolicy(), top_k=2), RulePolicy(), task_id))
    play(bare, AdvisedPolicy(reader, LexicalPolicy(), top_k=2), task_id)
    assert reader.read == shown
    assert "Here is a suggestion for the next command: search with" in shown[0]
    assert "Here are some suggestions for the next command: click with" in shown[1]


def test_an_evaluation_with_an_expert_that_draws_nothing_is_the_same(make_env: Make) -> None:
    env = make_env("llm_gym/ALFWorld-v1", max_episode_steps=15)
    inside = HeedingPolicy(RandomPolicy(), 0.5).evaluate(OpinionWrapper(env, ALFWorldExpertPolicy()), n=8)
    beside = AdvisedPolicy(HeedingPolicy(RandomPolicy(), 0.5), ALFWorldExpertPolicy()).evaluate(env, n=8)
    for one, other in zip(inside.rows, beside.rows, strict=True):
        assert [(step["action"], step["opinions"]) for step in one["trajectory"]] == [
            (step["action"], step["opinions"]) for step in other["trajectory"]
        ]


def test_settings_hold_both(make_env: Make) -> None:
    settings = AdvisedPolicy(HeedingPolicy(RulePolicy(), 0.5), LexicalPolicy(read=3), append=False).settings()
    assert settings["policy"] == {
        "name": "heeding",
        "settings": {"policy": {"name": "rule", "settings": {}}, "probability": 0.5},
    }
    assert settings["expert"] == {"name": "lexical", "settings": {"read": 3}}
    assert settings["append"] is False
