"""Queries that begin with a mark: random products, and those of an attribute, a category or a query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.env import WebShop, WebShopV0

WORLDS = pytest.mark.parametrize("world", [WebShopV0, WebShop])


def found(env: WebShop, query: str) -> list[str]:
    """The ids on all pages of what a query finds."""
    env.reset(options={"task": env.panel[0]})
    info = env.step(f"search[{query}]")[-1]
    ids: list[str] = []
    while info["results"]:
        ids += [result.asin for result in info["results"]]
        info = env.step("click[next >]")[-1]
    return ids


@WORLDS
@pytest.mark.data
def test_groups_hold_every_product_with_the_value_in_catalogue_order(
    world: type[WebShop], official_store: Path, official: Catalogue
) -> None:
    env = world(official_store, goals="human")
    for mark, name, member in [
        ("<a>", "easy clean", lambda product: "easy clean" in product.attributes),
        ("<c>", "garden", lambda product: product.category == "garden"),
        ("<q>", "women's pants", lambda product: product.query == "women's pants"),
    ]:
        expected = [product.asin for product in official.store if member(product)]
        assert found(env, f"{mark} {name}") == expected
        assert expected
    assert len(found(env, "<c> garden")) > 50


@WORLDS
@pytest.mark.data
def test_random_products_are_fifty_different_ones_and_the_same_for_a_task(
    world: type[WebShop], official_store: Path
) -> None:
    env = world(official_store, goals="human")
    first = found(env, "<r>")
    assert len(first) == len(set(first)) == 50
    assert found(env, "<r> anything") == first
    env.reset(options={"task": env.panel[1]})
    assert [result.asin for result in env.step("search[<r>]")[-1]["results"]] != first[:10]


@WORLDS
def test_random_products_of_a_small_world_are_all_of_it(world: type[WebShop], nasty_world: Path) -> None:
    """The original fails with fewer than fifty products."""
    env = world(nasty_world, goals="human")
    assert sorted(found(env, "<r>")) == sorted(asin for asin, _ in env.catalogue.documents())


@WORLDS
@pytest.mark.parametrize(
    "query", ["<a> no such attribute", "<c> no", "<q> no such query", "<a>", "<c>", "<q>", "<q> shoe"]
)
def test_unknown_values_find_nothing(world: type[WebShop], query: str, nasty_world: Path) -> None:
    assert found(world(nasty_world, goals="human"), query) == []


@WORLDS
def test_groups_of_the_first_products_hold_no_others(world: type[WebShop], nasty_world: Path) -> None:
    env = world(nasty_world, goals="human", num_products=6)
    assert found(env, "<q> shoes") == [asin for asin, _ in env.catalogue.documents()]
    assert len(env.catalogue.documents()) == 6
    assert found(env, "<a> attribute 0") == ["B0BRACKETS", "B0SPACES01"]


@WORLDS
def test_a_mark_counts_only_as_the_first_word(world: type[WebShop], nasty_world: Path) -> None:
    env = world(nasty_world, goals="human")
    assert found(env, "plain <r>") == found(env, "plain r")


def test_several_attributes_of_a_product_lead_to_it(make_world: Any, make_row: Any) -> None:
    rows = [make_row("B000000001", "one"), make_row("B000000002", "two")]
    mined = {
        "B000000001": {"attributes": ["soft sole", "wide", "wide"]},
        "B000000002": {"attributes": ["wide"]},
    }
    human = {"B000000001": [{"instruction": "x", "instruction_attributes": ["y"], "instruction_options": []}]}
    env = WebShop(make_world(rows, mined, human), goals="human")
    assert found(env, "<a> soft sole") == ["B000000001"]
    assert found(env, "<a> wide") == ["B000000001", "B000000002"]
