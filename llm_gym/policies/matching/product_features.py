"""How well a product agrees with an instruction, by what has been seen of it so far, as numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from llm_gym.policies.lexical_match import typical_price, words
from llm_gym.policies.matching.wanted import Pair, Wanted, pairs

UNSEEN = math.nan
_NEAR = 70
"""Two words whose spelling agrees less, of 100, are not near."""


@dataclass(frozen=True, slots=True)
class OptionFit:
    """The best value of an option."""

    name: str
    value: str
    confidence: float
    """How likely it is wanted, in [0, 1]."""
    values: tuple[str, ...]
    """All of the option."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What has been seen of a product; None: not yet."""

    title: str
    price: str
    """The tag: a price or a range."""
    rank: int
    """Among all results of the search, from 0."""
    options: tuple[OptionFit, ...] | None = None
    features: str | None = None
    """The text of that sub page."""


_GENERAL = ("rank", "affordable", "dollars left", "words wanted", "titles seen")
_TITLE = (
    "title: weight found",
    "title: share of weight found",
    "title: weight missing",
    "title: heaviest missing",
    "title: pairs found",
    "title: share of pairs found",
    "title: share of its words wanted",
    "title: word set ratio",
    "title: share of weight found or near",
    "title: like the others",
)
_COMPARED = ("title: share of weight found", "title: pairs found", "title: word set ratio", "title: like the others")
_OPTIONS = (
    "options",
    "options fitting",
    "options: sum of confidence",
    "options: least confidence",
    "options: stated and there",
    "options: stated and missing",
    "options: weight found beyond title",
    "title and best values: share of weight",
    "title and best values: weight missing",
    "title and best values: heaviest missing",
    "title and all values: share of weight",
)
_TEXTS = (
    "features: weight found beyond title and best values",
    "features: pairs found beyond title and best values",
    "features: words",
    "all: share of weight",
    "all: weight missing",
    "all: heaviest missing",
    "all: heaviest missing and not near",
    "all: share of pairs",
    "all: share of weight in no pair",
)
PRODUCT_FEATURES = (*_GENERAL, *_TITLE, *(f"{name}, less the best" for name in _COMPARED), *_OPTIONS, *_TEXTS)


@lru_cache(maxsize=16_384)
def word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


@lru_cache(maxsize=16_384)
def pair_set(text: str) -> frozenset[Pair]:
    return pairs(words(text))


@dataclass
class Scale:
    """What an instruction weighs, given the titles that were seen.

    Attributes:
        wanted: the instruction.
        titles: of all products seen.
        telling: how much a word says at all, in [0, 1], for words that instructions often hold; others say much.
    """

    wanted: Wanted
    titles: Sequence[str]
    telling: Mapping[str, float]
    _rows: dict[str, list[float]] = field(default_factory=dict)

    @cached_property
    def weights(self) -> Mapping[str, float]:
        """Of each wanted word: the more, the fewer titles hold it."""
        count = len(self.titles)
        return {
            word: self.telling.get(word, 1.0) * math.log((count + 1.5) / (self._held[word] + 0.5))
            for word in self.wanted.words
        }

    @cached_property
    def total(self) -> float:
        """The weight of all wanted words; above 0."""
        return sum(self.weights.values()) or 1.0

    @cached_property
    def best(self) -> Mapping[str, float]:
        """The highest value among all titles."""
        rows = [self.title(title) for title in dict.fromkeys(self.titles)]
        return {name: max((row[_TITLE.index(name)] for row in rows), default=0.0) for name in _COMPARED}

    @cached_property
    def _held(self) -> Counter[str]:
        """Word → how many titles hold it."""
        return Counter(word for title in self.titles for word in word_set(title))

    def weight(self, found: Iterable[str]) -> float:
        return sum(self.weights[word] for word in found)

    def heaviest(self, missing: Iterable[str]) -> float:
        return max((self.weights[word] for word in missing), default=0.0)

    def title(self, title: str) -> list[float]:
        """The features `_TITLE`."""
        row = self._rows.get(title)
        if row is None:
            row = self._rows[title] = self._title(title)
        return row

    def _title(self, title: str) -> list[float]:
        held = word_set(title)
        found, missing = parted(self.wanted.words, held)
        paired = len(self.wanted.pairs & pair_set(title))
        near = sum(self.weights[word] * like for word, like in nearness(missing, held).items())
        others = max(1, len(self.titles) - 1)
        return [
            self.weight(found),
            self.weight(found) / self.total,
            self.weight(missing),
            self.heaviest(missing),
            paired,
            paired / max(1, len(self.wanted.pairs)),
            len(found) / max(1, len(held)),
            fuzz.token_set_ratio(self.wanted.text, title.lower()) / 100,
            (self.weight(found) + near) / self.total,
            sum(self._held[word] - 1 for word in held) / max(1, len(held)) / others,
        ]


def product_features(scale: Scale, evidence: Evidence) -> list[float]:
    """A row of numbers, NaN where nothing has been seen; (features,)."""
    limit, price = scale.wanted.limit, typical_price(evidence.price)
    title = scale.title(evidence.title)
    return [
        math.log1p(evidence.rank),
        UNSEEN if limit is None or price is None else float(price <= limit),
        UNSEEN if limit is None or price is None else limit - price,
        len(scale.wanted.words),
        len(scale.titles),
        *title,
        *(title[_TITLE.index(name)] - scale.best[name] for name in _COMPARED),
        *_options(scale, evidence),
        *_texts(scale, evidence),
    ]


def parted(sought: Iterable[str], held: Collection[str]) -> tuple[list[str], list[str]]:
    """The words that are there, and those that are not.

    >>> parted(["red", "shoe"], {"shoe"})
    (['shoe'], ['red'])
    """
    found: list[str] = []
    missing: list[str] = []
    for word in sought:
        (found if word in held else missing).append(word)
    return found, missing


def nearness(missing: Sequence[str], held: Collection[str]) -> dict[str, float]:
    """How near the nearest word comes to each that is missing, in [0, 1], by spelling; 0 where none is near.

    >>> nearness(["toothbrush"], {"toothbrushs", "red"})["toothbrush"] > 0.9
    True
    """
    if not missing or not held:
        return {}
    likeness = cdist(missing, sorted(held), scorer=fuzz.ratio, score_cutoff=_NEAR).max(axis=1) / 100
    return {word: float(value) for word, value in zip(missing, likeness, strict=True)}


def _options(scale: Scale, evidence: Evidence) -> list[float]:
    if evidence.options is None:
        return [UNSEEN] * len(_OPTIONS)
    options, title = evidence.options, word_set(evidence.title)
    fitting = [one for one in options if one.confidence > 0.5]
    stated = sum(f"{one.name.lower()}: {one.value.lower()}" in scale.wanted.text for one in fitting)
    chosen = title.union(*(word_set(one.value) for one in fitting))
    offered = chosen.union(*(word_set(value) for one in options for value in one.values))
    found, missing = parted(scale.wanted.words, chosen)
    return [
        len(options),
        len(fitting),
        sum(one.confidence for one in options),
        min((one.confidence for one in options), default=1.0),
        stated,
        scale.wanted.text.count(": ") - stated,
        scale.weight(found) - scale.weight(word for word in found if word in title),
        scale.weight(found) / scale.total,
        scale.weight(missing),
        scale.heaviest(missing),
        scale.weight(word for word in scale.wanted.words if word in offered) / scale.total,
    ]


def _texts(scale: Scale, evidence: Evidence) -> list[float]:
    if evidence.features is None:
        return [UNSEEN] * len(_TEXTS)
    fitting = [one.value for one in evidence.options or () if one.confidence > 0.5]
    before = word_set(evidence.title).union(*map(word_set, fitting))
    paired_before = pair_set(evidence.title).union(*map(pair_set, fitting))
    everything, paired = before | word_set(evidence.features), paired_before | pair_set(evidence.features)
    found, missing = parted(scale.wanted.words, everything)
    near = nearness(missing, everything)
    in_pairs = frozenset[str]().union(*(scale.wanted.pairs & paired))
    return [
        scale.weight(word for word in found if word not in before),
        len(scale.wanted.pairs & (paired - paired_before)),
        len(word_set(evidence.features)),
        scale.weight(found) / scale.total,
        scale.weight(missing),
        scale.heaviest(missing),
        max((scale.weights[word] * (1 - near.get(word, 0.0)) for word in missing), default=0.0),
        len(scale.wanted.pairs & paired) / max(1, len(scale.wanted.pairs)),
        scale.weight(word for word in scale.wanted.words if word not in in_pairs) / scale.total,
    ]
