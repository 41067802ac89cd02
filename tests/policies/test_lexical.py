"""The baseline that compares words."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.errors import InvalidSetting
from llm_gym.policies import LexicalPolicy

GOAL = "i am looking for a red leather shoe in size 7, and price lower than 40.00 dollars"
CHEAP = ("B0AA", "Sock", "$5.0")
DEAR = ("B0BB", "Red leather shoe", "$50.0")
GOOD = ("B0CC", "Red leather shoe", "$30.0 to $40.0")
FOURTH = ("B0DD", "Red shoe", "$20.0")
SIZES = {"size": ("7", "8")}


def test_it_searches_without_opening_and_price(pages: Any) -> None:
    assert LexicalPolicy().act("", pages(GOAL).search()).action == "search[red leather shoe in size 7]"


def test_it_reads_results_it_can_afford_and_buys_the_one_that_agrees_best(pages: Any) -> None:
    policy, page = LexicalPolicy(read=2), pages(GOAL)
    results = page.results(CHEAP, DEAR, GOOD, FOURTH)
    actions = [
        policy.act("", results).action,  # the sock
        policy.act("", page.item({})).action,
        policy.act("", results).action,  # the good one; the other shoe is too dear
        policy.act("", page.item(SIZES)).action,
        policy.act("", page.item(SIZES, {"size": "7"})).action,
    ]
    assert actions == ["click[b0aa]", "click[< prev]", "click[b0cc]", "click[7]", "click[buy now]"]


def test_it_goes_back_to_a_better_one(pages: Any) -> None:
    policy, page = LexicalPolicy(read=2), pages(GOAL)
    results = page.results(GOOD, CHEAP)
    actions = [
        policy.act("", results).action,
        policy.act("", page.item(SIZES)).action,
        policy.act("", results).action,
        policy.act("", page.item({})).action,
        policy.act("", results).action,
        policy.act("", page.item(SIZES)).action,
    ]
    assert actions == [
        "click[b0cc]", "click[< prev]", "click[b0aa]", "click[< prev]", "click[b0cc]", "click[7]",
    ]  # fmt: skip


def test_of_equals_the_better_ranked_is_bought(pages: Any) -> None:
    policy, page = LexicalPolicy(read=2), pages(GOAL)
    results = page.results(("B01", "Red shoe", "$9.0"), ("B02", "Red shoe", "$9.0"))
    for info in (results, page.item({}), results, page.item({})):
        policy.act("", info)
    assert policy.act("", results).action == "click[b01]"


def test_where_all_is_too_dear_the_first_ones_are_read(pages: Any) -> None:
    assert LexicalPolicy().act("", pages(GOAL).results(DEAR)).action == "click[b0bb]"


def test_without_a_price_limit_nothing_is_too_dear(pages: Any) -> None:
    assert LexicalPolicy().act("", pages("a red shoe").results(DEAR, CHEAP)).action == "click[b0bb]"


def test_it_advises_to_buy_an_item_that_somebody_else_opened(pages: Any) -> None:
    policy, page = LexicalPolicy(), pages(GOAL)
    assert policy.advise("", page.item(SIZES))[0].action == "click[7]"
    assert policy.advise("", page.item(SIZES, {"size": "7"}))[0].action == "click[buy now]"


def test_it_stops_where_nothing_was_found(pages: Any) -> None:
    assert LexicalPolicy().act("", pages(GOAL).results()).action is None


def test_it_must_read_something() -> None:
    with pytest.raises(InvalidSetting, match="read must be 1 result at least, got 0"):
        LexicalPolicy(read=0)


def test_how_much_it_reads_is_part_of_its_settings() -> None:
    assert LexicalPolicy(read=3).settings() == {"read": 3}
