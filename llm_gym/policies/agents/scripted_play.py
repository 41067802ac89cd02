"""What the scripted model does on a page, judged by the text alone."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from llm_gym.envs.webshop.goals import query_of
from llm_gym.llm.chat import Message
from llm_gym.policies.alfworld.goals import Look, Put, read_goal
from llm_gym.policies.lexical_match import named_value, price_limit, typical_price
from llm_gym.policies.shopper import search_action

_BUTTON = re.compile(r"\[(?:clicked )?button\] (.+?) \[(?:clicked )?button_\]")
_GROUP = re.compile(r"^(\S.*)\n((?:  \[(?:clicked )?button\] .*\n?)+)", re.MULTILINE)
_RESULT = re.compile(r"^\[button\] (\S+) \[button_\]\n.+\n(\$.+)$", re.MULTILINE)
_INSTRUCTION = re.compile(r"Instruction:\s*(.+)")
_POSSIBLE = re.compile(r"^Possible now: (.+)$", re.MULTILINE)
_TASK = re.compile(r"Your task is to: (.+)")
END = "{'reward': "
"""On the page of a task that has ended, where a loop asks once more."""
HASTE = 0.3
"""Probability to buy on the page of an item, whatever is left to choose there."""
DOUBT = 0.04
"""Probability to think on a page of the house that the task is done."""
_TOOLS = {"clean": "sinkbasin", "heat": "microwave", "cool": "fridge"}


def next_action(page: str, messages: Sequence[Message], chance: random.Random) -> str | None:
    """The action for the page shown last; None: stop."""
    if END in page:
        return None
    if "[button]" in page:
        return _in_shop(page, chance)
    listed = _POSSIBLE.findall(page)
    if not listed:
        return None
    possible: list[str] = listed[-1].split("; ")
    task = _TASK.search(messages[0].content)
    errand: Put | Look | None = read_goal(task[1]) if task else None
    if errand is None:
        return chance.choice(possible)
    if chance.random() < DOUBT:
        return None
    return _House(possible, messages, chance).next(errand)


# -- the shop ------------------------------------------------------------------------------------------------------


def _in_shop(page: str, chance: random.Random) -> str | None:
    """Search the instruction, open the first result that is not too dear, choose what is named, buy, often too soon."""
    buttons = _BUTTON.findall(page)
    goal = found[1] if (found := _INSTRUCTION.search(page)) else ""
    if "Search" in buttons:
        return search_action(query_of(goal))
    if "Buy Now" in buttons:
        return "click[Buy Now]" if chance.random() < HASTE else _on_item(page, goal)
    if "< Prev" in buttons and "(Total results" not in page:
        return "click[< Prev]"
    return _best_result(page, goal)


def _best_result(page: str, goal: str) -> str | None:
    results = _RESULT.findall(page)
    limit = price_limit(goal)
    affordable = [
        asin for asin, tag in results if limit is None or (price := typical_price(tag)) is None or price <= limit
    ]
    first = next(iter([*affordable, *(asin for asin, _ in results)]), None)
    return None if first is None else f"click[{first}]"


def _on_item(page: str, goal: str) -> str:
    for _, lines in _GROUP.findall(page):
        value = named_value(goal, _BUTTON.findall(lines))
        was_refused = "There is nothing called" in page.partition("\n")[0]
        if value is not None and f"[clicked button] {value} [" not in lines and not was_refused:
            return f"click[{value}]"
    return "click[Buy Now]"


# -- the house -----------------------------------------------------------------------------------------------------


class _House:
    """Does a chore by what is possible now and what the prompt still tells of the past."""

    def __init__(self, possible: Sequence[str], messages: Sequence[Message], chance: random.Random) -> None:
        self.possible, self.chance = possible, chance
        past = messages[1:]
        self.past = "\n".join(message.content for message in past)
        said = [message for message in past if message.role == "assistant"]
        commands = "\n".join([*(m.content for m in said), *(call.arguments for m in said for call in m.tool_calls)])
        self.visited = {*re.findall(r"go to (\w+ \d+)", commands), *re.findall(r"arrive at (\w+ \d+)", self.past)}

    def next(self, errand: Put | Look) -> str | None:
        thing = self._one(rf"examine ({errand.thing} \d+)")
        if thing is None:
            kept_there = errand.place if isinstance(errand, Put) else None
            take = self._command(rf"take {errand.thing} \d+ from (?!{kept_there} )")
            return take or self._search()
        if isinstance(errand, Look):
            return self._command(rf"use {errand.lamp} \d+") or self._search()
        if errand.treatment and not re.search(rf"You {errand.treatment} the {thing}", self.past):
            return self._command(f"{errand.treatment} {thing} with ") or self._go(_TOOLS[errand.treatment])
        put = self._command(rf"(?:move|put) {thing} (?:to|in/on) {errand.place} \d+")
        return put or self._command(rf"open {errand.place} \d+") or self._go(errand.place)

    def _search(self) -> str | None:
        """Open what is closed here, else go where it has not been."""
        return self._command("open ") or self._go(r"\w+")

    def _go(self, kind: str) -> str | None:
        ways = [one for one in self.possible if re.fullmatch(rf"go to {kind} \d+", one)]
        new = [one for one in ways if one.removeprefix("go to ") not in self.visited]
        if not ways:
            ways = [one for one in self.possible if one.startswith("go to ")]
        return self.chance.choice(new or ways) if ways else None

    def _command(self, pattern: str) -> str | None:
        return next((one for one in self.possible if re.match(pattern, one)), None)

    def _one(self, pattern: str) -> str | None:
        return next((found[1] for one in self.possible if (found := re.fullmatch(pattern, one))), None)
