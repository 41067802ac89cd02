"""What a page of the shop says, read from its text alone: a demonstration holds no more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from llm_gym.policies.shopper import Result, ShopPage

_OPTION = re.compile(r"  \[(clicked button|button)\] (.*) \[\1_\]")
_LINK = re.compile(r"\[(clicked button|button)\] (.*) \[\1_\]")
_NUMBER = re.compile(r"\bPage (\d+) \(Total results")
_SEARCH, _BUY = "[button] Search [button_]", "[button] Buy Now [button_]"
_HEAD_END = "[button] < Prev [button_]\n"
_PREVIOUS = "< Prev"
_THANKS = "Thank you for shopping with us!"
_PRICE = "Price: "


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """What an item page says beside its options."""

    title: str
    price: str


def read_page(text: str, actions: Sequence[str], goal: str, clicked: str = "") -> ShopPage:
    """The page of a text in the mode `text_rich`, as `ShopPage.read` gives it where there is an `info`.

    Args:
        text: the page.
        actions: what can be done there.
        goal: the instruction.
        clicked: the action that led here. The text of a sub page does not say which one it is.
    """
    page = ShopPage("", goal, tuple(actions), (), {}, {})
    if text.startswith(_THANKS):
        return _with(page, "done")
    if _HEAD_END not in text and text.rstrip("\n").endswith(_SEARCH):
        return _with(page, "search")
    if text.rstrip("\n").endswith(_BUY):
        return _item(page, text)
    if page_number(text) is not None:
        return _with(page, "results", results=_results(text))
    return _with(page, clicked.removeprefix("click[").removesuffix("]"))


def page_number(text: str) -> int | None:
    """The number on a results page, from 1; None where there is none.

    >>> page_number("Page 2 (Total results: 50)")
    2
    """
    found = _NUMBER.search(text)
    return int(found[1]) if found else None


def item_texts(text: str) -> ItemTexts | None:
    """Title and price tag of an item page in the mode `text_rich`; None of another page."""
    lines, after_options = _item_lines(text)
    price = next((at for at in reversed(range(after_options, len(lines))) if lines[at].startswith(_PRICE)), None)
    if price is None:
        return None
    return ItemTexts("\n".join(lines[after_options:price]), lines[price].removeprefix(_PRICE))


def body(text: str) -> str:
    """What a sub page adds to its head, in a mode that shows text; "" where that cannot be told."""
    after = text.partition(_PREVIOUS)[2]
    return after.partition("\n")[2] if after.startswith(" [button_]") else after


def _with(page: ShopPage, screen: str, results: tuple[Result, ...] = ()) -> ShopPage:
    return ShopPage(screen, page.goal, page.admissible, results, {}, {})


def _results(text: str) -> tuple[Result, ...]:
    """A blank line and a link begin a result; its last line is the price, all between is the title."""
    found: list[tuple[str, list[str]]] = []
    lines = text.split("\n")
    for before, line in pairwise(lines):
        link = _LINK.fullmatch(line) if not before else None
        if link:
            found.append((link[2], []))
        elif found:
            found[-1][1].append(line)
    return tuple(_result(asin, below) for asin, below in found)


def _result(asin: str, below: list[str]) -> Result:
    while below and not below[-1]:
        below = below[:-1]
    return Result(asin, "\n".join(below[:-1]), below[-1] if below else "")


def _item_lines(text: str) -> tuple[list[str], int]:
    """The lines below the head, and where the options end."""
    lines = text.partition(_HEAD_END)[2].rstrip("\n").split("\n")
    return lines, 1 + max((at for at, line in enumerate(lines) if _OPTION.fullmatch(line)), default=-1)


def _item(page: ShopPage, text: str) -> ShopPage:
    lines, after_options = _item_lines(text)
    options: dict[str, list[str]] = {}
    chosen: dict[str, str] = {}
    name = ""
    for line in lines[:after_options]:
        option = _OPTION.fullmatch(line)
        if option is None:
            name = line
            continue
        options.setdefault(name, []).append(option[2])
        if option[1] == "clicked button":
            chosen[name] = option[2]
    return ShopPage("item", page.goal, page.admissible, (), options, chosen)
