"""Demonstrations beside people."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.demonstrations import Demonstration
from llm_gym.demonstrations.statistics import ShopStatistics

BUY = "click[buy now]"


@pytest.fixture
def bought(make: Any, shopper: Any) -> Demonstration:
    steps = shopper().search("red shoe").results("click[a]").item(BUY).steps
    told: Demonstration = make(steps=steps, goal="i need a red shoe, and price lower than 20.00 dollars")
    return told


def test_every_number_stands_beside_that_of_people(bought: Demonstration) -> None:
    table = {one.name: one for one in ShopStatistics.of(iter([bought, bought])).beside_people()}
    assert (table["searches"].value, table["searches"].people, table["searches"].experts) == (1.0, 1.62, 1.40)
    assert (table["pages, median"].value, table["pages, median"].people) == (4, 7)
    assert (table["item → buy"].value, table["item → buy"].people) == (1.0, 0.29)
    assert (table["first query: span"].value, table["first query: span"].people) == (1.0, 0.396)
    assert table["query length / instruction, median"].value == 2 / 5
    assert table["success"].is_share
    assert not table["score"].is_share


def test_people_s_shares_of_a_whole_are_whole(bought: Demonstration) -> None:
    table = {one.name: one.people or 0.0 for one in ShopStatistics.of([bought]).beside_people()}
    for start in ("first query: ", "first opened: ", "search → ", "results → ", "item → ", "sub → "):
        shares = [share for name, share in table.items() if name.startswith(start)]
        assert sum(shares) == pytest.approx(1, abs=0.005), start


def test_of_queries_alone_only_these_are_told(make: Any, shopper: Any) -> None:
    names = [one.name for one in ShopStatistics.of([make(steps=shopper().search("shoe").steps)]).beside_people()]
    assert "first query: span" in names
    assert "searches" not in names


def test_of_another_world_nothing_is_told(make: Any) -> None:
    assert ShopStatistics.of([make()]).beside_people() == []
