"""Commands of one wording in the other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording, reworded

PUT = "put egg 2 in/on fridge 1"
MOVE = "move egg 2 to fridge 1"


@pytest.mark.parametrize(
    ("command", "wording", "expected"),
    [
        (PUT, CURRENT, MOVE),
        (MOVE, ORIGINAL, PUT),
        (PUT, ORIGINAL, PUT),
        (MOVE, CURRENT, MOVE),
        ("go to fridge 1", CURRENT, "go to fridge 1"),
        ("go to fridge 1", ORIGINAL, "go to fridge 1"),
        ("take egg 2 from fridge 1", ORIGINAL, "take egg 2 from fridge 1"),
        ("slice egg 2 with knife 1", CURRENT, "slice egg 2 with knife 1"),
        ("look", CURRENT, "look"),
        ("", CURRENT, ""),
        ("put egg 2", CURRENT, "put egg 2"),
        ("please put egg 2 in/on fridge 1", CURRENT, "please put egg 2 in/on fridge 1"),
        ("put {receptacle} 1 in/on fridge 1", CURRENT, "move {receptacle} 1 to fridge 1"),
    ],
)
def test_only_putting_is_said_differently(command: str, wording: Wording, expected: str) -> None:
    assert reworded(command, wording) == expected


@given(st.from_regex(r"[a-z]{1,9} [1-9]", fullmatch=True), st.from_regex(r"[a-z]{1,9} [1-9]", fullmatch=True))
def test_there_and_back_is_the_same_command(thing: str, place: str) -> None:
    move = f"move {thing} to {place}"
    assert reworded(reworded(move, ORIGINAL), CURRENT) == move
