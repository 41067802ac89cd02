"""A shopper in WebShop: one decision a page, whatever the page; its strategies are the subclasses."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

from llm_gym.core import Decision, Info, Opinion
from llm_gym.policies.base import Policy

BUY, PREVIOUS, BACK = "click[buy now]", "click[< prev]", "click[back to search]"


class Result(NamedTuple):
    """What a results page shows of a product."""

    asin: str
    title: str
    price: str
    """The price tag: a price or a range."""


@dataclass(frozen=True, slots=True)
class ShopPage:
    """What `info` says of a page of the shop."""

    screen: str
    """"search", "results", "item", "done", or the name of a sub page of an item."""
    goal: str
    admissible: tuple[str, ...]
    results: tuple[Result, ...]
    """Of a results page; empty elsewhere, and where a search found nothing."""
    options: Mapping[str, Sequence[str]]
    """Of an item page: name → values."""
    chosen: Mapping[str, str]
    """Of an item page: name → the value chosen."""

    @staticmethod
    def read(info: Info) -> ShopPage | None:
        """The page, or None in a world that is no shop."""
        keys = cast("Mapping[str, Any]", info)
        if not isinstance(keys.get("screen"), str):
            return None
        return ShopPage(
            screen=keys["screen"],
            goal=keys.get("goal", ""),
            admissible=tuple(keys.get("admissible_actions") or ()),
            results=tuple(Result(one.asin, one.title, one.price) for one in keys.get("results", ())),
            options=keys.get("options", {}),
            chosen=keys.get("chosen", {}),
        )

    def click_result(self, position: int) -> str:
        """The action that opens a result, counted from 0, also where a wrapper has renamed the links.

        Links stand at the end of a results page's actions, in the order of the results.
        """
        plain = f"click[{self.results[position].asin.lower()}]"
        links = self.admissible[-len(self.results) :]
        if plain in self.admissible or len(links) != len(self.results):
            return plain
        return links[position]


def search_action(query: str) -> str:
    """A search; brackets become blanks, which search for the same and cannot be mistaken for the action's own."""
    return f"search[{' '.join(query.translate(_BRACKETS).split())}]"


_BRACKETS = str.maketrans("[]", "  ")


class ShopperPolicy(Policy):
    """Search, open a result, choose options, buy; stop where nothing was found.

    Every decision follows from the page, so that a shopper can be asked for advice on any page; what it remembers only
    keeps it from going round in circles. In a world that is no shop it takes the first admissible action it has not yet
    taken on the same page, and stops when all are taken.
    """

    def __init__(self) -> None:
        self._forget()

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._forget()

    # -- what a strategy provides ------------------------------------------------------------------------------

    @abstractmethod
    def query(self, goal: str) -> str:
        """What to search for."""

    def rank(self, page: ShopPage) -> list[int]:
        """Positions of the results to open, best first; as the search ranked them unless a strategy knows better."""
        return list(range(len(page.results)))

    def options(self, goal: str, offered: Mapping[str, Sequence[str]]) -> list[str]:
        """Values to choose before buying; none unless a strategy reads the options."""
        return []

    # -- the policy --------------------------------------------------------------------------------------------

    def act(self, observation: str, info: Info) -> Decision:
        actions = self._candidates(observation, info)
        action = actions[0] if actions else None
        if action == self._last and "invalid_action" in info:
            action = None  # the world refuses it and would again
        self._remember(observation, ShopPage.read(info), action)
        return Decision(action)

    def note(self, observation: str, info: Info, action: str) -> None:
        self._remember(observation, ShopPage.read(info), action)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """On a results page the `k` best results, elsewhere the next action; being asked leaves no trace."""
        return [Opinion(action, source=self.name) for action in self._candidates(observation, info)[:k]]

    def _forget(self) -> None:
        self._clicked: set[str] = set()
        """Clicks since the last results page."""
        self._taken: set[tuple[str, str]] = set()
        """Pages and actions, in a world that is no shop."""
        self._last: str | None = None

    def _remember(self, observation: str, page: ShopPage | None, action: str | None) -> None:
        self._last = action
        if action is None:
            return
        if page is None:
            self._taken.add((observation, action))
        elif page.screen in ("search", "results"):
            self._clicked.clear()
        else:
            self._clicked.add(action)

    def _candidates(self, observation: str, info: Info) -> list[str]:
        """Actions fit for this page, best first; empty: stop."""
        page = ShopPage.read(info)
        if page is None:
            admissible = info.get("admissible_actions") or []
            return [action for action in admissible if (observation, action) not in self._taken][:1]
        match page.screen:
            case "search":
                return [search_action(self.query(page.goal))]
            case "results":
                return [page.click_result(position) for position in self.rank(page)]
            case "item":
                return self._on_item(page)
            case _:
                return [action for action in (PREVIOUS,) if action in page.admissible]

    def _on_item(self, page: ShopPage) -> list[str]:
        """An option still to choose, or the purchase.

        No click is made twice on an item: the original shop lists options that cannot be clicked.
        """
        for value in self.options(page.goal, page.options):
            click = f"click[{value}]"
            if value not in page.chosen.values() and click in page.admissible and click not in self._clicked:
                return [click]
        return [action for action in (BUY,) if action in page.admissible]
