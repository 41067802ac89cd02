"""The shop as a state machine: which screen a shopper is on, and where each action leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

from llm_gym.envs.webshop.actions import Action, Click, Malformed, Search
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.reward import RewardBreakdown
from llm_gym.envs.webshop.rules import Rules

RESULTS_PER_PAGE = 10
BACK, NEXT, PREVIOUS, BUY = "back to search", "next >", "< prev", "buy now"
SUB_PAGES = ("Description", "Features", "Reviews")
ITEM_BUTTONS = frozenset({"search", BACK, PREVIOUS, BUY, *map(str.lower, SUB_PAGES)})
"""An option of one of these names cannot be chosen on the page of an item: the button is meant."""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """The page with the search bar."""


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """One page of what a search found."""

    keywords: tuple[str, ...]
    number: int
    hits: tuple[str, ...]
    """Ids of all results, best first."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Ids on this page; a page past the end is empty, as a page before the first is."""
        start = (self.number - 1) * RESULTS_PER_PAGE
        return self.hits[start : start + RESULTS_PER_PAGE] if start >= 0 else ()


@dataclass(frozen=True, slots=True)
class ItemPage:
    """A product."""

    product: Product
    origin: ResultsPage
    chosen: Mapping[str, str] = field(default_factory=dict)
    """Option name → chosen value, in the order of choice."""


@dataclass(frozen=True, slots=True)
class SubPage:
    """Description, features, reviews or attributes of a product."""

    name: str
    item: ItemPage


@dataclass(frozen=True, slots=True)
class DonePage:
    """After the purchase."""

    item: ItemPage
    breakdown: RewardBreakdown


Screen = SearchPage | ResultsPage | ItemPage | SubPage | DonePage


class Counters(NamedTuple):
    """What the shopper did since the last search page; every results page counts as a search."""

    search: int = 0
    asin: int = 0
    options: int = 0
    purchase: int = 0
    description: int = 0
    features: int = 0
    reviews: int = 0
    attributes: int = 0

    def plus(self, name: str) -> Counters:
        return self._replace(**{name: getattr(self, name) + 1})


_NOTHING_DONE = Counters()


@dataclass(frozen=True, slots=True)
class Session:
    """Where a shopper is."""

    screen: Screen = SearchPage()
    visited: frozenset[str] = frozenset()
    """Ids of products opened since the last search page."""
    counters: Counters = _NOTHING_DONE


class Shop(Protocol):
    """What the pages need of a shop."""

    def search(self, keywords: tuple[str, ...]) -> tuple[str, ...]: ...

    def find(self, asin: str) -> Product | None: ...

    def buy(self, item: ItemPage) -> RewardBreakdown: ...


def advance(session: Session, action: Action, shop: Shop, rules: Rules, show_attributes: bool) -> Session | str:
    """The session after an action, or one sentence that says why the action is impossible."""
    if isinstance(action, Malformed):
        return action.reason
    if isinstance(action, Search):
        if not (rules.search_anywhere or isinstance(session.screen, SearchPage)):
            return "There is no search bar on this page: click[back to search] first."
        return _searched(session, action.query, shop)
    return _clicked(session, action, shop, rules, show_attributes)


def _searched(session: Session, query: str, shop: Shop) -> Session:
    keywords = tuple(query.split(" "))
    return _results(session, ResultsPage(keywords, 1, shop.search(keywords)))


def _results(session: Session, page: ResultsPage) -> Session:
    return Session(page, session.visited, session.counters.plus("search"))


def _clicked(session: Session, action: Click, shop: Shop, rules: Rules, show_attributes: bool) -> Session | str:
    target, screen = action.target, session.screen
    if target == BACK and not isinstance(screen, SearchPage | DonePage):
        return Session()
    following: Session | None = None
    match screen:
        case ResultsPage():
            following = _from_results(session, screen, target, shop)
        case ItemPage():
            following = _from_item(session, screen, target, shop, rules, show_attributes)
        case SubPage() if target == PREVIOUS:
            following = _from_sub_page(session, screen, rules)
        case _:
            pass
    return following or f"There is nothing called {target[:80]!r} to click on this page."


def _from_results(session: Session, screen: ResultsPage, target: str, shop: Shop) -> Session | None:
    if target == NEXT:
        return _results(session, replace(screen, number=screen.number + 1))
    if target == PREVIOUS and screen.number > 1:
        return _results(session, replace(screen, number=screen.number - 1))
    asin = next((asin for asin in screen.shown if asin.lower() == target), None)
    product = shop.find(asin) if asin else None
    if product is None:
        return None
    visited = session.visited | {product.asin}
    return Session(ItemPage(product, screen), visited, session.counters.plus("asin"))


def _from_item(
    session: Session, screen: ItemPage, target: str, shop: Shop, rules: Rules, show_attributes: bool
) -> Session | None:
    if target == PREVIOUS:
        if _misroutes(rules, screen, "search_results"):
            return _page_before(session, screen.origin)
        return _results(session, screen.origin)
    if target == BUY:
        return Session(DonePage(screen, shop.buy(screen)), session.visited, session.counters.plus("purchase"))
    for name in (*SUB_PAGES, *(("Attributes",) if show_attributes else ())):
        if target == name.lower():
            return Session(SubPage(name, screen), session.visited, session.counters.plus(target))
    value = _value_of(screen.product, target, rules)
    name = _group_of(screen, value, rules)
    if name is None or target == "search":
        return None
    chosen = {**screen.chosen, name: value}
    item = ItemPage(screen.product, screen.origin, chosen)
    return Session(item, session.visited, session.counters.plus("options"))


def _from_sub_page(session: Session, screen: SubPage, rules: Rules) -> Session:
    if _misroutes(rules, screen.item, "search_results"):
        return _page_before(session, screen.item.origin)
    if _misroutes(rules, screen.item, "item_page"):
        return _results(session, screen.item.origin)
    return Session(screen.item, session.visited, session.counters)


def _misroutes(rules: Rules, item: ItemPage, name: str) -> bool:
    """Whether the original takes this page for another kind, whose name stands in the words of the query."""
    return rules.route_by_url and any(name in word for word in item.origin.keywords)


def _page_before(session: Session, results: ResultsPage) -> Session:
    return _results(session, replace(results, number=results.number - 1))


def _value_of(product: Product, target: str, rules: Rules) -> str:
    """The option value that a click means: `target` itself, or without one, the value that is longer by blanks."""
    if rules.exact_names or any(target in values for values in product.options.values()):
        return target
    spaced = (value for values in product.options.values() for value in values if value.strip() == target)
    return next(spaced, target)


def _group_of(screen: ItemPage, value: str, rules: Rules) -> str | None:
    """The option that a value belongs to.

    When several have it, the original always takes the last; corrected, the first in which nothing is chosen yet, or
    else the first with another value, so that a click a group chooses any combination.
    """
    names = [name for name, values in screen.product.options.items() if value in values]
    if not names or rules.last_group_wins:
        return names[-1] if names else None
    unset = (name for name in names if name not in screen.chosen)
    differing = (name for name in names if screen.chosen.get(name) != value)
    return next(unset, None) or next(differing, names[0])
