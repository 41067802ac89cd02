"""What a shopper remembers of a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from llm_gym.policies.demonstrator.item import Impression, Place
from llm_gym.policies.demonstrator.wish import Wish
from llm_gym.policies.shopper import PREVIOUS, ShopPage

_NEXT = "click[next >]"


class Memory:
    """Filled by looking at pages and by following what was done on them; looking twice changes nothing."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.page = 1
        """Page of results shown last, counted from 1."""
        self.farthest = 1
        """The last page of results of this search that was shown."""
        self.opened: dict[str, Impression] = {}
        """Every item that was opened, by its id, in the order of opening."""
        self.current: str | None = None
        """Id of the item that is open."""
        self.steps = 0

    @property
    def item(self) -> Impression | None:
        """What is known of the open item."""
        return None if self.current is None else self.opened[self.current]

    def best(self, wish: Wish) -> Impression | None:
        """The item that meets most of the wish; the first of equals."""
        return max(self.opened.values(), key=lambda item: item.worth(wish), default=None)

    def look(self, page: ShopPage, text: str) -> None:
        item = self.item
        if item is None:
            return
        if page.screen == "item":
            self.opened[item.result.asin] = replace(item, options=page.options)
        elif page.screen not in ("search", "results", "done"):
            shown = text.replace(page.goal, " ")
            self.opened[item.result.asin] = item.with_page(page.screen, shown)

    def follow(self, page: ShopPage, action: str) -> None:
        """After an action on a page."""
        self.steps += 1
        if action.startswith("search["):
            self.queries.append(action[len("search[") : -1])
            self.page, self.farthest, self.current = 1, 1, None
        elif page.screen == "results":
            self._leave_results(page, action)
        elif page.screen == "item" and action == PREVIOUS:
            self._leave_item()

    def _leave_results(self, page: ShopPage, action: str) -> None:
        if action == _NEXT:
            self.page += 1
            self.farthest = max(self.farthest, self.page)
        elif action == PREVIOUS:
            self.page -= 1
        for at, result in enumerate(page.results):
            if page.click_result(at) == action:
                place = Place(self.queries[-1] if self.queries else "", self.page)
                self.opened.setdefault(result.asin, Impression(result, place))
                self.current = result.asin

    def _leave_item(self) -> None:
        if self.current is not None:
            self.opened[self.current] = replace(self.opened[self.current], left=True)
        self.current = None
