"""Calls and their answers stand in a conversation as servers want them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_gym.llm import Completion, Message, Request, ScriptedClient, ToolCall
from llm_gym.policies import ToolCallingPolicy

INFO: Any = {"screen": "results", "goal": "a shoe", "admissible_actions": ["click[back to search]", "click[b01]"]}


def call(name: str = "click", call_id: str = "", **arguments: Any) -> Completion:
    return Completion("Hm.", tool_calls=(ToolCall(name, json.dumps(arguments or {"target": "b01"}), call_id),))


def requests_of(*answers: Any, pages: int, **settings: Any) -> list[Request]:
    agent = ToolCallingPolicy(ScriptedClient(list(answers)), **settings)
    for number in range(pages):
        agent.act(f"Page {number}.", INFO)
    return [exchange.request for exchange in agent.exchanges]


def is_sound(messages: tuple[Message, ...]) -> bool:
    """Whether every answer of a tool follows its call, and every call is answered."""
    for before, message in zip(messages, (*messages[1:], None), strict=True):
        if before.tool_calls and (message is None or message.tool_call_id != before.tool_calls[0].id):
            return False
        if message is not None and message.role == "tool" and len(before.tool_calls) != 1:
            return False
    return True


@pytest.mark.parametrize("history", [0, 1, 2, 3, 4, 5, 10])
def test_every_call_has_its_answer_however_short_the_history_is(history: int) -> None:
    for request in requests_of(*[call() for _ in range(9)], pages=9, history=history)[1:]:
        assert is_sound(request.messages)
        assert request.messages[-1].role == "tool"


def test_calls_without_an_id_get_different_ones() -> None:
    last = requests_of(call(), call(), call(), pages=3)[-1]
    assert [one.tool_call_id for one in last.messages if one.role == "tool"] == ["call-1", "call-2"]


def test_of_several_calls_only_the_first_is_kept_and_answered() -> None:
    both = Completion("", tool_calls=(*call(call_id="a").tool_calls, *call(call_id="b", target="b02").tool_calls))
    last = requests_of(both, call(), pages=2)[-1]
    assert [one.id for message in last.messages for one in message.tool_calls] == ["a"]
    assert is_sound(last.messages)


def test_a_call_is_kept_as_it_was_understood() -> None:
    careless = Completion("", tool_calls=(ToolCall(" Click", "{'target': 'b01',}" + " " * 100_000, "a"),))
    last = requests_of(careless, call(), pages=2)[-1]
    assert [one for message in last.messages for one in message.tool_calls] == [
        ToolCall("click", '{"target": "b01"}', "a")
    ]


def test_a_lost_step_leaves_the_conversation_sound() -> None:
    wrong = call("buy")
    for request in requests_of(call(), wrong, wrong, call(), call(), pages=4):
        assert is_sound(request.messages)


def test_the_tools_are_the_world_s_commands() -> None:
    tools = requests_of(call(), pages=1)[0].tools
    assert [tool.name for tool in tools] == ["search", "click", "finish"]


def test_with_a_schema_only_what_is_possible_can_be_called() -> None:
    tools = requests_of(call(), pages=1, schema=True)[0].tools
    assert [tool.name for tool in tools] == ["click", "finish"]
    assert tools[0].parameters["properties"]["target"]["enum"] == ["back to search", "b01"]
