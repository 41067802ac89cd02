"""Pages of a shop and a small house, made by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.store import write_store


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


_STUDY = """(define (problem study) (:init (atLocation agent1 loc_bar_0)
    (receptacleAtLocation desk_bar_1 loc_bar_1) (receptacleType desk_bar_1 DeskType)
    (receptacleAtLocation desk_bar_2 loc_bar_2) (receptacleType desk_bar_2 DeskType)
    (receptacleAtLocation shelf_bar_1 loc_bar_3) (receptacleType shelf_bar_1 ShelfType)
    (receptacleAtLocation tray_bar_1 loc_bar_4) (receptacleType tray_bar_1 TrayType)
    (inReceptacle pen_bar_1 desk_bar_1) (objectAtLocation pen_bar_1 loc_bar_1)
    (objectType pen_bar_1 PenType) (pickupable pen_bar_1)
    (inReceptacle pen_bar_2 desk_bar_2) (objectAtLocation pen_bar_2 loc_bar_2)
    (objectType pen_bar_2 PenType) (pickupable pen_bar_2)
    (inReceptacle coin_bar_1 tray_bar_1) (objectType coin_bar_1 CoinType) (pickupable coin_bar_1)
    (canContain DeskType PenType) (canContain ShelfType PenType))
    (:goal (exists (?r - receptacle ?o - object)
        (and (inReceptacle ?o ?r) (objectType ?o PenType) (receptacleType ?r ShelfType)))))"""
WALKTHROUGH = (
    "go to desk 1",
    "take pen 1 from desk 1",
    "go to shelf 1",
    "move pen 1 to shelf 1",
)


@pytest.fixture(scope="session")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games in a study: put a pen of either desk on the shelf; and never touch the coin, which fits nowhere.

    Game "told" has a walkthrough, "silent" has none, and of "wrong" it cannot be followed beyond the first command.
    """
    walkthroughs = {"told": WALKTHROUGH, "silent": None, "wrong": (WALKTHROUGH[0], "take cup 1 from desk 1")}
    problem = Problem.parse(_STUDY)
    games = (
        Game(name, "train", "put a pen in shelf.", problem, walkthrough) for name, walkthrough in walkthroughs.items()
    )
    return write_store(tmp_path_factory.mktemp("games") / "store", games, name="studies", about={}).folder
