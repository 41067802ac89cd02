"""A prompt never passes its budget, keeps its order, and says what it dropped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.errors import ContextOverflow, InvalidSetting
from llm_gym.llm import Assembled, Message, Part, assemble


def words(messages: Sequence[Message]) -> int:
    """A token a word: counts that a reader can check."""
    return sum(len(message.content.split()) for message in messages)


def said(name: str, *lengths: int, **how: Any) -> Part:
    """A part whose messages have so many words: `name0 name0 …`, `name1 …`."""
    return Part(name, tuple(Message("user", " ".join([f"{name}{n}"] * k)) for n, k in enumerate(lengths)), **how)


def first_words(assembled: Assembled) -> list[str]:
    return [message.content.split()[0] for message in assembled.messages]


def listed(memories: tuple[Message, ...]) -> Message:
    return Message("system", "You remember: " + " ".join(memory.content for memory in memories))


def test_everything_is_sent_where_there_is_room() -> None:
    parts = [said("base", 3), said("memory", 2, 2, keep="first"), said("history", 1, 1, keep="last"), said("ask", 1)]
    made = assemble(parts, 10, words)
    assert first_words(made) == ["base0", "memory0", "memory1", "history0", "history1", "ask0"]
    assert (made.dropped, made.tokens) == ({}, 10)


def test_the_newest_of_a_history_stay_up_to_the_first_that_finds_no_room() -> None:
    # 2 + 1 are fixed, 7 are left: 3 (newest) and 3, then 2 find no room, and the 1 before them is not tried
    made = assemble([said("base", 2), said("history", 1, 2, 3, 3, keep="last"), said("ask", 1)], 10, words)
    assert first_words(made) == ["base0", "history2", "history3", "ask0"]
    assert (made.dropped, made.tokens) == ({"history": 2}, 9)


def test_the_best_memories_stay_and_have_room_before_the_history() -> None:
    parts = [said("base", 2), said("memory", 3, 3, 3, keep="first", within=8), said("history", 1, 2, keep="last")]
    made = assemble(parts, 10, words)
    assert first_words(made) == ["base0", "memory0", "memory1", "history1"]
    assert made.dropped == {"memory": 1, "history": 1}


def test_a_base_that_fills_the_room_of_the_memories_leaves_the_history_its_own() -> None:
    parts = [said("base", 9), said("memory", 1, keep="first", within=8), said("history", 1, keep="last")]
    assert first_words(assemble(parts, 10, words)) == ["base0", "history0"]


def test_messages_that_are_sent_as_one_are_counted_as_one() -> None:
    # 1 + "You remember:" 2 + 2 + 2 = 7, with the third 9
    parts = [said("base", 1), said("memory", 2, 2, 2, keep="first", within=8, together=listed)]
    made = assemble(parts, 100, words)
    assert made.messages[1].content == "You remember: memory0 memory0 memory1 memory1"
    assert (len(made.messages), made.tokens, made.dropped) == (2, 7, {"memory": 1})


def test_no_memory_is_no_message() -> None:
    parts = [said("base", 1), said("memory", 5, keep="first", within=2, together=listed)]
    assert first_words(assemble(parts, 100, words)) == ["base0"]


def test_of_a_long_history_only_the_last_ones_are_sent() -> None:
    made = assemble([said("history", *[1] * 15, keep="last", at_most=10)], 100, words)
    assert first_words(made) == [f"history{number}" for number in range(5, 15)]
    assert made.dropped == {"history": 5}


def test_fixed_parts_that_are_too_long_are_said() -> None:
    with pytest.raises(ContextOverflow, match=r"have 1,201 tokens \(base 1,200, ask 1\), and the budget is 1,000"):
        assemble([said("base", 1_200), said("history", 1, keep="last"), said("ask", 1)], 1_000, words)


def test_parts_of_the_same_name_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="names of their own"):
        assemble([said("a", 1), said("a", 1)], 10, words)


LENGTHS = st.lists(st.integers(1, 9), max_size=14)


@given(
    base=st.lists(st.integers(1, 9), max_size=2),
    memories=LENGTHS,
    history=LENGTHS,
    budget=st.integers(0, 60),
    within=st.none() | st.integers(0, 40),
    at_most=st.none() | st.integers(0, 12),
    as_one=st.booleans(),
)
def test_no_prompt_passes_its_budget_loses_its_order_or_hides_what_it_dropped(
    base: list[int],
    memories: list[int],
    history: list[int],
    budget: int,
    within: int | None,
    at_most: int | None,
    as_one: bool,
) -> None:
    parts = [
        said("base", *base),
        said("memory", *memories, keep="first", within=within, together=listed if as_one else None),
        said("history", *history, keep="last", at_most=at_most),
        said("ask", 2),
    ]
    if sum(base) + 2 > budget:
        with pytest.raises(ContextOverflow):
            assemble(parts, budget, words)
        return
    made = assemble(parts, budget, words)
    assert made.tokens == words(made.messages) <= budget
    sent = [word for message in made.messages for word in dict.fromkeys(message.content.split())]
    kept_memories = len(memories) - made.dropped.get("memory", 0)
    dropped_history = made.dropped.get("history", 0)
    intro = ["You", "remember:"] if as_one and kept_memories else []
    assert sent == [
        *(f"base{number}" for number in range(len(base))),
        *intro,
        *(f"memory{number}" for number in range(kept_memories)),
        *(f"history{number}" for number in range(dropped_history, len(history))),
        "ask0",
    ]
    # What was dropped first had no room; worked out from the lengths alone.
    memory_tokens = sum(memories[:kept_memories]) + len(intro)
    if kept_memories < len(memories):
        more = sum(base) + sum(memories[: kept_memories + 1]) + (2 if as_one else 0)
        assert more + 2 > budget or (within is not None and more > within)
    shown = len(history) - dropped_history
    if dropped_history and shown != at_most:
        assert sum(base) + memory_tokens + sum(history[dropped_history - 1 :]) + 2 > budget
