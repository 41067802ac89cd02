"""The invented shop's words, read from the JSON files in `data/`: kinds of product, attributes, phrases, templates."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Literal

CATEGORIES = ("beauty", "electronics", "garden", "fashion", "grocery")

# How an attribute is used in a sentence: "long lasting" | "rubber sole" | "dry skin" | "easy clean".
Role = Literal["quality", "part", "purpose", "ease"]
ROLES: tuple[Role, ...] = ("quality", "part", "purpose", "ease")


@dataclass(frozen=True)
class Attribute:
    """A two-word phrase and the grammar it needs."""

    text: str
    role: Role


@dataclass(frozen=True)
class Kind:
    """A leaf of the category tree: things one could mistake for each other."""

    chain: str
    heads: tuple[str, ...]  # interchangeable nouns, so that equal things need not share a word
    words: tuple[str, ...]
    options: tuple[str, ...]  # names of value pools, commonest group first
    superordinate: str  # what a vague shopper calls it


@dataclass(frozen=True)
class Query:
    """A family of kinds that the shop files under one name."""

    name: str
    category: str
    median_price: float
    words: tuple[str, ...]
    materials: tuple[str, ...]
    uses: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Vocabulary:
    """All words of the shop. The mappings are the JSON tables of the same name."""

    queries: tuple[Query, ...]
    shared_attributes: Mapping[str, tuple[Attribute, ...]]
    odd: tuple[Query, ...]
    titles: Mapping[str, Any]
    names: Mapping[str, Any]
    options: Mapping[str, Any]
    texts: Mapping[str, Any]
    instructions: Mapping[str, Any]


def _table(name: str) -> Any:
    return json.loads(resources.files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8"))


def _attributes(table: Mapping[str, list[str]]) -> tuple[Attribute, ...]:
    return tuple(Attribute(text, role) for role in ROLES for text in table.get(role, []))


def _query(category: str, row: Mapping[str, Any]) -> Query:
    return Query(
        name=row["name"],
        category=category,
        median_price=row["median_price"],
        words=tuple(row["words"]),
        materials=tuple(row["materials"]),
        uses=tuple(row["uses"]),
        attributes=_attributes(row["attributes"]),
        kinds=tuple(
            Kind(
                chain=kind["chain"],
                heads=tuple(kind["heads"]),
                words=tuple(kind["words"]),
                options=tuple(kind["options"]),
                superordinate=kind["superordinate"],
            )
            for kind in row["kinds"]
        ),
    )


def _odd_query(row: Mapping[str, Any], category: Mapping[str, Any]) -> Query:
    """A query with one product; materials, uses and price level are those of its category."""
    kind = Kind(row["chain"], (row["head"],), tuple(row["words"]), ("color", "style"), row["query"])
    return Query(
        name=row["query"],
        category=row["category"],
        median_price=round(math.exp(category["price_log_mean"]), 2),
        words=tuple(row["words"]),
        materials=tuple(category["materials"]),
        uses=tuple(category["uses"]),
        attributes=(),
        kinds=(kind,),
    )


@cache
def load_vocabulary() -> Vocabulary:
    """Reads about 100 KB of JSON, once per process."""
    tables = {category: _table(category) for category in CATEGORIES}
    queries = tuple(_query(category, row) for category in CATEGORIES for row in tables[category]["queries"])
    odd = tuple(_odd_query(row, tables[row["category"]]) for row in _table("odd"))
    return Vocabulary(
        queries=queries,
        shared_attributes={category: _attributes(tables[category]["attributes"]) for category in CATEGORIES},
        odd=odd,
        titles=_table("titles"),
        names=_table("names"),
        options=_table("options"),
        texts=_table("texts"),
        instructions=_table("instructions"),
    )
