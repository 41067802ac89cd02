"""JSON files element by element: what Python's own parser reads, and where a damaged text stops."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.webshop import json_stream
from llm_gym.envs.webshop.json_stream import Damaged, list_elements, object_items

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.fixture(autouse=True, scope="module")
def small_blocks() -> Iterator[None]:
    """Blocks of three characters, so that every element crosses several."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_FIRST_BLOCK", 3)
        yield


@given(st.lists(values, max_size=5), st.sampled_from([None, 2]), st.booleans())
def test_a_list_reads_as_pythons_parser_reads_it(elements: list[object], indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(elements, indent=indent, ensure_ascii=ascii_only)
    assert list(list_elements(io.StringIO(text))) == elements


@given(st.dictionaries(st.text(), values, max_size=5), st.sampled_from([None, 2]))
def test_an_object_reads_as_pythons_parser_reads_it(entries: dict[str, object], indent: int | None) -> None:
    assert list(object_items(io.StringIO(json.dumps(entries, indent=indent)))) == list(entries.items())


def test_nan_and_long_integers_are_read() -> None:
    nan, number = list_elements(io.StringIO("[NaN, 123456789012345678901234567890]"))
    assert math.isnan(nan)
    assert number == 123456789012345678901234567890


def test_repeated_keys_are_all_given() -> None:
    assert list(object_items(io.StringIO('{"a": 1, "a": 2}'))) == [("a", 1), ("a", 2)]


@given(st.lists(values, min_size=1, max_size=4), st.data())
def test_a_list_cut_off_anywhere_gives_its_first_elements_and_then_fails(
    elements: list[object], data: st.DataObject
) -> None:
    text = json.dumps(elements)
    cut = data.draw(st.integers(0, len(text) - 1))
    read: list[object] = []
    with pytest.raises(Damaged):
        read.extend(list_elements(io.StringIO(text[:cut])))
    # A number that is cut in two is a number still; the list that does not end gives it away.
    assert read[:-1] == elements[: len(read)][:-1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "does not begin with a list"),
        ('{"a": 1}', "does not begin with a list"),
        ("[1 2]", "does not end"),
        ("[1,]", "nothing after it"),
        ("[1] [2]", "after its end"),
        ("[1,", "Expecting value"),
        ('["a', "Unterminated string"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_wrong_with_a_list_is_said(text: str, reason: str) -> None:
    with pytest.raises(Damaged, match=reason):
        list(list_elements(io.StringIO(text)))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[]", "does not begin with an object"),
        ("{1: 2}", "has no name"),
        ('{"a" 1}', "has no value"),
        ('{"a": 1', "does not end"),
        ('{"a": }', "Expecting value"),
        ('{"a": 1,}', "nothing after it"),
        ('{"a": 1} and more', "after its end"),
    ],
)
def test_what_is_wrong_with_an_object_is_said(text: str, reason: str) -> None:
    with pytest.raises(Damaged, match=reason):
        list(object_items(io.StringIO(text)))


def test_an_element_without_end_is_not_read_into_memory_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_stream, "MAX_ELEMENT_CHARS", 100)
    file = io.StringIO('["' + "x" * 10_000)
    with pytest.raises(Damaged, match="Unterminated string"):
        list(list_elements(file))
    assert file.tell() < 1_000
