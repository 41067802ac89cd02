"""What can be chosen, and by which words it is judged."""

from __future__ import annotations

from typing import Any, cast

import pytest

from llm_gym.core import Info
from llm_gym.errors import InvalidSetting
from llm_gym.policies.indexed.candidates import Candidate, candidates


def info(**keys: Any) -> Info:
    return cast(Info, {"goal": "", **keys})


def test_actions_are_read_as_they_are_in_the_order_of_the_world() -> None:
    listed = candidates(info(admissible_actions=["open", "left"]))
    assert listed == (Candidate("open", "open"), Candidate("left", "left"))


def test_a_world_that_cannot_list_its_actions_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="lists no actions"):
        candidates(info(admissible_actions=None))


def test_a_world_without_actions_left_gives_none() -> None:
    assert candidates(info(admissible_actions=[])) == ()


def test_on_the_search_page_of_a_shop_the_actions_are_queries_of_the_instruction(pages: Any) -> None:
    shop = pages("i am looking for a red canvas shoe with laces, and price lower than 40.00 dollars")
    assert [one.action for one in candidates(shop.search())] == [
        "search[i am looking for a red canvas shoe with laces, and price lower than 40.00 dollars]",
        "search[red canvas shoe with laces]",
        "search[red canvas shoe with]",
        "search[canvas shoe with laces]",
    ]


def test_queries_that_are_the_same_are_listed_once(pages: Any) -> None:
    assert [one.action for one in candidates(pages("red shoe").search())] == ["search[red shoe]"]


def test_results_of_a_shop_are_read_by_title_and_price(pages: Any) -> None:
    listed = candidates(pages("red shoe").results(("B001", "Red Shoe", "$10.0"), ("B002", "Blue Hat", "$5.0 to $7.0")))
    assert listed[-2:] == (
        Candidate("click[b001]", "click[Red Shoe $10.0]"),
        Candidate("click[b002]", "click[Blue Hat $5.0 to $7.0]"),
    )
    assert listed[0] == Candidate("click[back to search]", "click[back to search]")


def test_a_command_is_about_itself_and_a_tool_about_its_argument() -> None:
    assert Candidate("go to desk 1", "go to desk 1").subject == "go to desk 1"
    assert Candidate("click[b1]", "click[a [red] shoe]").subject == "a [red] shoe"
