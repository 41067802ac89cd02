"""What a shopper has seen of a shop: results, and what the opened ones say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from llm_gym.envs.webshop.pages import RESULTS_PER_PAGE
from llm_gym.policies.matching.page import body, item_texts, page_number
from llm_gym.policies.shopper import PREVIOUS, ShopPage

NEXT = "click[next >]"
FEATURES = "features"
"""The sub page worth reading: hardly anything that is wanted stands in a description alone, and reviews are empty."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """A product, by what has been seen of it so far; None: not yet."""

    title: str
    price: str
    query: str
    """The search that found it first."""
    number: int
    """Of the page that shows it there, from 1."""
    rank: int
    """Among the results of that search, from 0."""
    options: Mapping[str, Sequence[str]] | None = None
    features: str | None = None

    @property
    def opened(self) -> bool:
        return self.options is not None


class Memory:
    """Follows somebody through the shop, page by page and action by action.

    Attributes:
        products: what was seen, by id; an item that nobody knows the id of goes by its title.
        query: the search whose results are open; None before the first.
        pages: search → how many of its result pages were seen, as 1, 2, ….
        ended: searches whose last page was seen.
        number: of the results page that is open, or that the open item was found on.
        open: id of the product whose page is open, or whose sub page is.
        steps: actions so far.
    """

    def __init__(self) -> None:
        self.products: dict[str, Sighting] = {}
        self.query: str | None = None
        self.pages: dict[str, int] = {}
        self.ended: set[str] = set()
        self.number = 1
        self.open: str | None = None
        self.steps = 0

    def see(self, page: ShopPage, text: str) -> None:
        """Look at a page; looking twice changes nothing."""
        match page.screen:
            case "search":
                self.open = None
            case "results":
                self._see_results(page, text)
            case "item":
                self._see_item(page, text)
            case "features" if self.open in self.products and self.products[self.open].features is None:
                self.products[self.open] = replace(self.products[self.open], features=body(text))

    def follow(self, page: ShopPage, action: str) -> None:
        """Somebody took an action on a page that was seen."""
        self.steps += 1
        if action.startswith("search["):
            self.query, self.number = action.removeprefix("search[").removesuffix("]"), 1
            self.open = None
        elif page.screen == "results":
            self.number += {NEXT: 1, PREVIOUS: -1}.get(action, 0)
            self.open = next((one.asin for at, one in enumerate(page.results) if page.click_result(at) == action), None)

    def _see_results(self, page: ShopPage, text: str) -> None:
        self.open = None
        self.number = page_number(text) or self.number
        query = self.query if self.query is not None else ""
        self.pages[query] = max(self.pages.get(query, 0), self.number)
        if len(page.results) < RESULTS_PER_PAGE:
            self.ended.add(query)
        first = (self.number - 1) * RESULTS_PER_PAGE
        for rank, one in enumerate(page.results, start=first):
            if one.asin not in self.products:
                self.products[one.asin] = Sighting(one.title, one.price, query, self.number, rank)

    def _see_item(self, page: ShopPage, text: str) -> None:
        if self.open is None:
            texts = item_texts(text)
            title, price = (texts.title, texts.price) if texts else ("", "")
            same = (asin for asin, one in self.products.items() if one.title == title)
            self.open = next(same, title)
            if self.open not in self.products:
                self.products[title] = Sighting(title, price, self.query or "", self.number, 0)
        known = self.products.get(self.open)
        if known is not None and known.options is None:
            self.products[self.open] = replace(known, options=dict(page.options))
