"""Which options to choose on an item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_gym.policies.demonstrator.dice import Dice
from llm_gym.policies.demonstrator.habits import Habits
from llm_gym.policies.demonstrator.wish import Wish
from llm_gym.policies.lexical_match import best_value, words


def choices(
    wish: Wish, asin: str, offered: Mapping[str, Sequence[str]], habits: Habits, carelessness: float, dice: Dice
) -> list[str]:
    """The values to click, in order: one of every option the instruction expresses, with a person's slips.

    Now and then it is the first value of an option that nobody asked for, as people choose one before they buy.
    """
    chosen: list[str] = []
    for name, values in offered.items():
        value = best_value(wish.text, name, values)
        if value is None:
            if dice.happens(habits.extra, "extra", asin, name):
                chosen.append(values[0])
            continue
        if dice.happens(habits.skips * carelessness, "skip", asin, name):
            continue
        slips = dice.happens(habits.slips * carelessness, "slip", asin, name)
        chosen.append(_near_miss(value, values) if slips else value)
    if dice.happens(0.5, "order of options", asin):
        chosen.sort(key=lambda value: _place(value, wish.text))
    return chosen


def _near_miss(value: str, values: Sequence[str]) -> str:
    """Another value that can be taken for this one at a glance, for a word in common; itself where there is none."""
    wanted = set(words(value))
    alike = [other for other in values if other != value and wanted & set(words(other))]
    return max(alike, key=lambda other: len(wanted & set(words(other))), default=value)


def _place(value: str, text: str) -> int:
    """Where the first word of a value stands in the instruction."""
    wanted = words(text)
    return next((at for at, word in enumerate(wanted) if word in set(words(value))), len(wanted))
