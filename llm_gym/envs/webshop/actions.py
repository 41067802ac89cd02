"""The two actions of a shopper, and what text stands for them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_CORRECTED = re.compile(r"(search|click)\s*\[(.*)\]", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Search:
    """Look for products; the query is lower-case."""

    query: str


@dataclass(frozen=True, slots=True)
class Click:
    """Follow a link, press a button or choose an option; the target is lower-case."""

    target: str


@dataclass(frozen=True, slots=True)
class Malformed:
    """Text that is no action."""

    reason: str


Action = Search | Click | Malformed
_HINT = "write search[words] or click[what the page shows]"


def parse(text: str) -> Action:
    """The action that a text stands for.

    The name ends at the first bracket and the argument at the last one, so that an option with brackets can be
    clicked; space around the action and between name and bracket does not matter, text before or after does.

    >>> parse("click[size [wide]]")
    Click(target='size [wide]')
    """
    match = _CORRECTED.fullmatch(text.strip())
    if match is None:
        return Malformed(f"{_shown(text)} is not an action: {_HINT}.")
    argument = match[2].strip().lower()
    if not argument:
        return Malformed(f"{_shown(text)} has nothing between the brackets: {_HINT}.")
    return Search(argument) if match[1].lower() == "search" else Click(argument)


def parse_original(text: str) -> Action:
    """The original's parser, defects included.

    The name is all before the *last* bracket, so an option that contains a bracket cannot be clicked; what follows the
    closing bracket is ignored; a line break before the bracket makes it no action.

    >>> parse_original("click[size [wide]]")
    Malformed(reason="'click[size [wide]]' is not an action: write search[words] or click[what the page shows].")
    >>> parse_original("search[Red Shoes] and more")
    Search(query='red shoes')
    """
    # What re.match(r"(.+)\[(.+)\]", text) finds; the expression itself takes minutes for a long row of brackets.
    line = text.partition("\n")[0]
    end = line.rfind("]")
    start = line.rfind("[", 1, max(end - 1, 0))
    if start < 0 or line[:start] not in ("search", "click"):
        return Malformed(f"{_shown(text)} is not an action: {_HINT}.")
    argument = line[start + 1 : end].lower()
    return Search(argument) if line[:start] == "search" else Click(argument)


def can_be_clicked(name: str, parse: Callable[[str], Action]) -> bool:
    """Whether a parser understands the click of a name: the original's cuts names at brackets and line breaks."""
    action = parse(f"click[{name}]")
    return isinstance(action, Click) and action.target.strip() == name.strip().lower()


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:77] + "…")
