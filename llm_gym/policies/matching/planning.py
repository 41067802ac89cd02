"""What to do next in the shop, and the way there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from llm_gym.policies.matching.memory import NEXT, Memory
from llm_gym.policies.shopper import BACK, PREVIOUS, ShopPage, search_action

Kind = Literal["search", "open", "read", "turn", "buy"]
_WAY_BACK = 8
"""Actions that are kept for going back to a product, its options and the purchase."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long to look before buying; confidences in [0, 1]."""

    actions: int = 80
    """After so many the best product so far is bought."""
    pages: int = 3
    """Of results, at most."""
    sure: float = 0.95
    """A product of this confidence is bought at once."""
    opening: float = 0.004
    """A result of less is not opened."""
    reading: float = 0.02
    """The features of an opened product are read from this share of the best one's confidence on, ..."""
    reads: int = 10
    """... among so many of the best."""
    settling: float = 0.5
    """Pages are turned, and then all other results opened, while no product has this confidence."""


@dataclass(frozen=True, slots=True)
class Intent:
    """What to do next, and with which product."""

    kind: Kind
    asin: str = ""
    """Of no product: for a search or a turn of the page."""


def plan(memory: Memory, confidences: Mapping[str, float], patience: Patience) -> Intent:
    """What to do next: buy what is surely right, look further as long as it may pay, then buy the best.

    Args:
        memory: what was seen.
        confidences: how likely each product is the one to buy, by id.
        patience: how long to look.
    """
    if not confidences:
        return Intent("search")
    opened = sorted((asin for asin in confidences if memory.products[asin].opened), key=lambda a: -confidences[a])
    fresh = [asin for asin in confidences if not memory.products[asin].opened]
    promising = max(fresh, key=confidences.__getitem__, default=None)
    if not opened:
        assert promising is not None, "every product is opened or not"
        return Intent("open", promising)
    best, confidence = opened[0], confidences[opened[0]]
    turned = max(memory.pages.values(), default=1)
    if confidence >= patience.sure or memory.steps + turned + _WAY_BACK >= patience.actions:
        return Intent("buy", best)
    hope = confidences[promising] if promising is not None else 0.0
    if promising is not None and hope >= patience.opening and (hope > confidence or _is_near(memory, promising)):
        return Intent("open", promising)
    for asin in opened[: patience.reads]:
        if memory.products[asin].features is None and confidences[asin] >= patience.reading * confidence:
            return Intent("read", asin)
    if confidence < patience.settling:
        if _can_turn(memory, patience):
            return Intent("turn")
        if promising is not None:
            return Intent("open", promising)
    return Intent("buy", best)


def _is_near(memory: Memory, asin: str) -> bool:
    product = memory.products[asin]
    return product.query == memory.query and product.number == memory.number


def _can_turn(memory: Memory, patience: Patience) -> bool:
    query = memory.query
    return query is not None and memory.pages.get(query, 0) < patience.pages and query not in memory.ended


def way(page: ShopPage, memory: Memory, intent: Intent, query: str) -> str:
    """The action that leads from a page towards what is intended; on the product's own page the caller knows better.

    Args:
        page: where the shopper is.
        memory: what was seen.
        intent: what to do.
        query: what to search for where no product is meant.
    """
    product = memory.products.get(intent.asin)
    if page.screen == "search":
        return search_action((product and product.query) or memory.query or query)
    if page.screen != "results":
        return PREVIOUS
    if intent.kind == "search":
        return BACK
    if product is None:
        return NEXT
    if product.query != memory.query:
        return BACK
    if product.number != memory.number:
        return NEXT if product.number > memory.number else PREVIOUS
    shown = [result.asin for result in page.results]
    return page.click_result(shown.index(intent.asin)) if intent.asin in shown else BACK
