"""What the shoppers of a kind have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from llm_gym.errors import UnknownName

Level = Literal["expert", "average"]


@dataclass(frozen=True, slots=True)
class Habits:
    """Chances and shares of a wish lie in [0, 1]; a pair is the range in which shoppers differ.

    Set by hand so that sessions in the embedded catalogue look like those of people in the original shop and succeed
    about as often.
    """

    hopes: tuple[float, float]
    """Share of the wish that an item must meet to be bought at once."""
    interest: tuple[float, float]
    """Share of the wish that some title must show for a page of results to be worth a closer look."""
    yielding: float
    """How much less is hoped for after each item opened."""
    haste: float
    """Spread of what makes one result look better than another, in units of the judgement."""
    overlooks: float
    """Chance not to notice the price of a result."""
    reads: float
    """Chance to open a sub page of an item whose title and options do not show all that is wanted."""
    reads_on: float
    """Chance to open a second one where the first did not tell."""
    skips: float
    """Chance to leave out an option that was asked for; most of it in careless sessions."""
    slips: float
    """Chance to take a value with a word in common for the right one; most of it in careless sessions."""
    extra: float
    """Chance to choose a value of an option nobody asked for."""
    items: tuple[int, int]
    """Items opened before settling for the best of them."""
    priced: float
    """Chance that a query names the price."""
    wanders: float
    """Chance of a session that goes on and on."""


_HABITS: dict[Level, Habits] = {
    "expert": Habits(
        hopes=(0.45, 0.68),
        interest=(0.0, 0.2),
        yielding=0.02,
        haste=0.2,
        overlooks=0.05,
        reads=0.7,
        reads_on=0.55,
        skips=0.08,
        slips=0.08,
        extra=0.3,
        items=(2, 6),
        priced=0.05,
        wanders=0.05,
    ),
    "average": Habits(
        hopes=(0.35, 0.65),
        interest=(0.0, 0.2),
        yielding=0.03,
        haste=0.5,
        overlooks=0.1,
        reads=0.6,
        reads_on=0.35,
        skips=0.37,
        slips=0.08,
        extra=0.3,
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
    for known, habits in _HABITS.items():
        if known == level:
            return habits
    raise UnknownName("level", level, _HABITS)
