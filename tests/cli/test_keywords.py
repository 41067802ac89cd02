"""`key=value` texts and the signatures they are checked against."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from llm_gym.cli.keywords import accepts, comma_pairs, fitted, pairs, parameters, told
from llm_gym.errors import InvalidSetting, UnknownName


class World:
    def __init__(
        self,
        env: object,
        count: int,
        name: str = "embedded",
        path: str | Path = "x",
        rate: float = 0.5,
        kind: Literal["a", "b"] | None = None,
        flags: Mapping[str, int] | None = None,
        show: Any = print,
    ) -> None: ...


def test_a_pair_keeps_what_follows_the_first_equals_sign():
    assert pairs(["query=a=b", "num-products= 5"], "--set") == {"query": "a=b", "num_products": " 5"}


@pytest.mark.parametrize("text", ["split", "=dev", ""])
def test_no_pair(text):
    with pytest.raises(InvalidSetting, match="is not KEY=VALUE: write --set KEY=VALUE"):
        pairs([text], "--set")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", []),
        ("a=1", ["a=1"]),
        ("a=1,b=x", ["a=1", "b=x"]),
        ("a=[1,2],b=x, y", ["a=[1,2]", "b=x, y"]),
        ("mark=, ,b-c=2", ["mark=, ", "b-c=2"]),
    ],
)
def test_a_comma_separates_only_before_a_key(text, parts):
    assert comma_pairs(text) == parts


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"count": "5"}, 5),
        ({"count": "5", "name": "2024"}, "2024"),
        ({"count": "5", "name": "true"}, "true"),
        ({"count": "5", "name": '"quoted"'}, "quoted"),
        ({"count": "5", "path": "~/worlds/a"}, "~/worlds/a"),
        ({"count": "5", "rate": "1"}, 1),
        ({"count": "5", "kind": "a"}, "a"),
        ({"count": "5", "kind": "null"}, None),
        ({"count": "5", "flags": '{"a": 1}'}, {"a": 1}),
    ],
)
def test_a_value_is_json_where_the_type_wants_it_and_text_otherwise(given, value):
    fit = fitted(World, given, "World", "--set")
    assert list(fit.values())[-1] == value
    assert type(list(fit.values())[-1]) is type(value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"count": "5.5"}, "count of World must be a whole number, got '5.5'"),
        ({"count": "true"}, "must be a whole number"),
        ({"count": "5", "rate": "fast"}, "rate of World must be a number"),
        ({"count": "5", "kind": "c"}, "kind of World must be 'a' or 'b' or null, got 'c'"),
        ({"count": "5", "flags": "[1]"}, "flags of World must be"),
        ({}, "World has to be told count: --set count=…"),
    ],
)
def test_a_value_of_another_type_is_refused(given, message):
    with pytest.raises(InvalidSetting, match=message):
        fitted(World, given, "World", "--set")


def test_an_unknown_keyword_is_answered_with_the_near_ones():
    with pytest.raises(UnknownName, match="Did you mean 'count'"):
        fitted(World, {"cuont": "5"}, "World", "--set")


@pytest.mark.parametrize("key", ["env", "show"])
def test_what_a_command_line_cannot_give_is_no_keyword(key):
    with pytest.raises(UnknownName):
        fitted(World, {"count": "5", key: "x"}, "World", "--set")


def test_keywords_are_told_as_they_are_typed():
    shown = [told(parameter) for parameter in parameters(World).values()]
    assert shown == ["count=…", "name=embedded", "path=x", "rate=0.5", "kind=null", "flags=null"]


def test_an_open_signature_takes_any_keyword():
    def make(**settings: Any) -> None: ...

    assert fitted(make, {"a": "1", "b": "x"}, "make", "--set") == {"a": 1, "b": "x"}


@pytest.mark.parametrize(
    ("kind", "value", "fits"),
    [
        (bool, True, True),
        (bool, 1, False),
        (int, True, False),
        (float, True, False),
        (list[int], [1], True),
        (tuple[str, ...], ["a"], True),
        (Sequence[str], "a", False),
        (dict, [], False),
        (object, "anything", True),
        (None, None, True),
    ],
)
def test_which_values_fit_a_type(kind, value, fits):
    assert accepts(kind, value) is fits


def test_nothing_is_executed():
    text = "__import__('os').system('true')"
    assert fitted(World, {"count": "1", "name": text}, "World", "--set")["name"] == text
