"""A prompt is made of named parts, in one place, under a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from llm_gym.errors import ContextOverflow, InvalidSetting
from llm_gym.llm.chat import Message

Count = Callable[[Sequence[Message]], int]
"""Tokens of a conversation."""


@dataclass(frozen=True, slots=True)
class Part:
    """Messages that stand together in a prompt.

    Attributes:
        name: of the part, for the record of what was dropped.
        messages: in the order in which they are sent.
        keep: what stays when there is no room for all. "all": the part is never cut. "first": the first ones, up to the
            first that finds no room, as for memories of which the best is the first. "last": the last ones, as for a
            history.
        at_most: messages that are sent, whatever the room; None: any number.
        within: tokens that this part may take together with all parts before it; None: the budget alone counts.
        together: makes one message of those that are kept, where they are sent as one; their tokens are counted so.
    """

    name: str
    messages: tuple[Message, ...]
    keep: Literal["all", "first", "last"] = "all"
    at_most: int | None = None
    within: int | None = None
    together: Callable[[tuple[Message, ...]], Message] | None = None

    def sent(self, number: int) -> tuple[Message, ...]:
        """What is sent when so many messages are kept."""
        if number == 0:
            return ()
        kept = self.messages[-number:] if self.keep == "last" else self.messages[:number]
        return (self.together(kept),) if self.together is not None else kept


@dataclass(frozen=True, slots=True)
class Assembled:
    """A prompt, and what found no room in it."""

    messages: tuple[Message, ...]
    dropped: Mapping[str, int]
    """Part → how many of its messages are not sent; parts that are sent whole are not named."""
    tokens: int


def assemble(parts: Sequence[Part], budget: int, count: Count) -> Assembled:
    """The prompt of at most `budget` tokens.

    The parts stand in their order. Those that are never cut have their room first; the others are filled one after the
    other, so an earlier one goes before a later one.

    Raises:
        ContextOverflow: the parts that are never cut are too long by themselves.
        InvalidSetting: two parts have the same name.
    """
    if len({part.name for part in parts}) < len(parts):
        raise InvalidSetting(f"Parts of a prompt need names of their own, got {', '.join(p.name for p in parts)}.")
    kept = [len(part.messages) if part.keep == "all" else 0 for part in parts]
    if (fixed := count(_messages(parts, kept))) > budget:
        sizes = ", ".join(f"{part.name} {count(part.messages):,}" for part in parts if part.keep == "all")
        raise ContextOverflow(
            f"The parts that are never cut have {fixed:,} tokens ({sizes}), and the budget is {budget:,}: "
            f"shorten them, or allow more."
        )
    for place, part in enumerate(parts):
        if part.keep != "all":
            kept[place] = _most(parts, kept, place, budget, count)
    messages = _messages(parts, kept)
    dropped = {
        part.name: len(part.messages) - number
        for part, number in zip(parts, kept, strict=True)
        if number < len(part.messages)
    }
    return Assembled(messages, dropped, count(messages))


def _messages(parts: Sequence[Part], kept: Sequence[int]) -> tuple[Message, ...]:
    return tuple(message for part, number in zip(parts, kept, strict=True) for message in part.sent(number))


def _most(parts: Sequence[Part], kept: Sequence[int], place: int, budget: int, count: Count) -> int:
    """How many messages of a part find room; the search ends with the first that finds none."""
    part = parts[place]
    most = len(part.messages) if part.at_most is None else min(part.at_most, len(part.messages))
    for number in range(1, most + 1):
        tried = [*kept[:place], number, *kept[place + 1 :]]
        until_here = _messages(parts[: place + 1], tried[: place + 1])
        too_much = part.within is not None and count(until_here) > part.within
        if too_much or count(_messages(parts, tried)) > budget:
            return number - 1
    return most
