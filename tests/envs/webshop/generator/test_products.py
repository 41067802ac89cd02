"""What the products look like, against the figures measured on the official 1,000-product world."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from statistics import fmean, median

import pytest

from llm_gym.envs.webshop.generator import Entry
from llm_gym.envs.webshop.generator.acceptance import World
from llm_gym.envs.webshop.generator.vocabulary import load_vocabulary
from llm_gym.envs.webshop.reward import categories_match, title_score


def share(flags: Iterable[bool]) -> float:
    return fmean(map(float, flags))


def test_every_asin_is_unique_and_official_in_form(standard: list[Entry]) -> None:
    asins = [entry.product["asin"] for entry in standard]
    assert len(set(asins)) == len(asins) == 1200
    assert all(re.fullmatch(r"B0[0-9A-Z]{8}", asin) for asin in asins)


def test_titles_are_unique(standard: list[Entry]) -> None:
    titles = [entry.product["name"] for entry in standard]
    assert len(set(titles)) == len(titles)


def test_no_option_value_can_break_an_action(world: World) -> None:
    for product in world.products.values():
        values = [value for group in product.options.values() for value in group]
        assert not any(mark in value for value in values for mark in "[]")
        assert all(re.search(r"[a-z0-9]", value) for value in values)
        assert len(set(values)) == len(values)


def test_options_come_through_the_loader_unchanged(world: World, standard: list[Entry]) -> None:
    for entry in standard:
        owned = {value for group in world.products[entry.product["asin"]].options.values() for value in group}
        for goal in entry.human_goals:
            assert set(goal["instruction_options"]) <= owned


@pytest.mark.parametrize(
    ("category", "expected"),
    [("beauty", 0.24), ("electronics", 0.23), ("garden", 0.21), ("fashion", 0.20), ("grocery", 0.12)],
)
def test_category_shares(standard: list[Entry], category: str, expected: float) -> None:
    assert share(entry.product["category"] == category for entry in standard) == pytest.approx(expected, abs=0.04)


def test_titles_have_the_length_and_nouns_of_official_ones(world: World) -> None:
    words = [len(product.title.split()) for product in world.products.values()]
    nouns = [len(product.title_nouns) for product in world.products.values()]
    assert fmean(words) == pytest.approx(18.6, abs=1.5)
    assert sum(nouns) / sum(words) == pytest.approx(0.83, abs=0.03)
    assert max(len(product.title) for product in world.products.values()) <= 200


def test_siblings_share_as_many_nouns_as_official_ones(world: World) -> None:
    queries: dict[str, list[str]] = {}
    for asin, product in world.products.items():
        queries.setdefault(product.query, []).append(asin)
    pairs = [
        (world.products[one], world.products[other])
        for asins in queries.values()
        for one, other in zip(asins, asins[1:] + asins[:1], strict=True)
        if one != other
    ]
    scores = [title_score(one.title_nouns, other.title_nouns) for one, other in pairs]
    assert fmean(scores) == pytest.approx(0.139, abs=0.03)
    assert share(score == 0 for score in scores) == pytest.approx(0.22, abs=0.06)
    chains = share(categories_match(one.product_category, other.product_category) for one, other in pairs)
    assert chains == pytest.approx(0.67, abs=0.08)


def test_attributes_are_two_words_and_belong_to_one_category(world: World) -> None:
    categories: dict[str, set[str]] = {}
    for query in load_vocabulary().queries:
        for attribute in query.attributes:
            categories.setdefault(attribute.text, set()).add(query.category)
    used = {attribute for product in world.products.values() for attribute in product.attributes}
    assert all(len(attribute.split(" ")) == 2 for attribute in used)
    assert 550 <= len(used) <= 650
    assert share(len(owners) == 1 for owners in categories.values()) > 0.96
    counts = [len(product.attributes) for product in world.products.values()]
    assert fmean(counts) == pytest.approx(2.8, abs=0.3)
    assert share(count == 0 for count in counts) == pytest.approx(0.165, abs=0.03)


def test_option_groups_have_the_official_sizes(world: World) -> None:
    groups = [len(values) for product in world.products.values() for values in product.options.values()]
    assert median(groups) == 4
    assert min(groups) >= 2
    assert max(groups) <= 45
    wanted = [product for product in world.products.values() if product.human]
    assert share(bool(product.options) for product in wanted) == pytest.approx(0.80, abs=0.04)
    assert share(len(product.options) >= 2 for product in wanted) == pytest.approx(0.45, abs=0.06)


def test_prices_are_missing_and_ranged_as_often_as_in_the_official_world(world: World) -> None:
    products = world.products.values()
    assert share(not product.pricing for product in products) == pytest.approx(0.09, abs=0.03)
    fashion = [product for product in products if product.category == "fashion"]
    assert share(len(product.pricing) == 2 for product in fashion) == pytest.approx(0.40, abs=0.08)
    tags = [product.price_tag for product in products if len(product.pricing) == 1]
    assert share(tag.endswith(".99") for tag in tags) == pytest.approx(0.41, abs=0.05)


def test_texts_have_the_official_shape(world: World) -> None:
    products = world.products.values()
    counts = Counter(len(product.bullets) for product in products)
    assert counts.most_common(1)[0][0] == 5
    assert share(not product.description for product in products) == pytest.approx(0.28, abs=0.05)
    assert 70 <= median(len(document.split()) for document in world.documents.values()) <= 140


def test_product_page_texts_have_no_open_slots(standard: list[Entry]) -> None:
    for entry in standard:
        texts = [entry.product["name"], entry.product["full_description"], *entry.product["small_description"]]
        assert not any(mark in text for text in texts for mark in "{}")
