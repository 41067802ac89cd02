"""What is Auto-GPT's own: the numbers of the paper, its memory, its window, and the schema of its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from llm_gym.errors import EndpointDown, InvalidSetting
from llm_gym.llm import Request, ScriptedClient, count_tokens
from llm_gym.policies import AutoGPTPolicy
from llm_gym.policies.agents.autogpt import reply_schema
from llm_gym.policies.agents.commands import SHOP

SHOE = '{"thoughts": {"text": "Hm."}, "command": {"name": "click", "args": {"target": "%s"}}}'
INFO: Any = {"screen": "results", "goal": "a shoe", "admissible_actions": ["click[back to search]", "click[b01]"]}


def played(pages: int, length: int = 40, **settings: Any) -> list[Request]:
    """The questions about so many pages of so many words, each page with a word of its own."""
    agent = AutoGPTPolicy(ScriptedClient([SHOE % number for number in range(pages)]), **settings)
    for number in range(pages):
        agent.act(f"Page{number} {'word ' * length}", INFO)
    return [exchange.request for exchange in agent.exchanges]


def memory_of(request: Request) -> str:
    return "".join(one.content for one in request.messages[1:] if one.content.startswith("This reminds you"))


def test_its_settings_are_those_of_the_paper() -> None:
    settings = AutoGPTPolicy("gpt-4").settings()
    paper = {
        "temperature": 0.01,
        "prompt_tokens": 4196 - 1000,
        "memory_tokens": 2500,
        "memories": 4,
        "similarity": "l2",
        "history": 10,
        "demonstrations": 3,
    }
    assert {name: settings[name] for name in paper} == paper
    assert SHOP.steps == 20


def test_at_most_ten_messages_of_the_past_are_sent() -> None:
    last = played(8)[-1]
    past = [one for one in last.messages[1:] if not one.content.startswith("This reminds you")]
    assert len(past) - 1 == 10  # and the question
    assert "Page7" in past[-3].content


def test_a_shorter_history_is_a_setting() -> None:
    last = played(8, history=2, memories=0)[-1]
    assert [one.role for one in last.messages] == ["system", "system", "system", "user"]


def test_it_is_reminded_of_what_came_before_within_its_tokens() -> None:
    requests = played(8, length=300)
    assert memory_of(requests[0]) == ""
    for request in requests[1:]:
        reminded = memory_of(request)
        assert "Reply: " in reminded
        assert "Result: " in reminded
        base = [one for one in request.messages[:2]]
        assert count_tokens(base, "scripted") <= 2500
        assert count_tokens(request.messages, "scripted") <= 3196


def test_it_is_reminded_of_four_events_at_most() -> None:
    assert memory_of(played(9, length=1)[-1]).count("Reply: ") == 4
    assert memory_of(played(9, length=1, memories=2)[-1]).count("Reply: ") == 2
    assert memory_of(played(9, memories=0)[-1]) == ""


def test_an_event_is_remembered_once_however_often_it_is_asked_about() -> None:
    agent = AutoGPTPolicy(ScriptedClient(["", SHOE % 1, "", SHOE % 2, SHOE % 3]))
    for number in range(3):
        agent.act(f"Page{number}", INFO)
    assert memory_of(agent.exchanges[-1].request).count("Reply: ") == 2


def test_a_new_episode_remembers_nothing() -> None:
    agent = AutoGPTPolicy(ScriptedClient(lambda request: SHOE % 1))
    for _ in range(3):
        agent.act("A page.", INFO)
    agent.reset()
    agent.act("A page.", INFO)
    assert len(agent.exchanges) == 1
    assert [one.role for one in agent.exchanges[0].request.messages] == ["system", "system", "system", "user"]
    assert memory_of(agent.exchanges[0].request) == ""


def test_steps_are_numbered() -> None:
    loops = [one.content for one in played(3)[-1].messages if one.content.startswith("Loop number")]
    assert loops == ["Loop number: 1", "Loop number: 2", "Loop number: 3"]


def test_an_answer_is_asked_for_by_a_schema_only_if_told_so() -> None:
    assert played(1)[0].schema is None
    schema = played(1, schema=True)[0].schema
    assert schema is not None
    finish, click = sorted(schema["properties"]["command"]["anyOf"], key=lambda one: one["properties"]["name"]["enum"])[
        ::-1
    ]
    assert finish["properties"]["name"]["enum"] == ["finish"]
    assert click["properties"]["args"]["properties"]["target"]["enum"] == ["back to search", "b01"]


def test_the_schema_is_strict_json() -> None:
    schema = reply_schema(SHOP.schemas(None), thought_chars=80)

    def objects(value: Any) -> list[dict[str, Any]]:
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        own = [value] if isinstance(value, dict) and value.get("type") == "object" else []
        return own + [found for one in inner for found in objects(one)]

    assert json.loads(json.dumps(schema)) == schema
    for one in objects(schema):
        assert one["additionalProperties"] is False
        assert one["required"] == list(one["properties"])
    assert schema["properties"]["thoughts"]["properties"]["plan"]["maxLength"] == 80


def test_memories_by_a_model_s_embeddings_need_that_model() -> None:
    pytest.importorskip("openai", reason="the extra llm is not installed")
    agent = AutoGPTPolicy(
        ScriptedClient(lambda request: SHOE % 1), "http://127.0.0.1:9/v1", None, embedding_model="ada"
    )
    assert agent.settings()["embedding_model"] == "ada"
    agent.act("A page.", INFO)
    with pytest.raises(EndpointDown):
        agent.act("Another page.", INFO)


def test_a_number_of_memories_below_0_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="memories"):
        AutoGPTPolicy("scripted", memories=-1)
