"""The reward of a purchase (WebShop paper, section 3.2; rules as in its code).

The original is lenient: `x-large` passes for `xx-large`, `pack of 2` for `pack of 12`, and a colour is reduced to
the first known colour word inside it. That leniency is kept, so that scores stay comparable; `strict_reward` in the
breakdown is the same formula with options compared word for word.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz.fuzz import token_set_ratio as rapidfuzz_token_set_ratio
from rapidfuzz.utils import default_process

from llm_gym.envs.webshop.goals import Goal, GoalOption, option_value
from llm_gym.envs.webshop.product import Product

FUZZY_THRESHOLD = 85
"""A token-set ratio must be above it."""
_LATIN_1 = {code: None for code in range(128, 256)}
_COLOR_WORDS = """
alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo
caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal
dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory
ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor
mushroom mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand
sapphire seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut
wheat white wine yellow
"""
COLORS = tuple(_COLOR_WORDS.split())
"""In this order: the first that is a substring wins."""


class RewardBreakdown(NamedTuple):
    """Every part of a reward. Shares are in [0, 1]; weights add up to 1."""

    reward: float
    strict_reward: float
    """The reward if an option had to be the very value that the goal names.

    Mostly the lower one; the higher one where the colour rule does not accept the very value.
    """
    type: float
    """1, 0.5, 0.1 or 0: how near the product's kind is to the goal's."""
    title_score: float
    query_match: bool
    category_match: bool
    attributes: float
    attributes_weight: float
    options: float | None
    """None: the goal names no option."""
    options_weight: float
    price: bool
    price_weight: float


def purchase_reward(product: Product, goal: Goal, price: float, chosen: Mapping[str, str]) -> RewardBreakdown:
    """The reward for buying `product` at `price` dollars with the `chosen` options (name → value)."""
    query_match = product.query == goal.query
    category_match = categories_match(product.product_category, goal.product_category)
    titles = title_score(product.title_nouns, goal.title_nouns)
    kind = type_reward(titles, query_match or category_match)
    attributes = matched_attributes(product, goal.attributes)
    options = matched_options(chosen.values(), goal.options)
    exact = sum(option_value(option) in chosen.values() for option in goal.options)
    price_fits = price <= goal.price_limit
    total = len(goal.attributes) + len(goal.options) + 1
    # The share first, then the factor: the original's order of rounding.
    return RewardBreakdown(
        reward=(attributes + options + price_fits) / total * kind,
        strict_reward=(attributes + exact + price_fits) / total * kind,
        type=kind,
        title_score=titles,
        query_match=query_match,
        category_match=category_match,
        attributes=attributes / len(goal.attributes) if goal.attributes else 0.0,
        attributes_weight=len(goal.attributes) / total,
        options=options / len(goal.options) if goal.options else None,
        options_weight=len(goal.options) / total,
        price=price_fits,
        price_weight=1 / total,
    )


def title_score(bought: tuple[str, ...], wanted: tuple[str, ...]) -> float:
    """Common nouns over the goal's nouns.

    Duplicates count in the denominator only, as in the original, so that the very same title can score below 1.
    """
    if not wanted:
        return 0.2
    return len(set(bought) & set(wanted)) / len(wanted)


def type_reward(titles: float, query_or_category: bool) -> float:
    """The factor for the kind of product, from the title score and whether query or category agree."""
    if titles == 0:
        return 0.0
    if titles < 0.1:
        return 0.1
    return 1.0 if query_or_category or titles > 0.2 else 0.5


def categories_match(bought: str, wanted: str) -> bool:
    """Whether two category paths share at least two elements, in any order."""
    return len(_path(bought) & _path(wanted)) >= 2


def matched_attributes(product: Product, wanted: Iterable[str]) -> int:
    """How many wanted attributes the product has: like one of its own, or verbatim in its texts."""
    texts = (product.title.lower(), " ".join(product.bullets).lower(), product.description.lower())
    # Either way counts the same; looking for the words is far cheaper than comparing them.
    return sum(
        any(attribute in text for text in texts) or any(similar(own, attribute) for own in product.attributes)
        for attribute in wanted
    )


def matched_options(chosen: Iterable[str], wanted: Iterable[GoalOption]) -> int:
    """How many wanted options are like one of the chosen values, after colours are reduced."""
    values = [reduce_color(value) for value in chosen]
    texts = [_fuzzy_text(option) for option in wanted]
    return sum(any(similar(value, text) for value in values) for text in texts)


@lru_cache(maxsize=65_536)
def similar(one: str, other: str) -> bool:
    """Whether the token-set ratio is above the threshold.

    >>> similar("x-large", "xx-large"), similar("pack of 2", "pack of 12"), similar("king", "kingdom")
    (True, True, False)
    """
    return token_set_ratio(one, other) > FUZZY_THRESHOLD


def token_set_ratio(one: str, other: str) -> int:
    """The ratio of thefuzz, 0 to 100: non-alphanumeric characters part words, a subset of words scores 100."""
    first, second = _processed(one), _processed(other)
    return round(rapidfuzz_token_set_ratio(first, second)) if first and second else 0


@lru_cache(maxsize=65_536)
def reduce_color(value: str) -> str:
    """The first known colour word that is a substring, else the value itself.

    >>> reduce_color("dark blue"), reduce_color("red | blue"), reduce_color("washable"), reduce_color("x-large")
    ('blue', 'blue', 'ash', 'x-large')
    """
    return next((color for color in COLORS if color in value), value)


def _processed(text: str) -> str:
    """Characters 128 to 255 vanish before words are parted, as thefuzz does by default."""
    return default_process(text.translate(_LATIN_1))


@lru_cache(maxsize=65_536)
def _fuzzy_text(option: GoalOption) -> str:
    """What the original compares: a human option's text, or the name and value of a synthetic one as one text.

    Colours of a synthetic option are reduced only when name or value *is* a colour word.
    """
    if isinstance(option, str):
        return reduce_color(option)
    return next((color for color in COLORS if color in option), str(option))


@lru_cache(maxsize=4096)
def _path(category: str) -> frozenset[str]:
    return frozenset(part.strip() for part in category.split("›"))
