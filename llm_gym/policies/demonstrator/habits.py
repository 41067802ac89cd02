"""How a kind of shopper behaves: shares measured on people (WebShop's human sessions and queries)."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal, get_args

from llm_gym.errors import UnknownName

Level = Literal["expert", "average"]


@dataclass(frozen=True, slots=True)
class Habits:
    """Probabilities are in [0, 1]; shares of a wish as well."""

    hopes: tuple[float, float]
    """Share of the wish that an item must meet to be bought at once: lowest and highest among shoppers."""
    interest: tuple[float, float]
    """Share of the wish that a title must show to be opened before pages are turned: lowest and highest."""
    yielding: float
    """How much of this hope each item left behind takes."""
    haste: float
    """Spread of what makes one result look better than another, in units of the judgement."""
    overlooks: float
    """Chance not to notice the price of a result."""
    reads: float
    """Chance to open a sub page of an item whose title does not show all that is wanted."""
    reads_on: float
    """Chance to open the other one where the first did not tell."""
    skips: float
    """Chance to leave out an option that was asked for; half of it for the first of an item, twice for others."""
    slips: float
    """Chance to take a value with a word in common for the right one."""
    extra: float
    """Chance to choose a value of an option nobody asked for."""
    items: tuple[int, int]
    """How many items a shopper opens before settling for the best: fewest and most."""
    priced: float
    """Chance that a query names the price."""
    wanders: float
    """Chance of a session that goes on and on."""


_HABITS: dict[Level, Habits] = {
    "expert": Habits(
        hopes=(0.45, 0.72),
        interest=(0.0, 0.2),
        yielding=0.02,
        haste=0.25,
        overlooks=0.05,
        reads=0.7,
        reads_on=0.55,
        skips=0.08,
        slips=0.08,
        extra=0.25,
        items=(3, 6),
        priced=0.05,
        wanders=0.05,
    ),
    "average": Habits(
        hopes=(0.2, 0.5),
        interest=(0.0, 0.2),
        yielding=0.03,
        haste=1.0,
        overlooks=0.15,
        reads=0.45,
        reads_on=0.25,
        skips=0.37,
        slips=0.08,
        extra=0.25,
        items=(1, 4),
        priced=0.2,
        wanders=0.05,
    ),
}


def habits_of(level: str) -> Habits:
    """The habits of a level.

    Raises:
        UnknownName: there is no such level.
    """
    if level not in get_args(Level):
        raise UnknownName("level", level, get_args(Level))
    return _HABITS[level]  # type: ignore[index]


@dataclass(frozen=True, slots=True)
class Temper:
    """What differs from session to session."""

    hope: float
    """Share of the wish that the first item must meet to be bought."""
    interest: float
    """Share of the wish that a title must show to be opened before pages are turned."""
    items: int
    """Items to open before the best of them is bought."""
    patience: int
    """Pages to see before the best item is bought."""
    queries: int
    """Searches at most."""
    tires: float
    """Chance to look elsewhere than on this page of results after an item that was left."""
    turns: float
    """Chance to look elsewhere on the next page of results, rather than by another search."""

    @staticmethod
    def draw(habits: Habits, stream: random.Random) -> Temper:
        if stream.random() < habits.wanders:
            return Temper(
                hope=1.2,
                interest=stream.uniform(0.2, 0.5),
                items=stream.randint(4, 8),
                patience=stream.randint(42, 75),
                queries=3,
                tires=0.7,
                turns=0.9,
            )
        return Temper(
            patience=40,
            hope=stream.uniform(*habits.hopes),
            interest=stream.uniform(*habits.interest),
            items=stream.randint(*habits.items),
            queries=stream.choices((1, 2, 3, 4), (0.1, 0.5, 0.3, 0.1))[0],
            tires=0.1,
            turns=stream.choices((0.0, 0.6), (0.65, 0.35))[0],
        )
