"""What the forests of a matching expert learn from: rows of numbers, each with a yes or a no."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from llm_gym.policies.matching.memory import Sighting
from llm_gym.policies.matching.model import MatchModel, evidence_of
from llm_gym.policies.matching.option_features import option_features
from llm_gym.policies.matching.product_features import OptionFit, Scale, product_features
from llm_gym.policies.matching.wanted import wanted
from llm_gym.training.match_shelf import Shelf, Wish

_REFUSED = 30
"""So many values of an option that were not chosen are looked at, drawn at random."""
_PASSED_BY = 8
"""So many products that were not bought are looked at, drawn at random."""
_PAGES = (1, 2, 3, 5)
"""So many pages of results were seen when a product is judged, drawn at random."""


@dataclass
class Examples:
    """Rows to learn from. A row that stands for several that were not drawn weighs as much as they together."""

    rows: list[Sequence[float]] = field(default_factory=list)
    labels: list[bool] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, row: Sequence[float], label: bool, weight: float = 1.0) -> None:
        self.rows.append(row)
        self.labels.append(label)
        self.weights.append(weight)

    def extend(self, others: Examples) -> None:
        self.rows += others.rows
        self.labels += others.labels
        self.weights += others.weights

    def arrays(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Rows (N, features), labels (N,), weights (N,)."""
        return np.array(self.rows, np.float64), np.array(self.labels, bool), np.array(self.weights, np.float64)


def option_examples(wishes: Sequence[Wish], shelf: Shelf, rng: random.Random) -> Examples:
    """Each value of the options of what was bought: chosen or not."""
    examples = Examples()
    for wish in wishes:
        for asin, choices in wish.bought.items():
            for name, values in (shelf.known[asin].options or {}).items():
                rows = option_features(wanted(wish.goal), name, values)
                for choice in sorted(choices, key=sorted):
                    _add_values(examples, rows, [(name, value) in choice for value in values], rng)
    return examples


def _add_values(examples: Examples, rows: npt.NDArray[np.float64], labels: Sequence[bool], rng: random.Random) -> None:
    refused = [at for at, label in enumerate(labels) if not label]
    drawn = rng.sample(refused, min(_REFUSED, len(refused)))
    for at in (*(at for at, label in enumerate(labels) if label), *drawn):
        examples.add(rows[at].tolist(), labels[at], 1.0 if labels[at] else len(refused) / len(drawn))


def product_examples(wishes: Sequence[Wish], shelf: Shelf, model: MatchModel, rng: random.Random) -> Examples:
    """Each product at every stage of what can be seen of it: bought or not.

    Args:
        wishes: of one shop.
        shelf: the products of this shop.
        model: whose forest of options is trained already.
        rng: draws pages and products.
    """
    examples = Examples()
    for wish in wishes:
        results = shelf.results(wish, rng.choice(_PAGES))
        scale = Scale(wanted(wish.goal), [one.title for one in results.values()], model.telling)
        bought = [asin for asin in results if asin in wish.bought]
        passed = [asin for asin in results if asin not in wish.bought]
        drawn = rng.sample(passed, min(_PASSED_BY, len(passed)))
        for asin in (*bought, *drawn):
            label = asin in wish.bought
            fits = _fits(model, wish, results[asin].options)
            for stage in stages(results[asin]):
                evidence = evidence_of(stage, None if stage.options is None else fits)
                examples.add(product_features(scale, evidence), label, 1.0 if label else len(passed) / len(drawn))
    return examples


def _fits(model: MatchModel, wish: Wish, options: Mapping[str, Sequence[str]] | None) -> tuple[OptionFit, ...]:
    return () if options is None else model.fits(wanted(wish.goal), options)


def stages(seen: Sighting) -> Iterator[Sighting]:
    """A product as it becomes known: among the results, opened, its features read."""
    opened = replace(seen, features=None)
    yield replace(opened, options=None)
    if seen.options is not None:
        yield opened
        if seen.features is not None:
            yield seen
