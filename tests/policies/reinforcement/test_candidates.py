"""What may be chosen on a page, in the network's words and in the world's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from llm_gym.policies.reinforcement.candidates import Candidates, candidates, instruction_only
from llm_gym.policies.reinforcement.network import Situation

GOAL = "I need a Red shoe, and price lower than 40.00 dollars"


def two_queries(goal: str) -> list[str]:
    assert goal == GOAL
    return ["red shoe", "shoe"]


def found(info: Any, observation: str = "page") -> Candidates:
    made = candidates(observation, info, two_queries)
    assert made is not None
    return made


@pytest.fixture
def shop(pages: Any) -> Any:
    return pages(GOAL)


def test_on_a_search_page_queries_are_the_actions_and_the_instruction_the_last(shop: Any) -> None:
    made = found(shop.search())
    assert made.actions == ("search[red shoe]", "search[shoe]", f"search[{GOAL.lower()}]") == made.situation.actions
    assert made.situation.goal == GOAL


def test_a_query_that_is_the_instruction_stands_there_once(shop: Any) -> None:
    made = candidates("page", shop.search(), lambda goal: ["shoe", goal.lower(), "shoe"])
    assert made is not None
    assert made.actions == ("search[shoe]", f"search[{GOAL.lower()}]")


def test_without_a_search_model_the_instruction_is_the_only_query(shop: Any) -> None:
    made = candidates("page", shop.search(), instruction_only)
    assert made is not None
    assert made.actions == (f"search[{GOAL.lower()}]",)


def test_results_are_called_by_their_titles_and_clicked_by_their_ids(shop: Any) -> None:
    info = shop.results(("B01", "Red Shoe", "$1"), ("B02", "red shoe", "$2"))
    made = found(info)
    assert made.actions == ("click[back to search]", "click[next >]", "click[b01]", "click[b02]")
    assert made.situation.actions == (
        "click[back to search]",
        "click[next >]",
        "click[item - red shoe]",
        "click[item - red shoe (2)]",
    )


def test_the_page_is_read_as_the_world_shows_it_and_the_picture_with_it(shop: Any) -> None:
    image = np.ones(512, np.float32)
    made = found(shop.item({"size": ("small",)}, image_features=image), "item\n\nAn expert suggests …")
    assert made.situation.page == "item"
    assert made.situation.image is image


def test_in_another_world_the_admissible_actions_are_taken() -> None:
    made = candidates("a room", {"goal": "out", "admissible_actions": ["left", "open", "left"]}, two_queries)
    assert made is not None
    assert made.actions == made.situation.actions == ("left", "open")
    assert made.situation.page == "a room"
    assert made.situation.image is None


@pytest.mark.parametrize("listed", [None, []])
def test_where_nothing_is_listed_there_is_nothing_to_choose(listed: list[str] | None) -> None:
    assert candidates("a room", {"goal": "out", "admissible_actions": listed}, two_queries) is None


def numbered(count: int) -> Candidates:
    names = tuple(f"action {number}" for number in range(count))
    return Candidates(Situation("goal", "page", tuple(name.upper() for name in names)), names)


def test_twenty_actions_are_left_as_they_are() -> None:
    made = numbered(20)
    assert made.cut(np.random.default_rng(0)) is made


def test_of_more_the_first_six_and_ten_others_stay_in_their_order() -> None:
    made = numbered(40).cut(np.random.default_rng(0))
    assert made.actions[:6] == tuple(f"action {number}" for number in range(6))
    places = [int(action.split()[1]) for action in made.actions]
    assert len(places) == 16
    assert places == sorted(set(places))
    assert made.situation.actions == tuple(action.upper() for action in made.actions)
    assert numbered(40).cut(np.random.default_rng(1)).actions != made.actions
