"""Which product is what: the part of a catalogue that must be known before any product is written."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.vocabulary import CATEGORIES, Attribute, Query, Vocabulary

# Shares of products by category in the official 1,000-product world.
_CATEGORY_SHARES = dict(zip(CATEGORIES, (0.24, 0.23, 0.21, 0.20, 0.12), strict=True))

PLAN, FAMILY, PRODUCT, GOAL = range(4)  # the streams of random numbers below one seed
NO_FAMILY = -1


@dataclass(frozen=True)
class Section:
    """A query with the attribute pool its products draw from, commonest attribute first."""

    query: Query
    pool: tuple[Attribute, ...]


@dataclass(frozen=True)
class Plan:
    """Sections, and for each product (in file order) the section it belongs to and its family or `NO_FAMILY`.

    Twelve bytes a product: this is all that a catalogue of any size keeps in memory.
    """

    sections: tuple[Section, ...]
    section_of: npt.NDArray[np.int32]
    family_of: npt.NDArray[np.int64]
    crowded: int  # the first `crowded` sections hold many products, the others one each


def _pool(query: Query, vocabulary: Vocabulary, settings: CatalogueSettings, dice: Dice) -> tuple[Attribute, ...]:
    shared = vocabulary.shared_attributes[query.category]
    own = dice.shuffled(query.attributes)[: settings.own_pool]
    taken = dice.shuffled([attribute for attribute in shared if attribute not in own])
    return tuple(dice.shuffled(own + taken[: settings.shared_pool]))


def _chosen_queries(vocabulary: Vocabulary, settings: CatalogueSettings) -> list[Query]:
    """Evenly thinned, so that every category stays represented when fewer queries are wanted."""
    total = len(vocabulary.queries)
    return [vocabulary.queries[number * total // settings.queries] for number in range(settings.queries)]


def _sizes(queries: list[Query], products: int, settings: CatalogueSettings, dice: Dice) -> list[int]:
    """Products per query: log-normally skewed, scaled to the category shares, summing to `products`."""
    skew = [math.exp(settings.query_skew * max(-1.4, min(1.3, dice.normal()))) for _ in queries]
    totals = dict.fromkeys(CATEGORIES, 0.0)
    for query, weight in zip(queries, skew, strict=True):
        totals[query.category] += weight
    shares = [
        _CATEGORY_SHARES[query.category] * weight / totals[query.category]
        for query, weight in zip(queries, skew, strict=True)
    ]
    scale = products / sum(shares)
    sizes = [int(share * scale) for share in shares]
    for number in range(products - sum(sizes)):
        sizes[number % len(sizes)] += 1
    return sizes


def _families(size: int, first: int, settings: CatalogueSettings, dice: Dice) -> list[int]:
    """Family numbers of one section's products: a head of small families, then single products."""
    wanted = size * settings.family_products
    families: list[int] = []
    number = first
    while len(families) + 1 < wanted:
        families += [number] * min(dice.between(2, 4), size - len(families))
        number += 1
    return families + [NO_FAMILY] * (size - len(families))


def make_plan(settings: CatalogueSettings, vocabulary: Vocabulary) -> Plan:
    """Assigns every product its section and family, then shuffles them as the official file is shuffled."""
    dice = Dice(settings.seed, PLAN)
    queries = _chosen_queries(vocabulary, settings)
    odd = list(vocabulary.odd[: min(settings.odd_products, max(0, settings.products - len(queries)))])
    sizes = _sizes(queries, settings.products - len(odd), settings, dice) + [1] * len(odd)
    sections = tuple(Section(query, _pool(query, vocabulary, settings, dice)) for query in queries + odd)
    section_of: list[int] = []
    family_of: list[int] = []
    for number, size in enumerate(sizes):
        section_of += [number] * size
        family_of += _families(size, len(family_of), settings, dice)
    order = dice.shuffled(range(settings.products))
    return Plan(
        sections=sections,
        section_of=np.array(section_of, dtype=np.int32)[order],
        family_of=np.array(family_of, dtype=np.int64)[order],
        crowded=len(queries),
    )
