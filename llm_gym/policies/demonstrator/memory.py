"""What a shopper remembers of a session."""

from __future__ import annotations

from dataclasses import replace

from llm_gym.policies.demonstrator.item import Impression, Place
from llm_gym.policies.demonstrator.wish import Wish
from llm_gym.policies.shopper import PREVIOUS, ShopPage

NEXT = "click[next >]"
_NO_SUB_PAGE = ("search", "results", "item", "done")


class Memory:
    """Filled by looking at pages and by following what was done on them; looking twice changes nothing."""

    def __init__(self) -> None:
        self.queries: list[str] = []
        """Searches made, in order."""
        self.page = 1
        """Page of results shown last, counted from 1."""
        self.farthest = 1
        """The last page of results of this search that was shown."""
        self.opened: dict[str, Impression] = {}
        """Every item that was opened, by its id, in the order of opening."""
        self.current: str | None = None
        """Id of the item that is open."""
        self.steps = 0
        """Actions taken."""

    @property
    def item(self) -> Impression | None:
        """What is known of the open item."""
        return None if self.current is None else self.opened[self.current]

    def best(self, wish: Wish) -> Impression | None:
        """The item that meets most of the wish; the first of equals."""
        return max(self.opened.values(), key=lambda item: item.worth(wish), default=None)

    def opened_from_this_search(self) -> int:
        """How many of the items were found by the last search."""
        return sum([item.place.query] == self.queries[-1:] for item in self.opened.values())

    def look(self, page: ShopPage, text: str) -> None:
        """Read what a page, whose whole text is given, shows of the open item."""
        item = self.item
        if item is None:
            return
        if page.screen == "item":
            self.opened[item.result.asin] = replace(item, options=page.options)
        elif page.screen not in _NO_SUB_PAGE:
            # The instruction stands above every page and would agree with itself.
            read = {**item.read, page.screen: text.replace(page.goal, " ")}
            self.opened[item.result.asin] = replace(item, read=read)

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
        if action == NEXT:
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
