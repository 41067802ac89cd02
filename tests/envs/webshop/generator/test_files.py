"""The files: the same bytes from the same settings, readable by the rules of the official ones."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from llm_gym.envs.webshop.build import build_store
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.generator import HARD, STANDARD, CatalogueSettings, Entry, generate, write_catalogue

FILES = ("items_shuffle.json", "items_ins_v2.json", "items_human_ins.json", "catalogue.json")
SMALL = replace(STANDARD, products=120)


def test_equal_settings_give_equal_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_catalogue(SMALL, tmp_path / name)
    for file in FILES:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_another_seed_gives_other_products() -> None:
    one, other = (
        {entry.product["name"] for entry in generate(settings)} for settings in (SMALL, replace(SMALL, seed=12345))
    )
    assert not one & other


def test_the_presets_differ() -> None:
    assert HARD.queries < STANDARD.queries
    one, other = (next(generate(settings)).product for settings in (STANDARD, HARD))
    assert one != other


def test_files_hold_what_generate_yields(tmp_path: Path) -> None:
    write_catalogue(SMALL, tmp_path)
    entries = list(generate(SMALL))
    products, attributes, goals = (json.loads((tmp_path / file).read_text(encoding="utf-8")) for file in FILES[:3])
    assert products == [entry.product for entry in entries]
    assert attributes == {entry.product["asin"]: entry.attributes for entry in entries}
    assert goals == {entry.product["asin"]: entry.human_goals for entry in entries if entry.human_goals}


def test_a_catalogue_without_goals_is_valid_json(tmp_path: Path) -> None:
    write_catalogue(replace(SMALL, products=5, goal_products=0.0), tmp_path)
    assert json.loads((tmp_path / "items_human_ins.json").read_text(encoding="utf-8")) == {}


def test_progress_reaches_the_end(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    write_catalogue(replace(SMALL, products=150), tmp_path, progress=lambda done, total: heard.append((done, total)))
    assert heard == [(100, 150), (150, 150)]


def test_the_store_is_built_without_a_tagger_and_splits_by_product(tmp_path: Path) -> None:
    write_catalogue(STANDARD, tmp_path / "files")
    build_store(tmp_path / "files", tmp_path / "store")
    catalogue = Catalogue.open(tmp_path / "store")
    assert catalogue.size == STANDARD.products
    assert catalogue.store.meta["splits"] == "by-product"
    assert catalogue.store.meta["noun_model"] == "given with the titles"


@pytest.mark.parametrize("products", [1, 7, 48])
def test_tiny_catalogues_have_the_wanted_size(products: int) -> None:
    assert sum(1 for _ in generate(replace(STANDARD, products=products))) == products


def test_time_grows_with_the_number_of_products_only() -> None:
    begun = time.process_time()
    count = sum(1 for _ in generate(replace(STANDARD, products=2000)))
    assert count == 2000
    assert time.process_time() - begun < 20


def test_a_large_catalogue_begins_at_once() -> None:
    """A hundred thousand products are planned, not made, before the first one comes."""
    begun = time.process_time()
    stream: Iterator[Entry] = generate(replace(STANDARD, products=100_000))
    assert len({next(stream).product["asin"] for _ in range(50)}) == 50
    assert time.process_time() - begun < 15


@pytest.mark.parametrize("wrong", [{"products": 0}, {"queries": 0}, {"queries": 48}, {"extra_attributes": (1.0,)}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        CatalogueSettings(**wrong)  # type: ignore[arg-type]
