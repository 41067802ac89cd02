"""The product record, and the rules that make one from a row of the official product file."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MISSING_PRICE = 100.0
"""What the original charges for a product without a price."""
NO_ATTRIBUTE = "DUMMY_ATTR"
"""What the original gives a product without an entry in the attribute file."""
MAX_ASIN_LENGTH = 10
_NOT_PRICE = re.compile(r"[^0-9.]")


class RecordError(ValueError):
    """One row breaks the format; the caller adds the file and the row's number."""


@dataclass(frozen=True, slots=True)
class HumanInstruction:
    """What a person asked for, as a row of `items_human_ins.json`."""

    text: str
    attributes: tuple[str, ...]
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Product:
    """One product as the shop shows it and the reward reads it."""

    asin: str
    title: str
    description: str
    bullets: tuple[str, ...]
    pricing: tuple[float, ...]
    """Empty: no price; one: the price; two: a range, low to high as in the file."""
    options: Mapping[str, tuple[str, ...]]
    """Option name → values, both lower-case, in file order; duplicates are kept."""
    option_images: Mapping[str, str | None]
    attributes: tuple[str, ...]
    """Hidden from shoppers; the reward reads them."""
    main_image: str
    category: str
    query: str
    product_category: str
    """Path of categories, "A › B › C"."""
    title_nouns: tuple[str, ...]
    """Lower-case nouns of the title in order, duplicates kept."""
    instruction: str | None = None
    """The synthetic instruction, without options and price."""
    instruction_attributes: tuple[str, ...] = ()
    human: tuple[HumanInstruction, ...] = ()

    @property
    def price_tag(self) -> str:
        """As the pages show it: `$15.0`, or `$10.0 to $20.5`."""
        return price_tag(self.pricing)

    def document(self) -> str:
        """The text that search sees: title, description, first bullet and options, lower-case."""
        options = ", and ".join(f"{name}: {', '.join(values)}" for name, values in self.options.items())
        first_bullet = self.bullets[0] if self.bullets else ""
        return f"{self.title} {self.description} {first_bullet} {options}".lower()

    def to_json(self) -> dict[str, Any]:
        """The stored form; `from_json` reads it back."""
        return {
            "asin": self.asin,
            "title": self.title,
            "description": self.description,
            "bullets": self.bullets,
            "pricing": self.pricing,
            "options": dict(self.options),
            "option_images": dict(self.option_images),
            "attributes": self.attributes,
            "main_image": self.main_image,
            "category": self.category,
            "query": self.query,
            "product_category": self.product_category,
            "title_nouns": self.title_nouns,
            "instruction": self.instruction,
            "instruction_attributes": self.instruction_attributes,
            "human": [[one.text, one.attributes, one.options] for one in self.human],
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Product:
        """The product of a stored record."""
        return cls(
            asin=record["asin"],
            title=record["title"],
            description=record["description"],
            bullets=tuple(record["bullets"]),
            pricing=tuple(record["pricing"]),
            options={name: tuple(values) for name, values in record["options"].items()},
            option_images=record["option_images"],
            attributes=tuple(record["attributes"]),
            main_image=record["main_image"],
            category=record["category"],
            query=record["query"],
            product_category=record["product_category"],
            title_nouns=tuple(record["title_nouns"]),
            instruction=record["instruction"],
            instruction_attributes=tuple(record["instruction_attributes"]),
            human=tuple(HumanInstruction(text, tuple(atts), tuple(opts)) for text, atts, opts in record["human"]),
        )


def price_tag(pricing: Sequence[float]) -> str:
    """A price, or a range of two, as the pages show it."""
    match pricing:
        case []:
            return f"${MISSING_PRICE}"
        case [price]:
            return f"${price}"
        case [low, high, *_]:
            return f"${low} to ${high}"
    raise AssertionError("unreachable")


def parse_price(text: object) -> tuple[float, ...]:
    """The prices in a price text: none, one, or the first two.

    The original fails on a text without `$` and on one with two dots in a number; here such a text is no price.

    >>> parse_price("$1,299.00"), parse_price("$10.00 - $20.50"), parse_price("call us"), parse_price("$1.2.3")
    ((1299.0,), (10.0, 20.5), (), ())
    """
    if not isinstance(text, str) or "$" not in text:
        return ()
    try:
        prices = tuple(float(_NOT_PRICE.sub("", piece)) for piece in text.split("$")[1:])
    except ValueError:
        return ()
    return prices[:2] if all(math.isfinite(price) for price in prices) else ()


def parse_options(raw: object) -> tuple[dict[str, tuple[str, ...]], dict[str, str | None]]:
    """Option groups and the images of their values; a group without contents is left out."""
    if not raw:
        return {}, {}
    if not isinstance(raw, Mapping):
        raise RecordError(f'"customization_options" should be an object, is {type(raw).__name__}')
    options: dict[str, tuple[str, ...]] = {}
    images: dict[str, str | None] = {}
    for name, contents in raw.items():
        if contents is None:
            continue
        values = []
        for content in _list_of_objects(contents, f"option group {name!r}"):
            value = _text(content, "value").strip().replace("/", " | ").lower()
            values.append(value)
            images[value] = _text(content, "image") or None
        options[name.lower()] = tuple(values)
    return options, images


def product_from_raw(
    row: object, mined: Mapping[str, Any] | None, human: object, nouns: tuple[str, ...] | None
) -> Product:
    """The product of one row of `items_shuffle*.json`.

    Args:
        row: the raw object, already known to have a usable "asin".
        mined: its entry of `items_ins_v2*.json`, or None when it has none.
        human: its list of `items_human_ins.json`, or None.
        nouns: of the title; None: the row brings them, as "title_nouns".

    Raises:
        RecordError: a field has the wrong shape; the message names it.
    """
    if not isinstance(row, Mapping):
        raise RecordError(f"a product should be an object, is {type(row).__name__}")
    options, option_images = parse_options(row.get("customization_options"))
    bullets = row.get("small_description")
    mined = mined or {}
    return Product(
        asin=row["asin"],
        title=_text(row, "name"),
        description=_text(row, "full_description"),
        bullets=_texts(bullets if isinstance(bullets, list) else [bullets or ""], "small_description"),
        pricing=parse_price(row.get("pricing")),
        options=options,
        option_images=option_images,
        attributes=_texts(mined["attributes"], "attributes") if "attributes" in mined else (NO_ATTRIBUTE,),
        main_image=next(iter(_texts(row.get("images") or [], "images")), ""),
        category=_text(row, "category"),
        query=_text(row, "query").lower().strip(),
        product_category=_text(row, "product_category"),
        title_nouns=_texts(row.get("title_nouns"), "title_nouns") if nouns is None else nouns,
        instruction=_text(mined, "instruction") or None,
        instruction_attributes=_texts(mined.get("instruction_attributes") or [], "instruction_attributes"),
        human=_human_instructions(human),
    )


def asin_of(row: object) -> str | None:
    """The id of a raw row; None when the original skips the row (id "nan" or longer than ten characters).

    Raises:
        RecordError: there is no id at all.
    """
    if not isinstance(row, Mapping) or not isinstance(row.get("asin"), str) or not row["asin"]:
        raise RecordError('a product has no "asin"')
    asin: str = row["asin"]
    return None if asin == "nan" or len(asin) > MAX_ASIN_LENGTH else asin


def _human_instructions(raw: object) -> tuple[HumanInstruction, ...]:
    """Those that name an attribute; the original skips the others."""
    if not raw:
        return ()
    found = []
    for one in _list_of_objects(raw, "human instructions"):
        attributes = _texts(one.get("instruction_attributes") or [], "instruction_attributes")
        options = _texts(one.get("instruction_options") or [], "instruction_options")
        if attributes:
            found.append(HumanInstruction(_text(one, "instruction"), attributes, options))
    return tuple(found)


def _text(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None or value != value:  # NaN, as tables write a missing text, differs from itself
        return ""
    if not isinstance(value, str):
        raise RecordError(f'"{key}" should be a text, is {type(value).__name__}')
    return _whole(value, key)


def _whole(text: str, key: str) -> str:
    """The text itself, unless it holds half a surrogate pair, which no file and no page can show."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise RecordError(f'"{key}" holds half a character ({error.reason})') from error
    return text


def _texts(values: object, key: str) -> tuple[str, ...]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise RecordError(f'"{key}" should be a list of texts')
    return tuple(_whole(value, key) for value in values)


def _list_of_objects(values: object, what: str) -> list[Mapping[str, Any]]:
    if not isinstance(values, list) or not all(isinstance(value, Mapping) for value in values):
        raise RecordError(f"{what} should be a list of objects")
    return values
