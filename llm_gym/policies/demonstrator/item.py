"""What has been seen of an item, and how well it meets the wish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from llm_gym.policies.demonstrator.wish import Seen, Wish
from llm_gym.policies.lexical_match import best_value, typical_price, words
from llm_gym.policies.shopper import Result


class Place(NamedTuple):
    """Where a result was found."""

    query: str
    page: int
    """Page of results, counted from 1."""


_READ = 0.1
"""What a sub page that was read takes from the worth: long texts hold any word."""


@dataclass(frozen=True, slots=True)
class Impression:
    """An opened item."""

    result: Result
    place: Place
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    read: Mapping[str, str] = field(default_factory=dict)
    """Name of a sub page → its text."""
    left: bool = False
    """Whether the shopper has gone back from it."""

    def seen(self) -> Seen:
        """All that was seen of the item."""
        options = tuple((name, *values) for name, values in self.options.items())
        return _seen(self.result.title, options, tuple(self.read.values()))

    def missing(self, wish: Wish) -> frozenset[str]:
        """Wanted words that nothing seen so far has."""
        return wish.missing(self.seen())

    def worth(self, wish: Wish) -> float:
        """How well it meets the wish: 1 when title and options show every word, more when options are met in full.

        0 when it costs too much.
        """
        if not wish.affordable(typical_price(self.result.price)):
            return 0.0
        options = len(options_in_full(wish, self.options))
        return wish.met(self.seen(), options) - _READ * len(self.read)


@lru_cache(maxsize=4096)
def _seen(title: str, options: tuple[tuple[str, ...], ...], read: tuple[str, ...]) -> Seen:
    return Seen.of((title, *(text for group in options for text in group), *read))


def options_in_full(wish: Wish, offered: Mapping[str, Sequence[str]]) -> list[str]:
    """The values that meet what the instruction says of their option, every word of them wanted."""
    best = (best_value(wish.text, name, values) for name, values in offered.items())
    wanted = set(words(wish.text))
    return [value for value in best if value is not None and set(words(value)) <= wanted]
