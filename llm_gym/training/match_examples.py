"""What a matching expert learns from demonstrations: rows of numbers, each with a "yes" or a "no"."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from llm_gym.demonstrations import Demonstration
from llm_gym.policies.matching.memory import Memory, Sighting
from llm_gym.policies.matching.model import evidence_of
from llm_gym.policies.matching.option_features import OPTION_FEATURES, option_features
from llm_gym.policies.matching.page import read_page
from llm_gym.policies.matching.product_features import PRODUCT_FEATURES, OptionFit, Scale, product_features, word_set
from llm_gym.policies.matching.wanted import wanted
from llm_gym.policies.shopper import BUY, ShopPage

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Purchase:
    """What a demonstration comes down to: the products seen, the one bought, the options chosen."""

    goal: str
    products: Mapping[str, Sighting]
    bought: str
    chosen: Mapping[str, str]


@dataclass
class Examples:
    """Rows that a forest learns from."""

    rows: list[Sequence[float]] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, row: Sequence[float], label: bool, weight: float = 1.0) -> None:
        self.rows.append(row)
        self.labels.append(label)
        self.weights.append(weight)


def purchase_of(demonstration: Demonstration) -> Purchase | None:
    """What was bought, and beside what; None where nothing was."""
    memory, clicked = Memory(), ""
    for step in demonstration.steps:
        page = read_page(step.observation, step.actions, demonstration.goal, clicked)
        memory.see(page, step.observation)
        clicked = step.action
        if clicked == BUY and memory.open in memory.products:
            return Purchase(demonstration.goal, memory.products, memory.open, page.chosen)
        memory.follow(page, clicked)
    return None


def known_products(purchases: Iterable[Purchase]) -> dict[str, Sighting]:
    """All that anybody saw of each product, by id: a product that one shopper passed by, another one opened."""
    known: dict[str, Sighting] = {}
    for purchase in purchases:
        for asin, seen in purchase.products.items():
            before = known.get(asin, seen)
            known[asin] = replace(
                before,
                options=seen.options if before.options is None else before.options,
                features=seen.features if before.features is None else before.features,
)
    return known


def option_examples(purchases: Iterable[Purchase], rng: random.Random) -> Examples:
    """Each value of the bought product's options: chosen or not."""
    examples = Examples()
    for purchase in purchases:
        options = purchase.products[purchase.bought].options or {}
        sought = wanted(purchase.goal)
        for name, values in options.items():
            labels = [value == purchase.chosen.get(name) for value in values]
            refused = [at for at, label in enumerate(labels) if not label]
            kept = rng.sample(refused, min(MOST_REFUSED, len(refused)))
            rows = option_features(sought, name, values)
            for at in (*(at for at, label in enumerate(labels) if label), *kept):
                examples.add(rows[at], labels[at], 1.0 if labels[at] else len(refused) / len(kept))
    return examples


MOST_REFUSED = 30
"""So many values of an option that were not chosen are looked at."""
MOST_PASSED_BY = 12
"""So many products that were not bought are looked at."""

Fits = "Callable[[str, Mapping[str, Sequence[str]]], tuple[OptionFit, ...]]"


def product_examples(purchases, known, fits, telling, rng: random.Random) -> Examples:
    """Each product at every stage of what could be seen of it: bought or not."""
    examples = Examples()
    bought: dict[str, set[str]] = {}
    for purchase in purchases:
        bought.setdefault(purchase.goal, set()).add(purchase.bought)
    shelf = Shelf(known)
    for purchase in purchases:
        results = shelf.results(purchase, rng.choice(PAGES))
        scale = Scale(wanted(purchase.goal), [one.title for one in results.values()], telling)
        passed = [asin for asin in results if asin not in bought[purchase.goal]]
        kept = rng.sample(passed, min(MOST_PASSED_BY, len(passed)))
        chosen = [asin for asin in results if asin in bought[purchase.goal]]
        for asin in (*chosen, *kept):
            label = asin in bought[purchase.goal]
            weight = 1.0 if label else len(passed) / len(kept)
            for stage in stages(results[asin]):
                options = None if stage.options is None else fits(purchase.goal, stage.options)
                row = product_features(scale, evidence_of(stage, options))
                examples.add(row, label, weight)
    return examples


PAGES = (1, 2, 3, 5)


class Shelf:
    """All products that were seen by anybody, to fill up what one shopper saw."""

    def __init__(self, known: Mapping[str, Sighting]) -> None:
        self.known = known
        self.holding: dict[str, list[str]] = {}
        for asin, one in known.items():
            for word in word_set(one.title):
                self.holding.setdefault(word, []).append(asin)

    def results(self, purchase: Purchase, pages: int) -> dict[str, Sighting]:
        """So many pages of results: those that were seen, then others in the order of what their titles share."""
        count = 10 * pages
        seen = list(purchase.products)[:count]
        score: dict[str, float] = {}
        for word in wanted(purchase.goal).words:
            holders = self.holding.get(word, ())
            for asin in holders:
                score[asin] = score.get(asin, 0.0) + math.log((len(self.known) + 1) / len(holders))
        others = sorted((asin for asin in score if asin not in purchase.products), key=lambda asin: -score[asin])
        listed = [*seen, *others[: count - len(seen)]]
        return {
            asin: replace(self.known[asin], rank=purchase.products[asin].rank if asin in purchase.products else at)
            for at, asin in enumerate(listed)
        }


def stages(seen: Sighting) -> Iterator[Sighting]:
    """A product as it becomes known: among the results, opened, its features read."""
    opened = replace(seen, features=None)
    yield replace(opened, options=None)
    if seen.options is not None:
        yield opened
        if seen.features is not None:
            yield seen


def telling_words(purchases: Sequence[Purchase], known: Mapping[str, Sighting]) -> dict[str, float]:
    """How often a word of an instruction is found in what was bought, for words of many instructions."""
    held: dict[str, list[bool]] = {}
    products: dict[str, set[str]] = {}
    for goal, asin in sorted({(purchase.goal, purchase.bought) for purchase in purchases}):
        seen = known[asin]
        if seen.features is None or seen.options is None:
            continue
        values = (value for values in seen.options.values() for value in values)
        texts = frozenset[str]().union(*map(word_set, (seen.title, seen.features, *values)))
        for word in wanted(goal).words:
            held.setdefault(word, []).append(word in texts)
            products.setdefault(word, set()).add(asin)
    return {
        word: round((sum(found) + 1) / (len(found) + 1), 3)
        for word, found in sorted(held.items())
        if len(products[word]) >= 12
    }
