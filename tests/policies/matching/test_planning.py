"""What is remembered of the shop, what is planned, and the way there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from llm_gym.policies.matching.memory import Memory
from llm_gym.policies.matching.planning import Intent, Patience, plan, way
from llm_gym.policies.shopper import ShopPage

A, B = ("B0A", "red shoe", "$1.0"), ("B0B", "blue shoe", "$2.0")
GOAL = "i need a red shoe"


def read(info: dict[str, Any]) -> ShopPage:
    page = ShopPage.read(info)  # type: ignore[arg-type]
    assert page is not None
    return page


@pytest.fixture
def memory(pages: Any) -> Memory:
    """After a search that found A and B on its only page."""
    memory = Memory()
    memory.see(read(pages(GOAL).search()), "")
    memory.follow(read(pages(GOAL).search()), "search[red shoe]")
    memory.see(read(pages(GOAL).results(A, B)), "Page 1 (Total results: 2)")
    return memory


def opened(memory: Memory, pages: Any, asin: str = "b0a") -> Memory:
    memory.follow(read(pages(GOAL).results(A, B)), f"click[{asin}]")
    memory.see(read(pages(GOAL).item({"size": ("8", "9")})), "an item")
    return memory


def test_results_are_known_by_where_they_were_found(memory: Memory) -> None:
    assert list(memory.products) == ["B0A", "B0B"]
    second = memory.products["B0B"]
    assert (second.title, second.price, second.query, second.number, second.rank) == (*B[1:], "red shoe", 1, 1)
    assert memory.ended == {"red shoe"}


def test_options_and_features_of_the_opened_product_are_added(memory: Memory, pages: Any) -> None:
    opened(memory, pages)
    assert memory.open == "B0A"
    assert memory.products["B0A"].options == {"size": ("8", "9")}
    memory.see(read(pages(GOAL).sub_page()), "[button] < Prev [button_]\n light\n")
    assert memory.products["B0A"].features == " light\n"
    assert memory.products["B0B"].options is None
    assert memory.steps == 2


def test_looking_twice_changes_nothing(memory: Memory, pages: Any) -> None:
    opened(memory, pages)
    before = dict(memory.products)
    memory.see(read(pages(GOAL).item({"size": ("8", "9")})), "an item")
    assert memory.products == before


def test_an_item_that_somebody_else_opened_is_known_by_its_title(pages: Any) -> None:
    memory = Memory()
    text = "[button] < Prev [button_]\nA Shoe\nPrice: $3.0\nRating: N.A.\n[button] Buy Now [button_]\n"
    memory.see(read(pages(GOAL).item({})), text)
    assert memory.open == "A Shoe"
    assert memory.products["A Shoe"].price == "$3.0"


def planned(memory: Memory, first: float, second: float, **patience: Any) -> Intent:
    return plan(memory, {"B0A": first, "B0B": second}, Patience(**patience))


def test_without_products_it_searches() -> None:
    assert plan(Memory(), {}, Patience()) == Intent("search")


def test_the_most_promising_result_is_opened_first(memory: Memory) -> None:
    assert planned(memory, 0.2, 0.3) == Intent("open", "B0B")


def test_what_is_surely_right_is_bought_at_once(memory: Memory, pages: Any) -> None:
    assert planned(opened(memory, pages), 0.95, 0.5) == Intent("buy", "B0A")


def test_other_promising_results_are_opened_before_it_is_sure(memory: Memory, pages: Any) -> None:
    assert planned(opened(memory, pages), 0.6, 0.5) == Intent("open", "B0B")


def test_features_are_read_where_nothing_else_is_promising(memory: Memory, pages: Any) -> None:
    assert planned(opened(memory, pages), 0.6, 0.0) == Intent("read", "B0A")


def test_while_nothing_fits_pages_are_turned_and_then_all_results_opened(memory: Memory, pages: Any) -> None:
    opened(memory, pages)
    memory.products["B0A"] = replace(memory.products["B0A"], features="")
    assert planned(memory, 0.2, 0.0) == Intent("open", "B0B")  # the search found no other page
    memory.ended.clear()
    assert planned(memory, 0.2, 0.0) == Intent("turn")
    assert planned(memory, 0.2, 0.0, pages=1) == Intent("open", "B0B")
    assert planned(memory, 0.6, 0.0) == Intent("buy", "B0A")


def test_the_best_is_bought_when_patience_ends(memory: Memory, pages: Any) -> None:
    opened(memory, pages)
    assert planned(memory, 0.1, 0.5, actions=11) == Intent("buy", "B0A")


def test_the_way_to_a_result_leads_over_its_page(memory: Memory, pages: Any) -> None:
    results = read(pages(GOAL).results(A, B))
    assert way(results, memory, Intent("open", "B0B"), "x") == "click[b0b]"
    assert way(read(pages(GOAL).item({})), memory, Intent("open", "B0B"), "x") == "click[< prev]"
    assert way(read(pages(GOAL).search()), memory, Intent("open", "B0B"), "x") == "search[red shoe]"
    memory.products["B0B"] = replace(memory.products["B0B"], number=2)
    assert way(results, memory, Intent("open", "B0B"), "x") == "click[next >]"
    memory.query = "another"
    assert way(results, memory, Intent("open", "B0B"), "x") == "click[back to search]"
    assert way(results, memory, Intent("turn"), "x") == "click[next >]"
