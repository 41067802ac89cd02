"""The prompts, word for word: a shop and a house, each on its second page and with a suggestion."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from llm_gym.core import Info, Opinion
from llm_gym.llm import Request, count_tokens
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.prompts import prompt

Kind = Any
GOLDEN = Path(__file__).parent / "golden"


def info_of(**more: Any) -> Info:
    return cast(Info, {"task_id": "1", "success": False, "metrics": {}, **more})


SHOP_GOAL = "i want a red shoe, and price lower than 30.00 dollars"
WORLDS: Mapping[str, tuple[dict[str, Any], list[tuple[str, Info]]]] = {
    "shop": (
        {"name": "search", "query": "red shoe"},
        [
            (
                f"WebShop\nInstruction: \n{SHOP_GOAL}\n[button] Search [button_]\n",
                info_of(goal=SHOP_GOAL, screen="search", admissible_actions=["search[red shoe]"]),
            ),
            (
                "Nothing of this is read, for the opinions are in it.",
                info_of(
                    goal=SHOP_GOAL,
                    screen="results",
                    page="[button] Back to Search [button_]\n[button] B01 [button_]\nA Red Shoe\n$20.0\n",
                    admissible_actions=["click[back to search]", "click[b01]"],
                    opinions=[Opinion("click[b01]", 0.9, "lexical")],
                ),
            ),
        ],
    ),
    "house": (
        {"name": "act", "command": "go to desk 1"},
        [
            (
                "You are in the middle of a room. You see a desk 1, and a shelf 1.",
                info_of(goal="put a pen in shelf.", task_type="pick", admissible_actions=["go to desk 1", "look"]),
            ),
            (
                "Nothing of this is read, for the opinions are in it.",
                info_of(
                    goal="put a pen in shelf.",
                    task_type="pick",
                    page="Nothing happens.",
                    invalid_action="'go to desk 1' is not possible here.",
                    admissible_actions=["look", "take pen 1 from desk 1"],
                    opinions=[Opinion("take pen 1 from desk 1"), Opinion("look")],
                ),
            ),
        ],
    ),
}


def shown(request: Request) -> str:
    """A request as a page."""
    parts = []
    for message in request.messages:
        calls = "".join(f"{call.name}{call.arguments}" for call in message.tool_calls)
        parts.append(f"---- {message.role} {calls}\n{message.content}")
    tools = [f"---- tool {one.name}\n{one.description}\n{json.dumps(one.parameters)}" for one in request.tools]
    return "\n".join([*parts, *tools, ""]).replace(" \n", "\n")


def second_request(kind: Kind, world: str, **settings: Any) -> tuple[AgentPolicy, Request]:
    command, pages = WORLDS[world]
    agent: AgentPolicy = kind.agent(kind.answer(**command), kind.answer("finish"), **settings)
    for observation, info in pages:
        agent.act(observation, info)
    return agent, agent.exchanges[-1].request


@pytest.mark.parametrize("world", sorted(WORLDS))
def test_the_prompt_is_that_of_the_file(kind: Kind, world: str) -> None:
    _, request = second_request(kind, world)
    assert shown(request) == (GOLDEN / f"{kind.name}-{world}.txt").read_text(encoding="utf-8")


def test_a_prompt_leaves_room_for_a_page_of_usual_length(kind: Kind) -> None:
    for world in WORLDS:
        agent, request = second_request(kind, world)
        base = count_tokens(request.messages[:1], "scripted")
        assert base + agent.page_tokens < agent.prompt_tokens


def test_without_demonstrations_the_prompt_has_no_example(kind: Kind) -> None:
    _, request = second_request(kind, "shop", demonstrations=0)
    assert "STOOL" not in shown(request)


@pytest.mark.parametrize("name", ["webshop", "alfworld", "world"])
def test_a_world_s_file_has_the_texts_that_every_agent_needs(name: str) -> None:
    assert {"name", "role", "goal"} <= set(prompt(name))


def test_no_slot_is_left_empty_or_over(kind: Kind) -> None:
    for world in WORLDS:
        _, request = second_request(kind, world)
        texts = "".join(message.content for message in request.messages)
        assert not [slot for slot in ("{page}", "{goal}", "{steps}", "{hint}", "{name}", "{role}") if slot in texts]


def test_a_goal_with_braces_is_a_goal(kind_named: Callable[[str], Kind]) -> None:
    agent = kind_named("autogpt").agent(kind_named("autogpt").answer("finish"))
    agent.act("{page}", info_of(goal="buy {name} {0} {"))
    assert "buy {name} {0} {" in agent.exchanges[0].request.messages[0].content
