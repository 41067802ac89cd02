"""Texts as the models of the WebShop paper read them (its appendix B and code)."""

from __future__ import annotations

import re

MARKERS = ("[button]", "[button_]", "[clicked button]", "[clicked button_]")
"""Tokens of their own in the choice model's vocabulary."""

_QUOTES = str.maketrans("", "", "\"'")
_HEADINGS = ("webshop\ninstruction:", "amazon shopping game\ninstruction:")
_SEARCH_BUTTON = "\n[button] search [button_]"
_PRICE_CLAUSE = ", and price lower than"
_SEPARATOR = re.compile(re.escape("[sep]"))


def process(text: str) -> str:
    """A state or an action: lower-case, without quotes, the separator as the tokenizer knows it.

    >>> process('Click["Red" Shoe] [SEP] x ')
    'click[red shoe] [SEP] x'
    """
    return _SEPARATOR.sub("[SEP]", text.lower().translate(_QUOTES).strip())


def process_goal(text: str) -> str:
    """An instruction, or the first page of an episode that holds it, without page parts and price clause.

    >>> process_goal("i need a 'red' shoe, and price lower than 40.00 dollars")
    'i need a red shoe'
    """
    goal = text.lower().translate(_QUOTES)
    for heading in _HEADINGS:
        goal = goal.replace(heading, "")
    return goal.replace(_SEARCH_BUTTON, "").strip().split(_PRICE_CLAUSE)[0]


def process_query(text: str) -> str:
    """A search query of a demonstration.

    >>> process_query(' "Red" shoe ')
    'red shoe'
    """
    return text.lower().translate(_QUOTES).strip()
