"""One product, from its place in the plan to the row of the official file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.names import article_number, brand, model_code
from llm_gym.envs.webshop.generator.options import OptionGroup, make_groups, raw_options
from llm_gym.envs.webshop.generator.plan import FAMILY, NO_FAMILY, PRODUCT, Plan, Section
from llm_gym.envs.webshop.generator.prices import price_tag
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.texts import Place, TextWriter, draw_place
from llm_gym.envs.webshop.generator.titles import TitleWriter, title_length, title_nouns
from llm_gym.envs.webshop.generator.vocabulary import CATEGORIES, Attribute, Kind, Query, Vocabulary

# Two attributes that end in one of these contradict each other (long sleeve, short sleeve).
_EXCLUSIVE = frozenset(("size", "fit", "length", "sleeve", "roast", "neck", "leg", "waist", "notes", "closure", "toe"))


@dataclass(frozen=True)
class Product:
    """Everything the goals need to know about one invented product; `row` is what the file says."""

    asin: str
    query: Query
    kind: Kind
    brand: str
    head: str
    title: str
    attributes: tuple[Attribute, ...]
    options: tuple[OptionGroup, ...]
    carries_goals: bool
    row: Mapping[str, Any]


@dataclass(frozen=True)
class _Sketch:
    """What siblings of a family share."""

    query: Query
    kind: Kind
    brand: str
    head: str
    attributes: tuple[Attribute, ...]
    places: tuple[Place, ...]


def _draw_attributes(section: Section, count: int, settings: CatalogueSettings, dice: Dice) -> tuple[Attribute, ...]:
    """`count` distinct attributes that do not contradict each other, the pool's first ones most often."""
    pool = list(section.pool)
    weights = [(rank + 1.0) ** -settings.zipf_slope for rank in range(len(pool))]
    chosen: list[Attribute] = []
    while pool and len(chosen) < count:
        position = dice.weighted(weights)
        attribute = pool.pop(position)
        weights.pop(position)
        last = attribute.text.split(" ")[1]
        if last not in _EXCLUSIVE or all(other.text.split(" ")[1] != last for other in chosen):
            chosen.append(attribute)
    return tuple(chosen)


def _attribute_count(category: str, rich: bool, settings: CatalogueSettings, dice: Dice) -> int:
    """At least two on products with goals; none on the others, or one, so that 15-18 % of the shop has none."""
    if not rich:
        return int(dice.chance(0.08))
    return 2 + dice.geometric(settings.extra_attributes[CATEGORIES.index(category)])


def _pick_kind(query: Query, settings: CatalogueSettings, dice: Dice) -> Kind:
    return query.kinds[dice.weighted(settings.kind_weights[: len(query.kinds)])]


def _draw_brand(section: int, settings: CatalogueSettings, vocabulary: Vocabulary, dice: Dice) -> str:
    """A new brand; or one of three that the section's larger makers use."""
    if dice.chance(settings.shared_brand):
        return brand(Dice(settings.seed, FAMILY, 1, section, dice.between(0, 2)), dict(vocabulary.names))
    return brand(dice, dict(vocabulary.names))


def _sketch(
    section: Section, number: int, rich: bool, settings: CatalogueSettings, words: Vocabulary, dice: Dice
) -> _Sketch:
    kind = _pick_kind(section.query, settings, dice)
    count = _attribute_count(section.query.category, rich, settings, dice)
    attributes = _draw_attributes(section, count, settings, dice)
    return _Sketch(
        query=section.query,
        kind=kind,
        brand=_draw_brand(number, settings, words, dice),
        head=dice.pick(kind.heads),
        attributes=attributes,
        places=tuple(draw_place(settings, dice) for _ in attributes),
    )


def _write_title(sketch: _Sketch, tail: str, settings: CatalogueSettings, vocabulary: Vocabulary, core: Dice) -> str:
    writer = TitleWriter(sketch.query, sketch.kind, settings, vocabulary, core)
    length = title_length(sketch.query.category, settings, vocabulary, core)
    writer.open(sketch.brand, sketch.head, code=core.chance(0.12))
    for attribute, place in zip(sketch.attributes, sketch.places, strict=True):
        if place == "title":
            writer.add_attribute(attribute)
    writer.fill(length - len(tail.split()))
    return writer.text(tail)


def _tail(query: Query, options: tuple[OptionGroup, ...], sibling: bool, dice: Dice) -> str:
    """The last words of a title: an option value on two in five products with options, else a material or nothing.

    Siblings add an article code, without which their titles could be equal, and equal titles confuse shoppers.
    """
    code = f" {model_code(dice)}" if sibling else ""
    if options and dice.chance(0.42):
        return dice.pick(dice.pick(options).values) + code
    return dice.pick(query.materials) + code if sibling or dice.chance(0.12) else ""


def _write_texts(
    sketch: _Sketch, settings: CatalogueSettings, vocabulary: Vocabulary, own: Dice
) -> tuple[list[str], str]:
    """Bullets and description, each attribute said where its place says."""
    writer = TextWriter(sketch.query, sketch.kind, sketch.brand, sketch.head, vocabulary.texts, own)
    first: list[str] = []
    later: list[str] = []
    described: list[str] = []
    roles: list[str] = []
    for attribute, place in zip(sketch.attributes, sketch.places, strict=True):
        repeated = place == "title" and own.chance(settings.repeat_mention)
        if place in {"later", "variant", "apart"} or repeated:
            later.append(writer.sentence(attribute, place))
            roles.append(attribute.role)
        elif place == "first":
            first.append(writer.sentence(attribute, place))
            roles.append(attribute.role)
        elif place == "description":
            described.append(writer.sentence(attribute, place))
    return writer.stuffed(writer.bullets(first, later, roles), settings), writer.description(described, settings)


def _images(asin: str, dice: Dice) -> list[str]:
    """Two to eight addresses, the last one always a transparent pixel."""
    count = (1, 3, 4, 5, 6, 7)[dice.weighted((0.08, 0.12, 0.15, 0.15, 0.15, 0.35))]
    shots = [f"https://images.invented.shop/{asin}/{number}.jpg" for number in range(count)]
    return [*shots, "https://images.invented.shop/transparent-pixel.gif"]


def make_product(index: int, plan: Plan, settings: CatalogueSettings, vocabulary: Vocabulary) -> Product:
    """The product at `index`, a pure function of the settings: products can be made in any order, or in parallel."""
    number, family = int(plan.section_of[index]), int(plan.family_of[index])
    section = plan.sections[number]
    own = Dice(settings.seed, PRODUCT, index)
    core = own if family == NO_FAMILY else Dice(settings.seed, FAMILY, 0, family, number)
    rich = core.chance(settings.goal_products)
    sketch = _sketch(section, number, rich, settings, vocabulary, core)
    query, kind, asin = sketch.query, sketch.kind, article_number(settings.seed, index)
    choosable = own.chance(settings.options_on_goal_products if rich else settings.options_elsewhere)
    groups = (
        make_groups(kind, query.category, 1 + own.chance(settings.two_groups), own, vocabulary) if choosable else ()
    )
    title = _write_title(sketch, _tail(query, groups, family != NO_FAMILY, own), settings, vocabulary, core)
    bullets, description = _write_texts(sketch, settings, vocabulary, own)
    ranged = query.category == "fashion" and bool(groups) and own.chance(settings.ranged_price)
    misplaced = number < plan.crowded and own.chance(settings.misplaced)
    filed = plan.sections[own.between(0, plan.crowded - 1)].query if misplaced else query
    row = {
        "asin": asin,
        "name": title,
        "full_description": description,
        "small_description": bullets,
        "pricing": price_tag(query.median_price, ranged, settings, own),
        "customization_options": raw_options(groups, asin, own.chance(0.6)),
        "images": _images(asin, own),
        "category": filed.category,
        "query": filed.name,
        "product_category": "" if own.chance(settings.without_chain) else kind.chain,
        "title_nouns": title_nouns(title, vocabulary),
    }
    return Product(asin, query, kind, sketch.brand, sketch.head, title, sketch.attributes, groups, rich, row)
