"""Commands and the actions that they stand for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.policies.agents.commands import (
    ANY,
    HOUSE,
    LONGEST_ARGUMENT,
    SHOP,
    Parsed,
    Unparsed,
    World,
    command_from,
    command_in,
    world_of,
)
from llm_gym.policies.agents.demonstrations import demonstrations


@pytest.mark.parametrize(
    ("info", "world"),
    [
        ({"screen": "search", "goal": "a red shoe"}, SHOP),
        ({"task_type": "pick_and_place_simple"}, HOUSE),
        ({"goal": "Open the door."}, ANY),
    ],
)
def test_the_commands_are_those_of_the_world(info: Any, world: World) -> None:
    assert world_of(info) is world


@pytest.mark.parametrize(
    ("world", "name", "arguments", "action"),
    [
        (SHOP, "search", {"query": "red shoe"}, "search[red shoe]"),
        (SHOP, "click", {"target": "Buy Now"}, "click[Buy Now]"),
        (SHOP, "click", {"target": "size [wide]"}, "click[size [wide]]"),
        (HOUSE, "act", {"command": "go to desk 1"}, "go to desk 1"),
        (ANY, "act", {"action": "open"}, "open"),
    ],
)
def test_a_command_becomes_an_action_and_back(world: World, name: str, arguments: dict[str, str], action: str) -> None:
    assert command_from(name, arguments, world.commands) == Parsed(name, arguments, action)
    assert world.command_of(action) == Parsed(name, arguments, action)


def test_brackets_in_a_query_become_blanks() -> None:
    parsed = command_from("search", {"query": " shoe [red]  size 9 "}, SHOP.commands)
    assert isinstance(parsed, Parsed)
    assert parsed.action == "search[shoe red size 9]"


def test_finish_ends_the_task_with_or_without_a_word() -> None:
    for arguments in ({}, {"response": "Done."}, {"response": ""}):
        assert command_from("finish", arguments, ANY.commands) == Parsed("finish", arguments, None)


@pytest.mark.parametrize(
    ("reply", "hint"),
    [
        ({}, 'The answer has no "command" with "name" and "args".'),
        ({"command": "click[Buy Now]"}, 'The answer has no "command" with "name" and "args".'),
        ({"command": []}, 'The answer has no "command" with "name" and "args".'),
        ({"command": {"args": {}}}, "There is no command None."),
        ({"command": {"name": ["click"]}}, "There is no command ['click']."),
        ({"command": {"name": "clik", "args": {}}}, "There is no command 'clik'. Did you mean 'click'?"),
        ({"command": {"name": "act", "args": {"command": "look"}}}, "There is no command 'act'."),
        ({"command": {"name": "click"}}, 'The command "click" lacks its argument "target".'),
        (
            {"command": {"name": "click", "args": "Buy Now"}},
            "The arguments of \"click\" must be an object, not 'Buy Now'",
        ),
        ({"command": {"name": "click", "args": {"target": "x", "now": "y"}}}, "has no argument 'now'"),
        (
            {"command": {"name": "click", "args": {"target": 7}}},
            'argument "target" of "click" must be a text, not 7.',
        ),
        ({"command": {"name": "click", "args": {"target": None}}}, "must be a text, not None."),
        ({"command": {"name": "click", "args": {"target": " "}}}, 'The argument "target" of "click" is empty.'),
        (
            {"command": {"name": "search", "args": {"query": "x" * (LONGEST_ARGUMENT + 1)}}},
            "than 2,000 characters",
        ),
    ],
)
def test_what_is_no_command_is_answered_with_a_sentence(reply: dict[str, Any], hint: str) -> None:
    parsed = command_in(reply, SHOP.commands)
    assert isinstance(parsed, Unparsed)
    assert hint in parsed.hint


def test_of_several_commands_the_first_counts() -> None:
    ten = [{"name": "click", "args": {"target": str(number)}} for number in range(10)]
    parsed = command_in({"command": ten}, SHOP.commands)
    assert isinstance(parsed, Parsed)
    assert parsed.action == "click[0]"


@given(
    st.recursive(st.none() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner), max_leaves=8)
)
def test_no_reply_raises(value: Any) -> None:
    for reply in ({"command": value}, {"command": {"name": "click", "args": value}}, {"command": {"name": value}}):
        assert isinstance(command_in(reply, SHOP.commands), Parsed | Unparsed)


def test_schemas_are_json_and_name_all_arguments() -> None:
    schemas = SHOP.schemas(None)
    assert list(schemas) == ["search", "click", "finish"]
    assert json.loads(json.dumps(schemas["search"])) == {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "what to look for, in a few words"}},
        "required": ["query"],
        "additionalProperties": False,
    }


def test_schemas_of_a_page_hold_only_what_is_possible_there() -> None:
    results = SHOP.schemas(["click[back to search]", "click[b01]"])
    assert list(results) == ["click", "finish"]
    assert results["click"]["properties"]["target"]["enum"] == ["back to search", "b01"]
    search = SHOP.schemas(["search[red shoe]"])
    assert list(search) == ["search", "finish"]
    assert "enum" not in search["search"]["properties"]["query"]


@pytest.mark.parametrize(("world", "shown"), [(SHOP, {"search": 1, "click": 3}), (HOUSE, {"act": 2}), (ANY, {})])
def test_every_command_has_one_to_three_demonstrations(world: World, shown: dict[str, int]) -> None:
    names = [one.command.name for one in demonstrations(world, 3)]
    assert {name: names.count(name) for name in names} == shown
    assert len(demonstrations(world, 1)) == len(shown)
    assert demonstrations(world, 0) == []
