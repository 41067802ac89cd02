"""The official 1,000-product world, loaded: every field, every goal, the official order and splits."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from llm_gym.envs.webshop.build import shuffled
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.env import WebShop
from llm_gym.envs.webshop.goals import make_goal
from llm_gym.envs.webshop.panels import FULL_HUMAN_GOALS, make_panel, selections
from llm_gym.errors import UnknownName

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def documents(webshop_folder: Path) -> list[dict[str, Any]]:
    lines = (webshop_folder / "documents_1000.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def official_texts(webshop_folder: Path) -> list[str]:
    """All human goal texts in the official order, lower-case, without quotes and price."""
    texts: list[str] = json.loads((webshop_folder / "human_goals.json").read_text(encoding="utf-8"))
    return texts


def human_texts(official: Catalogue) -> list[str]:
    """Of the 1,000 products, in catalogue order, as human_goals.json spells them."""
    table = official.goals("human")
    goals = [
        make_goal(official.store.product(int(owner)), "human", int(ordinal), 1e6)
        for owner, ordinal in zip(table.owners, table.ordinals, strict=True)
    ]
    return [goal.instruction.lower().replace('"', "").replace("'", "") for goal in goals]


def test_world_has_the_published_numbers_of_products_and_goals(official: Catalogue) -> None:
    assert official.size == 1000
    assert len(official.goals("synthetic")) == 6910
    assert len(official.goals("human")) == 13
    assert official.store.meta["duplicate_ids"] == 0
    assert official.store.meta["unusable_ids"] == 0
    assert official.store.meta["bad_records"] == []
    assert official.store.meta["ids_only_in_attribute_file"] == 0


FIELDS = {
    "Title": lambda product: product.title,
    "Description": lambda product: product.description,
    "BulletPoints": lambda product: list(product.bullets),
    "pricing": lambda product: list(product.pricing) or [100.0],
    "Price": lambda product: product.price_tag,
    "options": lambda product: {name: list(values) for name, values in product.options.items()},
    "option_to_image": lambda product: dict(product.option_images),
    "Attributes": lambda product: list(product.attributes),
    "MainImage": lambda product: product.main_image,
    "query": lambda product: product.query,
    "category": lambda product: product.category,
    "product_category": lambda product: product.product_category,
    "asin": lambda product: product.asin,
}
"""Field of the original's loaded product → the same of ours; a missing price is the original's 100.0."""


@pytest.mark.parametrize("field", FIELDS)
def test_loaded_field_equals_the_original_for_every_product(
    field: str, official: Catalogue, documents: list[dict[str, Any]]
) -> None:
    ours = [FIELDS[field](product) for product in official.store]
    assert ours == [document["product"][field] for document in documents]


def test_options_stand_in_the_order_of_the_file(official: Catalogue, documents: list[dict[str, Any]]) -> None:
    ours = [list(product.options) for product in official.store]
    assert ours == [list(document["product"]["options"]) for document in documents]


def test_searched_text_equals_the_official_document(official: Catalogue, documents: list[dict[str, Any]]) -> None:
    ours = [(product.asin, product.document()) for product in official.store]
    assert ours == [(document["id"], document["contents"]) for document in documents]


def test_every_product_is_found_by_its_id(official: Catalogue, documents: list[dict[str, Any]]) -> None:
    for document in documents:
        product = official.find(document["id"])
        assert product is not None
        assert product.title == document["product"]["Title"]
    assert official.find("B000000000") is None


def test_human_goals_stand_where_the_official_order_has_them(official: Catalogue, official_texts: list[str]) -> None:
    """The 1,000 products are the first of the full file, so their goals are the first 13 before the shuffle."""
    order = shuffled(FULL_HUMAN_GOALS).tolist()
    positions = [order.index(goal) for goal in range(13)]
    assert [official_texts[position].strip() for position in positions] == human_texts(official)


def test_official_splits_are_offered_only_with_all_human_goals(official: Catalogue) -> None:
    for kind in ("human", "synthetic"):
        by_product = ["train_products", "heldout_products", "training_products", "validation_products"]
        assert list(selections(official.goals(kind))) == ["all", *by_product]
    with pytest.raises(UnknownName, match=r"Unknown split 'test'"):
        make_panel(official.goals("human"), "test")


def test_product_splits_share_no_product_and_no_goal_is_lost_but_by_the_limit(official: Catalogue) -> None:
    table = official.goals("synthetic")
    parts = [list(make_panel(table, name)) for name in ("train_products", "heldout_products")]
    products = [{task.split(".")[0] for task in part} for part in parts]
    assert not products[0] & products[1]
    assert products[0] | products[1] == {table.task_id(goal).split(".")[0] for goal in range(len(table))}
    for part in parts:
        assert max(Counter(task.split(".")[0] for task in part).values()) == 12


def test_synthetic_text_is_one_that_the_original_printed(official_store: Path, webshop_folder: Path) -> None:
    """The goal of the recorded random run, without its price."""
    log = " ".join((webshop_folder / "original_random_run.txt").read_text(encoding="utf-8").split())
    printed = log.split("Instruction: [SEP] ")[1].split(", and price lower than")[0]
    env = WebShop(official_store, goals="synthetic")
    texts = (env.reset(options={"task": task})[1]["goal"] for task in env.panel)
    assert any(text.split(", and price lower than")[0] == printed for text in texts)


def test_ids_are_unique_and_found_again(official: Catalogue) -> None:
    for kind in ("human", "synthetic"):
        table = official.goals(kind)
        ids = [table.task_id(goal) for goal in range(len(table))]
        assert len(set(ids)) == len(ids)
        assert [table.find(identity) for identity in ids] == list(range(len(table)))


def test_synthetic_weights_are_the_mean_rarity_of_a_goals_attributes(official: Catalogue, webshop_folder: Path) -> None:
    mined = json.loads((webshop_folder / "items_ins_v2_1000.json").read_text(encoding="utf-8"))
    table = official.goals("synthetic")
    wanted = [mined[table.task_id(goal).split(".")[0]]["instruction_attributes"] for goal in range(len(table))]
    count: dict[str, int] = {}
    for attributes in wanted:
        for attribute in attributes:
            count[attribute] = count.get(attribute, 0) + 1
    expected = [sum(1 / count[one] for one in attributes) / len(attributes) for attributes in wanted]
    assert official.store.synthetic_weights().tolist() == pytest.approx(expected)


# -- the first products only ---------------------------------------------------------------------------------------


def test_first_products_are_searched_alone(official_store: Path, official: Catalogue) -> None:
    part = Catalogue.open(official_store, num_products=100)
    first = {official.store.asin(position) for position in range(100)}
    assert part.size == 100
    for query in ("shoes", "women", "gluten free snack", "hair"):
        found = part.engine().search(query, 50)
        assert found
        assert set(found) <= first
    assert len({found for query in ("men", "women", "black") for found in official.engine().search(query)} - first) > 0
    assert part.find(official.store.asin(100)) is None
    assert part.digest != official.digest


def test_goals_of_the_first_products_are_shuffled_among_themselves(official_store: Path, official: Catalogue) -> None:
    part, whole = Catalogue.open(official_store, num_products=100).goals("synthetic"), official.goals("synthetic")
    count = sum(1 for owner in whole.owners if owner < 100)
    assert len(part) == count
    order = list(range(count))
    random.Random(233).shuffle(order)
    assert list(make_panel(part, "all")) == [whole.task_id(goal) for goal in order]


def test_more_products_than_there_are_means_all(official_store: Path, official: Catalogue) -> None:
    assert Catalogue.open(official_store, num_products=5000).digest == official.digest
