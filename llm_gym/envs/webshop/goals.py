"""Goals: what a shopper is told to buy, and the price limit at the end of the sentence."""

from __future__ import annotations

import bisect
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from llm_gym.core import derive_seed
from llm_gym.envs.webshop.product import MISSING_PRICE, Product

StoredKind = Literal["human", "synthetic"]
"""Goals that a store lists."""
RewordedKind = Literal["reworded", "reworded_heldout"]
"""Goals that are computed from a product, whatever its store lists."""
GoalKind = StoredKind | RewordedKind
STORED_KINDS: tuple[StoredKind, ...] = ("human", "synthetic")
REWORDED_KINDS: tuple[RewordedKind, ...] = ("reworded", "reworded_heldout")
GOAL_KINDS: tuple[GoalKind, ...] = (*STORED_KINDS, *REWORDED_KINDS)
KIND_LETTERS: dict[GoalKind, str] = {"human": "h", "synthetic": "s", "reworded": "r", "reworded_heldout": "u"}
_KINDS: dict[str, GoalKind] = {letter: kind for kind, letter in KIND_LETTERS.items()}
GoalOption = str | tuple[str, str]
"""A value, as a person names it; or name and value, in a synthetic goal."""

PRICE_GRID = tuple(range(10, 1000, 10))
NO_LIMIT = 1_000_000.0
_CANDIDATES = 4
_LONGEST_ORDINAL = 10
_NO_BRACKETS = str.maketrans("[]", "  ")
"""The original's parser misreads a query with brackets; search ignores them."""
_PRICE_CLAUSE = re.compile(r",? and price lower than [\d.]+ dollars$")
_OPENING = re.compile(
    r"^(?:hello|hi)?[,\s]*"
    r"(?:(?:please\s+)?(?:i\s*(?:am|'m)\s+(?:looking|searching|interested)\s*(?:for|to\s+(?:buy|find|get)|in)?"
    r"|i\s+(?:need|want|would\s+like|am\s+in\s+need\s+of)(?:\s+to\s+(?:buy|find|get|purchase|order))?"
    r"|i'd\s+like(?:\s+to\s+(?:buy|find|get|purchase|order))?"
    r"|(?:can|could)\s+you\s+(?:find|get|show)(?:\s+me)?"
    r"|(?:find|get|show|buy|order)(?:\s+me)?|looking\s+for))?\s*(?:an?|some|the)?\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Goal:
    """What is wanted. Everything but the instruction is hidden from the shopper."""

    task_id: str
    asin: str
    instruction: str
    """The whole text, price clause included."""
    attributes: tuple[str, ...]
    options: tuple[GoalOption, ...]
    query_text: str
    """The instruction as a query: without its opening phrase and its price clause."""
    price_limit: float
    """In dollars; `NO_LIMIT` when the text names none."""
    category: str
    query: str
    product_category: str
    title_nouns: tuple[str, ...]


def task_id(asin: str, kind: GoalKind, ordinal: int) -> str:
    """The id of a goal: the product, the kind's letter and the goal's number among the product's.

    >>> task_id("B07FYPSNH8", "human", 0)
    'B07FYPSNH8.h0'
    """
    return f"{asin}.{KIND_LETTERS[kind]}{ordinal}"


def option_value(option: GoalOption) -> str:
    """The value that an option of a goal names."""
    return option if isinstance(option, str) else option[1]


def parse_task_id(text: str) -> tuple[str, GoalKind, int] | None:
    """Product, kind and number of an id; None when the text is none."""
    asin, dot, rest = text.rpartition(".")
    kind = _KINDS.get(rest[:1])
    if not (dot and kind and rest[1:].isascii() and rest[1:].isdigit() and len(rest) <= _LONGEST_ORDINAL):
        return None
    return asin, kind, int(rest[1:])


def goal_count(product: Product, kind: StoredKind) -> int:
    """How many goals of a kind a product carries: one an instruction, or one a combination of option values."""
    if kind == "human":
        return len(product.human)
    if product.instruction is None:
        return 0
    count = 1
    for values in product.options.values():
        count *= len(values)
    return count


def make_goal(product: Product, kind: StoredKind, ordinal: int, limit: float) -> Goal:
    """The goal with this number, its text ending in the price limit."""
    identity = task_id(product.asin, kind, ordinal)
    if kind == "human":
        one = product.human[ordinal]
        return worded_goal(product, identity, one.text.strip("."), one.attributes, one.options, limit)
    options = _combination(product, ordinal)
    named = ", and ".join(f"{name}: {value}" for name, value in options)
    text = f"{product.instruction}{' with ' + named if named else ''}"
    return worded_goal(product, identity, text, product.instruction_attributes, options, limit)


def worded_goal(
    product: Product,
    identity: str,
    text: str,
    attributes: tuple[str, ...],
    options: tuple[GoalOption, ...],
    limit: float,
) -> Goal:
    """The goal that `text`, which names no price, asks for."""
    clause = "" if limit == NO_LIMIT else f", and price lower than {limit:.2f} dollars"
    return Goal(
        task_id=identity,
        asin=product.asin,
        instruction=text + clause,
        query_text=query_of(text),
        attributes=attributes,
        options=options,
        price_limit=limit,
        category=product.category,
        query=product.query,
        product_category=product.product_category,
        title_nouns=product.title_nouns,
    )


def _combination(product: Product, ordinal: int) -> tuple[tuple[str, str], ...]:
    """One value of every option, names in alphabetical order, the last one running fastest."""
    names = sorted(product.options)
    chosen = []
    for name in reversed(names):
        values = product.options[name]
        ordinal, index = divmod(ordinal, len(values))
        chosen.append((name, values[index]))
    return tuple(reversed(chosen))


# -- prices ------------------------------------------------------------------------------------------------------


def price_limit(price: float, rng: random.Random) -> float:
    """The limit told to the shopper: the larger of two of the next four tens above the price."""
    candidates = _limits_above(price)
    return float(max(rng.sample(candidates, 2))) if len(candidates) >= 2 else NO_LIMIT


def _limits_above(price: float) -> Sequence[int]:
    """The next four tens above a price, fewer near the top."""
    first = bisect.bisect_right(PRICE_GRID, price)
    return PRICE_GRID[first : first + _CANDIDATES]


def price_of(pricing: Sequence[float], rng: random.Random) -> float:
    """The price the reward charges: the price itself, or one drawn inside the range."""
    if not pricing:
        return MISSING_PRICE
    return pricing[0] if len(pricing) == 1 else rng.uniform(pricing[0], pricing[1])


def fixed_price(product: Product) -> float:
    """The price as a function of the product, the same in every process and on every machine."""
    if len(product.pricing) < 2:
        return product.pricing[0] if product.pricing else MISSING_PRICE
    return price_of(product.pricing, random.Random(derive_seed(0, "price", product.asin)))


def fixed_limit(product: Product, identity: str) -> float:
    """The limit as a function of the task's id."""
    candidates = _limits_above(fixed_price(product))
    if len(candidates) < 2:
        return NO_LIMIT
    # The larger of two different candidates is the second in one case, the third in two, the fourth in three.
    larger = [index for index in range(1, len(candidates)) for _ in range(index)]
    return float(candidates[larger[derive_seed(0, "price limit", identity) % len(larger)]])


def original_prices(pricings: Sequence[Sequence[float]], rng: random.Random) -> list[float]:
    """All prices in catalogue order from one stream, as the original draws them when it loads."""
    return [price_of(pricing, rng) for pricing in pricings]


def original_limits(
    prices: Sequence[float], products: Sequence[int], kind: StoredKind, rng: random.Random
) -> list[float]:
    """All limits in goal order from the stream that drew the prices: one a human goal, one a product otherwise."""
    if kind == "human":
        return [price_limit(prices[product], rng) for product in products]
    limits: dict[int, float] = {}
    for product in products:
        if product not in limits:
            limits[product] = price_limit(prices[product], rng)
    return [limits[product] for product in products]


# -- texts -------------------------------------------------------------------------------------------------------


def query_of(instruction: str) -> str:
    """The instruction as a query: without its opening phrase and its price clause.

    >>> query_of("i am looking for a red shoe, and price lower than 40.00 dollars")
    'red shoe'
    """
    text = " ".join(_PRICE_CLAUSE.sub("", instruction).translate(_NO_BRACKETS).split())
    return _OPENING.sub("", text, count=1).strip() or text or "product"
