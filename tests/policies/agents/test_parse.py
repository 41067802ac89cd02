"""A command is read from whatever a model wrote, and nothing it wrote is executed."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.policies.agents.parse import DEEPEST, LONGEST, Read, Unread, read_object

REPLY: dict[str, Any] = {"thoughts": {"text": "It's here."}, "command": {"name": "click", "args": {"target": "a\nb"}}}
"""What all damaged replies of this file meant."""
CLEAN = json.dumps(REPLY)

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)
objects = st.dictionaries(st.text(), values, max_size=5)

DAMAGED = {
    "text before": f"Sure, here is my answer: {CLEAN}",
    "text after": f"{CLEAN}\n\nI hope this helps {{you}}.",
    "empty braces before": f"I fill in the form {{}}: {CLEAN}",
    "a code fence": f"```json\n{CLEAN}\n```",
    "a code fence that is not closed": f"Here:\n```\n{CLEAN}",
    "line breaks in a text": CLEAN.replace("\\n", "\n"),
    "a comma too many": CLEAN.replace("}", ",}"),
    "a comma too few": '{"thoughts": {"text": "It\'s here."} "command": {"name": "click" "args": {"target": "a\\nb"}}}',
    "single quotes": CLEAN.replace("'", "\\'").replace('"', "'"),
    "an apostrophe in single quotes": CLEAN.replace('"', "'"),
    "names without quotes": '{thoughts: {text: "It\'s here."}, command: {name: "click", args: {target: "a\\nb"}}}',
    "braces that are not closed": CLEAN.rstrip("}"),
    "a text that is not closed": CLEAN.rstrip('"}'),
    "another reply after it": f"{CLEAN}\n{CLEAN.replace('click', 'search')}",
    "a list of replies": f"[{CLEAN}, {CLEAN.replace('click', 'search')}]",
}


@pytest.mark.parametrize("damage", sorted(DAMAGED))
def test_what_was_meant_is_read_in_spite_of(damage: str) -> None:
    read = read_object(DAMAGED[damage])
    assert isinstance(read, Read)
    assert read.value == REPLY


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        (r'{"a": "C:\folder \_ \d"}', "C:\folder \\_ \\d"),  # \f is a form feed in JSON, the others escape nothing
        (r'{"a": "\u00e9 \u12"}', "é \\u12"),
        ('{"a": "press "Buy Now" twice"}', 'press "Buy Now" twice'),
        ('{"a": "size 9", (wide)"}', "size 9"),
    ],
)
def test_backslashes_and_quotes_inside_a_text(text: str, meant: str) -> None:
    read = read_object(text)
    assert isinstance(read, Read)
    assert read.value["a"] == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("{'a': True, 'b': False, 'c': None}", {"a": True, "b": False, "c": None}),
        ("{a: 3, b: -0.5, c: 007, d: size 9}", {"a": 3, "b": -0.5, "c": "007", "d": "size 9"}),
        ("{'a': [1, 'two', {'b': 3}, ], }", {"a": [1, "two", {"b": 3}]}),
        ("{'a': __import__('os').getcwd()}", {"a": "__import__("}),
    ],
)
def test_words_of_python_are_values_and_nothing_more(text: str, meant: dict[str, Any]) -> None:
    read = read_object(text)
    assert isinstance(read, Read)
    assert {key: read.value[key] for key in meant} == meant


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "The answer is empty."),
        (" \n", "The answer is empty."),
        ("I would click on it.", "The answer holds no JSON object."),
        ("<html><body>502</body></html>", "The answer holds no JSON object."),
        ("[1, 2]", "The answer holds no JSON object."),
        ("{}{}{", "The answer is no JSON that could be read."),
    ],
)
def test_where_there_is_no_object_a_sentence_says_why(text: str, hint: str) -> None:
    assert read_object(text) == Unread(hint)


def test_an_empty_object_is_an_object() -> None:
    assert read_object("{}") == Read({})


@given(objects)
def test_what_is_json_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert read_object(json.dumps(value)) == Read(value)


@given(objects.filter(bool), st.text(alphabet="abc .\n"), st.text(alphabet="abc .\n{}"))
def test_text_around_changes_nothing(value: dict[str, Any], before: str, after: str) -> None:
    read = read_object(f"{before}{json.dumps(value)} {after}")
    assert isinstance(read, Read)
    assert read.value == value


@given(objects.filter(bool))
def test_python_s_way_of_writing_gives_the_same_texts(value: dict[str, Any]) -> None:
    texts = {key: text for key, text in value.items() if isinstance(text, str) and text.isalnum() and key.isalnum()}
    if texts:
        assert read_object(repr(texts)) in (Read(texts, repaired=True), Read(texts))


@given(st.text(alphabet="{}[]\"'\\,: \nabu0") | st.text())
def test_no_text_raises(text: str) -> None:
    assert isinstance(read_object(text), Read | Unread)


MILLION = {
    "a text": "a" * 1_000_000,
    "open braces": "{" * 1_000_000,
    "objects in objects": '{"a":' * 200_000,
    "lists in an object": '{"a":' + "[" * 1_000_000,
    "quotes": '{"a": ' + '"' * 1_000_000,
    "backslashes": '{"a": "' + "\\" * 1_000_000,
    "blanks": '{"a": "' + '" ' * 500_000,
    "fences": "```\n{" * 200_000,
    "one long text": json.dumps({"a": "b" * 1_000_000}),
    "fences without an end": "```json" * 150_000 + "{",
}


@pytest.mark.parametrize("name", sorted(MILLION))
def test_a_megabyte_is_read_in_no_time(name: str) -> None:
    begin = time.process_time()
    read_object(MILLION[name])
    assert time.process_time() - begin < 10  # it takes about one; a quadratic reading would take hours


def test_only_the_beginning_of_a_very_long_answer_is_repaired() -> None:
    assert isinstance(read_object("a" * LONGEST + CLEAN), Unread)
    assert read_object(json.dumps({"a": "b" * LONGEST})) == Read({"a": "b" * LONGEST})


def test_objects_that_are_nested_too_deep_are_cut_and_not_followed() -> None:
    read = read_object("x" + '{"a":' * (DEEPEST + 10) + "1" + "}" * (DEEPEST + 10))
    assert isinstance(read, Read | Unread)
