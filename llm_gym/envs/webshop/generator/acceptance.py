"""Measures how scripted shoppers fare in a catalogue, and the bands an invented one must fall into.

The bands come from the official 1,000-product world with human-like goals, made a little harder for search, as the
full world of 1.18 million products is. A catalogue outside them would teach or test something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from llm_gym.envs.webshop.generator.files import Entry
from llm_gym.envs.webshop.goals import Goal, fixed_limit, fixed_price, make_goal, query_of, task_id
from llm_gym.envs.webshop.oracle import best_options
from llm_gym.envs.webshop.product import Product, product_from_raw
from llm_gym.envs.webshop.reward import (
    categories_match,
    matched_attributes,
    matched_options,
    purchase_reward,
    type_reward,
)
from llm_gym.envs.webshop.search.bm25 import BM25

# Measure → lowest and highest accepted value, over 500 goals; shares in [0, 1], scores in [0, 100].
BANDS: Mapping[str, tuple[float, float]] = {
    "rule score": (42, 52),
    "rule success": (0.05, 0.11),
    "rule type": (0.70, 0.85),
    "rule attributes": (0.62, 0.75),
    "rule price": (0.78, 0.90),
    "fill success": (0.38, 0.52),
    "reader success": (0.45, 0.60),
    "oracle 10 success": (0.80, 0.90),
    "oracle 50 success": (0.93, 0.98),
    "target rank 1": (0.30, 0.45),
    "target top 10": (0.65, 0.82),
    "target top 50": (0.90, 0.96),
    "gain without price clause": (2, 6),
    "type-1 siblings": (12, 25),
    "siblings with all attributes": (2, 5),
    "perfect products": (1.8, 2.6),
    "exactly one perfect": (0.50, 0.66),
    "random option accepted": (0.35, 0.45),
    "attributes indexed": (0.45, 0.55),
    "exact target": (1.0, 1.0),
}
_WORD = re.compile(r"[a-z0-9.]+")
# The measures of one goal that come from a search; a search that finds nothing earns nothing.
_SHOPPER_MEASURES = tuple(BANDS)[:13]


@dataclass(frozen=True)
class World:
    """A catalogue in memory with its search engine."""

    products: Mapping[str, Product]
    documents: Mapping[str, str]
    nouns: Mapping[str, frozenset[str]]
    engine: BM25
    goals: Sequence[Goal]

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> World:
        """Loads generated entries by the rules of the official files; all human-like goals, in file order."""
        products = {
            entry.product["asin"]: product_from_raw(
                entry.product, entry.attributes, entry.human_goals, tuple(entry.product["title_nouns"])
            )
            for entry in entries
        }
        documents = {asin: product.document() for asin, product in products.items()}
        goals = [
            make_goal(product, "human", number, fixed_limit(product, task_id(product.asin, "human", number)))
            for product in products.values()
            for number in range(len(product.human))
        ]
        nouns = {asin: frozenset(product.title_nouns) for asin, product in products.items()}
        return cls(products, documents, nouns, BM25.in_memory(documents.items()), goals)

    def spread(self, count: int) -> list[Goal]:
        """`count` goals spread evenly over the file."""
        return [self.goals[number * len(self.goals) // count] for number in range(min(count, len(self.goals)))]


def _reward(product: Product, goal: Goal, chosen: Mapping[str, str]) -> float:
    return purchase_reward(product, goal, fixed_price(product), chosen).reward


def lexical_options(product: Product, text: str) -> dict[str, str]:
    """For each option the value with the largest share of its words in the instruction; none where no word occurs."""
    said = set(_WORD.findall(text.lower()))
    chosen = {}
    for name, values in product.options.items():
        scored = [(len(said & set(words)) / len(words) if words else 0.0, value) for value, words in _split(values)]
        best = max((score for score, _ in scored), default=0.0)
        if best > 0:
            chosen[name] = next(value for score, value in scored if score == best)
    return chosen


def _split(values: Iterable[str]) -> list[tuple[str, list[str]]]:
    return [(value, _WORD.findall(value)) for value in values]


def reader_choice(world: World, goal: Goal, hits: Sequence[str]) -> str:
    """Among ten results within the price, the one whose whole text holds the most words of the instruction."""
    said = set(_WORD.findall(query_of(goal.instruction).lower()))

    def overlap(asin: str) -> int:
        product = world.products[asin]
        read = f"{world.documents[asin]} {' '.join(product.bullets)}".lower()
        return len(said & set(_WORD.findall(read)))

    fitting = [asin for asin in hits[:10] if _lowest_price(world.products[asin]) <= goal.price_limit] or list(hits[:10])
    return max(fitting, key=overlap)


def _lowest_price(product: Product) -> float:
    return product.pricing[0] if product.pricing else 100.0


def _first_perfect(world: World, goal: Goal, hits: Sequence[str]) -> int:
    """Rank, from 0, of the first result that earns 1 with its best options; 999 when none does."""
    for rank, asin in enumerate(hits):
        product = world.products[asin]
        if _reward(product, goal, best_options(product, goal)) == 1:
            return rank
    return 999


def _shoppers(world: World, goal: Goal) -> dict[str, float]:
    """What every shopper got for one goal."""
    hits = world.engine.search(goal.instruction.lower(), 50)
    bare = world.engine.search(query_of(goal.instruction).lower(), 1)
    if not hits:
        return dict.fromkeys(_SHOPPER_MEASURES, 0.0)
    first, read = world.products[hits[0]], world.products[reader_choice(world, goal, hits)]
    rule = purchase_reward(first, goal, fixed_price(first), {})
    perfect = _first_perfect(world, goal, hits)
    bare_reward = _reward(world.products[bare[0]], goal, {}) if bare else 0.0
    return {
        "rule score": 100 * rule.reward,
        "rule success": rule.reward == 1,
        "rule type": rule.type,
        "rule attributes": rule.attributes,
        "rule price": rule.price,
        "fill success": _reward(first, goal, lexical_options(first, goal.instruction)) == 1,
        "reader success": _reward(read, goal, lexical_options(read, goal.instruction)) == 1,
        "oracle 10 success": perfect < 10,
        "oracle 50 success": perfect < 50,
        "target rank 1": hits[0] == goal.asin,
        "target top 10": goal.asin in hits[:10],
        "target top 50": goal.asin in hits,
        "gain without price clause": 100 * (bare_reward - rule.reward),
    }


def _of_the_goals_kind(product: Product, nouns: frozenset[str], goal: Goal) -> bool:
    """Whether the reward takes the product for the right type; the same rule as the reward's, on ready-made sets."""
    shared = len(nouns.intersection(goal.title_nouns)) / len(goal.title_nouns) if goal.title_nouns else 0.2
    related = product.query == goal.query or categories_match(product.product_category, goal.product_category)
    return type_reward(shared, related) == 1


def _rivals(world: World, goal: Goal) -> dict[str, float]:
    """Counts over the whole catalogue, the target excluded but for the perfect ones."""
    siblings = complete = perfect = 0
    for asin, product in world.products.items():
        if not _of_the_goals_kind(product, world.nouns[asin], goal):
            continue
        siblings += asin != goal.asin
        if matched_attributes(product, goal.attributes) == len(goal.attributes):
            complete += asin != goal.asin
            perfect += _reward(product, goal, best_options(product, goal)) == 1
    return {
        "type-1 siblings": siblings,
        "siblings with all attributes": complete,
        "perfect products": perfect,
        "exactly one perfect": perfect == 1,
    }


def _target(world: World, goal: Goal) -> dict[str, float]:
    product = world.products[goal.asin]
    owners = {value: name for name, values in product.options.items() for value in values}
    exact = {owners[str(option)]: str(option) for option in goal.options}
    return {"exact target": _reward(product, goal, exact) == 1}


def _option_luck(world: World, goal: Goal) -> list[float]:
    """For each goal option: the share of its own group's values that the reward accepts for it."""
    product = world.products[goal.asin]
    groups = [(option, values) for option in goal.options for values in product.options.values() if option in values]
    return [fmean(matched_options((value,), (option,)) for value in values) for option, values in groups]


def measure(world: World, count: int = 500) -> dict[str, float]:
    """All measures of `BANDS`, over `count` goals; about ten seconds for 500."""
    goals = world.spread(count)
    rows = [_shoppers(world, goal) | _rivals(world, goal) | _target(world, goal) for goal in goals]
    means = {name: fmean(row.get(name, 0.0) for row in rows) for name in rows[0]}
    means["random option accepted"] = fmean(luck for goal in goals for luck in _option_luck(world, goal))
    products = world.products.values()
    means["attributes indexed"] = fmean(
        attribute in world.documents[product.asin] for product in products for attribute in product.attributes
    )
    return means


def outside(measures: Mapping[str, float]) -> list[str]:
    """One line for each measure outside its band; empty when the catalogue is accepted."""
    return [
        f"{name}: {measures[name]:.3f}, wanted {low} to {high}"
        for name, (low, high) in BANDS.items()
        if not low <= measures[name] <= high
    ]
