"""Writes a catalogue in the official file formats, one product at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import orjson

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.instructions import Goal, GoalWriter
from llm_gym.envs.webshop.generator.plan import GOAL, make_plan
from llm_gym.envs.webshop.generator.products import Product, make_product
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.vocabulary import load_vocabulary

ITEMS = "items_shuffle.json"
ATTRIBUTES = "items_ins_v2.json"
HUMAN_GOALS = "items_human_ins.json"
DESCRIPTION = "catalogue.json"


@dataclass(frozen=True)
class Entry:
    """One product as the three official files hold it; `human_goals` is empty for products nobody asks for."""

    product: dict[str, Any]
    attributes: dict[str, Any]
    human_goals: list[dict[str, Any]]


def _human_row(product: Product, goal: Goal) -> dict[str, Any]:
    return {
        "asin": product.asin,
        "instruction": goal.text,
        "attributes": [attribute.text for attribute in product.attributes],
        "options": [f"{name}: {value}" for name, _, value in goal.options],
        "instruction_attributes": [attribute.text for attribute in goal.attributes],
        "instruction_options": [value for _, _, value in goal.options],
    }


def _entry(product: Product, writer: GoalWriter) -> Entry:
    attributes: dict[str, Any] = {"attributes": [attribute.text for attribute in product.attributes]}
    synthetic = writer.synthetic()
    if synthetic is not None:
        attributes["instruction"], attributes["instruction_attributes"] = synthetic
    return Entry(dict(product.row), attributes, [_human_row(product, goal) for goal in writer.goals()])


def generate(settings: CatalogueSettings) -> Iterator[Entry]:
    """The catalogue in file order. Memory does not grow with it, apart from twelve bytes a product."""
    vocabulary = load_vocabulary()
    plan = make_plan(settings, vocabulary)
    for index in range(settings.products):
        product = make_product(index, plan, settings, vocabulary)
        yield _entry(product, GoalWriter(product, settings, vocabulary, Dice(settings.seed, GOAL, index)))


class _JsonFile:
    """A JSON list or object written row by row, one row a line."""

    def __init__(self, file: IO[bytes], brackets: bytes) -> None:
        self._file = file
        self._close = brackets[1:]
        self._joint = brackets[:1] + b"\n"

    def add(self, value: Any, key: str | None = None) -> None:
        self._file.write(self._joint + (b"" if key is None else orjson.dumps(key) + b":") + orjson.dumps(value))
        self._joint = b",\n"

    def finish(self) -> None:
        """Closes the bracket; an empty file still gets both."""
        self._file.write((self._joint if self._joint != b",\n" else b"\n") + self._close + b"\n")


def _description(settings: CatalogueSettings) -> dict[str, Any]:
    """What a store needs to know of an invented catalogue: its name, how goals are split, how to make it again."""
    name = f"invented-{settings.name}-{settings.products}-{settings.seed}"
    return {"name": name, "splits": "by-product", "settings": asdict(settings)}


def write_catalogue(
    settings: CatalogueSettings, folder: Path, progress: Callable[[int, int], None] | None = None
) -> None:
    """Writes the files into `folder`, replacing older ones; `progress` hears (products done, all) each hundred."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DESCRIPTION).write_bytes(orjson.dumps(_description(settings), option=orjson.OPT_INDENT_2))
    with (
        (folder / ITEMS).open("wb") as items_file,
        (folder / ATTRIBUTES).open("wb") as attributes_file,
        (folder / HUMAN_GOALS).open("wb") as goals_file,
    ):
        items, attributes, goals = (
            _JsonFile(items_file, b"[]"),
            _JsonFile(attributes_file, b"{}"),
            _JsonFile(goals_file, b"{}"),
        )
        for number, entry in enumerate(generate(settings), start=1):
            items.add(entry.product)
            attributes.add(entry.attributes, entry.product["asin"])
            if entry.human_goals:
                goals.add(entry.human_goals, entry.product["asin"])
            if progress is not None and (number % 100 == 0 or number == settings.products):
                progress(number, settings.products)
        for file in (items, attributes, goals):
            file.finish()
