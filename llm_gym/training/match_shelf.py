"""Demonstrations as a matching expert sees them: which products were seen, which was bought, with which options."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llm_gym.demonstrations import Demonstration
from llm_gym.envs.webshop.pages import RESULTS_PER_PAGE
from llm_gym.policies.matching.memory import Memory, Sighting
from llm_gym.policies.matching.page import read_page
from llm_gym.policies.matching.product_features import word_set
from llm_gym.policies.matching.wanted import wanted
from llm_gym.policies.shopper import BUY

Choice = frozenset[tuple[str, str]]
"""Option names with the values chosen."""

_COMMON = 12
"""A word says as much as any other until instructions for so many products held it."""


@dataclass
class Wish:
    """An instruction, and what all who followed it saw and bought."""

    goal: str
    products: dict[str, Sighting] = field(default_factory=dict)
    """Id → where it was found, and what was seen of it."""
    bought: dict[str, set[Choice]] = field(default_factory=dict)
    """Id → the options it was bought with."""


def wishes_of(demonstrations: Iterable[Demonstration]) -> list[Wish]:
    """Those of the demonstrations that end with a purchase, one an instruction."""
    wishes: dict[str, Wish] = {}
    for demonstration in demonstrations:
        memory, clicked = Memory(), ""
        for step in demonstration.steps:
            page = read_page(step.observation, step.actions, demonstration.goal, clicked)
            memory.see(page, step.observation)
            clicked = step.action
            memory.follow(page, clicked)
            if clicked == BUY and memory.open in memory.products:
                wish = wishes.setdefault(demonstration.goal, Wish(demonstration.goal))
                _add(wish.products, memory.products)
                wish.bought.setdefault(memory.open, set()).add(frozenset(page.chosen.items()))
    return list(wishes.values())


def _add(known: dict[str, Sighting], products: Mapping[str, Sighting]) -> None:
    """Put together what was seen of each product."""
    for asin, seen in products.items():
        before = known.get(asin, seen)
        known[asin] = replace(
            before,
            options=seen.options if before.options is None else before.options,
            features=seen.features if before.features is None else before.features,
        )


class Shelf:
    """All products of a shop that anybody saw: what one shopper passed by, another one opened.

    Results of an instruction are what its shoppers saw, filled up with the products that a search would find. Without
    those nothing could be learned about later pages, which are only turned to when the earlier ones hold nothing good.
    """

    def __init__(self, wishes: Iterable[Wish]) -> None:
        self.known: dict[str, Sighting] = {}
        for wish in wishes:
            _add(self.known, wish.products)
        self._holders: dict[str, list[str]] = {}
        """Word → products whose title holds it."""
        for asin, one in self.known.items():
            for word in word_set(one.title):
                self._holders.setdefault(word, []).append(asin)

    def results(self, wish: Wish, pages: int) -> dict[str, Sighting]:
        """So many pages of results, each product with all that anybody saw of it."""
        count = pages * RESULTS_PER_PAGE
        seen = list(wish.products)[:count]
        listed = [*seen, *self._similar(wish)[: count - len(seen)]]
        ranks = {asin: wish.products[asin].rank for asin in seen}
        return {asin: replace(self.known[asin], rank=ranks.get(asin, at)) for at, asin in enumerate(listed)}

    def _similar(self, wish: Wish) -> list[str]:
        """Products that nobody was shown, by how many words of the instruction their titles hold, rare ones first."""
        shared: dict[str, float] = {}
        for word in wanted(wish.goal).words:
            holders = self._holders.get(word, ())
            for asin in holders:
                shared[asin] = shared.get(asin, 0.0) + math.log((len(self.known) + 1) / len(holders))
        return sorted((asin for asin in shared if asin not in wish.products), key=lambda asin: (-shared[asin], asin))


def telling_words(shops: Sequence[tuple[Sequence[Wish], Shelf]]) -> dict[str, float]:
    """How often a word of an instruction stands in what was bought, for the words of many instructions.

    "Prefer" and "should" hardly ever do, the names of things mostly.
    """
    found: dict[str, list[bool]] = {}
    products: dict[str, set[str]] = {}
    for wishes, shelf in shops:
        for wish in wishes:
            for asin in wish.bought:
                seen = shelf.known[asin]
                if seen.features is None:
                    continue
                values = (value for values in (seen.options or {}).values() for value in values)
                held = frozenset[str]().union(*map(word_set, (seen.title, seen.features, *values)))
                for word in wanted(wish.goal).words:
                    found.setdefault(word, []).append(word in held)
                    products.setdefault(word, set()).add(asin)
    common = sorted(word for word in found if len(products[word]) >= _COMMON)
    return {word: round((sum(found[word]) + 1) / (len(found[word]) + 1), 3) for word in common}
