"""Agents with models that answer what a test says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from llm_gym.llm import Completion, ScriptedClient, ToolCall
from llm_gym.policies import AutoGPTPolicy, ReActPolicy, ToolCallingPolicy
from llm_gym.policies.agents.base import AgentPolicy

KINDS: dict[str, type[AgentPolicy]] = {"autogpt": AutoGPTPolicy, "react": ReActPolicy, "tools": ToolCallingPolicy}


def autogpt_answer(name: str, **arguments: Any) -> str:
    thoughts = dict.fromkeys(("text", "reasoning", "plan", "criticism"), "Hm.")
    return json.dumps({"thoughts": thoughts, "command": {"name": name, "args": arguments}})


def react_answer(name: str, **arguments: Any) -> str:
    words = next(iter(arguments.values()), "")
    return f"Thought: Hm.\nAction: {words if name == 'act' else f'{name}[{words}]'}"


def tools_answer(name: str, **arguments: Any) -> Completion:
    return Completion("Hm.", tool_calls=(ToolCall(name, json.dumps(arguments), "call-7"),))


ANSWERS: dict[str, Callable[..., Any]] = {"autogpt": autogpt_answer, "react": react_answer, "tools": tools_answer}


class Kind:
    """A kind of agent: how it is made, and how a model answers it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def answer(self, name: str, **arguments: Any) -> Any:
        """A sound answer with a command."""
        return ANSWERS[self.name](name, **arguments)

    def agent(self, *answers: Any, **settings: Any) -> AgentPolicy:
        """An agent whose model gives these answers, then no more; or those of a function."""
        script: Any = answers[0] if len(answers) == 1 and callable(answers[0]) else list(answers)
        return KINDS[self.name](ScriptedClient(script), **settings)


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of agent."""
    return Kind(request.param)


@pytest.fixture
def kind_named() -> type[Kind]:
    return Kind
