"""Pages of a shop, made by hand: what `info` says of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest


class Shown(NamedTuple):
    asin: str
    title: str
    price: str


class Pages:
    """Infos of the pages of one goal."""

    def __init__(self, goal: str) -> None:
        self.goal = goal

    def search(self) -> dict[str, Any]:
        return self._page("search", [f"search[{self.goal}]"])

    def results(self, *results: tuple[str, str, str], **more: Any) -> dict[str, Any]:
        shown = tuple(Shown(*result) for result in results)
        links = [f"click[{result.asin.lower()}]" for result in shown]
        return self._page("results", ["click[back to search]", "click[next >]", *links], results=shown, **more)

    def item(
        self, options: dict[str, tuple[str, ...]], chosen: dict[str, str] | None = None, **more: Any
    ) -> dict[str, Any]:
        values = [f"click[{value}]" for group in options.values() for value in group]
        buttons = ["back to search", "< prev", "description", "features", "reviews", "buy now"]
        actions = [*(f"click[{name}]" for name in buttons), *values]
        return self._page("item", actions, options=options, chosen=chosen or {}, **more)

    def sub_page(self) -> dict[str, Any]:
        return self._page("features", ["click[back to search]", "click[< prev]"])

    def done(self) -> dict[str, Any]:
        return self._page("done", [])

    def _page(self, screen: str, actions: list[str], **more: Any) -> dict[str, Any]:
        common = {
            "task_id": "B01.h0",
            "goal": self.goal,
            "success": False,
            "page": screen,
            "category": "",
            "metrics": {},
        }
        return {**common, "screen": screen, "admissible_actions": actions, **more}


@pytest.fixture
def pages() -> type[Pages]:
    return Pages
