"""Where things are likely to be in a household of ALFWorld: counts over the training games.

`benchmarks/alfworld_places.py` makes the table. Of each kind of place it says how many there are, how many of them are
shut at the beginning, and how many hold at least one thing of each kind.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import TypedDict

_WEIGHT = 2.0
"""So many places more of every kind are thought to be there, of which the average share holds the thing."""


class _Places(TypedDict):
    number: int
    shut: int
    holds: dict[str, int]


def word_of(name: str) -> str:
    """The kind of a thing or place: `cabinet 3` is a `cabinet`."""
    return name.rpartition(" ")[0]


@cache
def known_places() -> dict[str, _Places]:
    """The table, by the word of a place."""
    table: dict[str, _Places] = json.loads((files(__package__) / "places.json").read_text(encoding="utf-8"))
    return table


@cache
def probability(thing: str, place: str) -> float:
    """That a place of a kind holds at least one thing of a kind; above 0, also for kinds that no table knows."""
    at = known_places().get(place)
    held, number = (at["holds"].get(thing, 0), at["number"]) if at is not None else (0, 0)
    return (held + _WEIGHT * _average(thing)) / (number + _WEIGHT)


@cache
def probably_shut(place: str) -> float:
    """The probability that a place of a kind has a door that is shut at the beginning."""
    at = known_places().get(place)
    return at["shut"] / at["number"] if at is not None else 0.5


@cache
def _average(thing: str) -> float:
    places = known_places().values()
    return (sum(at["holds"].get(thing, 0) for at in places) + 1) / (sum(at["number"] for at in places) + 1)
