"""What the image features of the embedded catalogue know: linear probes, fitted on training products.

    python benchmarks/image_information.py

A probe is a ridge regression from the 512 features to one number a class; the class with the highest number is its
guess. It is fitted on the products of the panel "train" and asked about the products of "dev" and "test". The strength
of the ridge is chosen on a fifth of the training products. "Commonest" is the share of the commonest class among the
products that are asked about. The last rows ask of each attribute that fifteen products have, and of products whose
title does not name it, how often one that has it is put before one of the same query without: 50 % is chance.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.image_features import EMBEDDED_IMAGES, FeatureStore
from llm_gym.envs.webshop.panels import make_panel
from llm_gym.envs.webshop.pictures import look_of
from llm_gym.envs.webshop.pictures.colors import NAMED, Color
from llm_gym.envs.webshop.product import Product

Matrix = npt.NDArray[np.float64]
RIDGES = (10.0, 100.0, 1000.0, 10_000.0, 100_000.0)
LEAST = 5
"""A class that fewer training products have is not asked about."""
FREQUENT = 15
BASE = (
    "black",
    "white",
    "blue",
    "red",
    "green",
    "pink",
    "grey",
    "purple",
    "brown",
    "beige",
    "yellow",
    "orange",
    "teal",
)


def fitted(features: Matrix, targets: Matrix, ridge: float) -> Callable[[Matrix], Matrix]:
    """Features (N, D) and targets (N, C) → what gives the targets of other features."""
    mean, level = features.mean(axis=0), targets.mean(axis=0)
    centred = features - mean
    weights = np.linalg.solve(centred.T @ centred + ridge * np.eye(len(mean)), centred.T @ (targets - level))
    return lambda others: (others - mean) @ weights + level


def best_fitted(features: Matrix, targets: Matrix, quality: Callable[[Matrix, Matrix], float]) -> Callable[..., Matrix]:
    """With the ridge that is best on every fifth example."""
    inner = np.arange(len(features)) % 5 != 0
    ridge = max(
        RIDGES,
        key=lambda one: quality(fitted(features[inner], targets[inner], one)(features[~inner]), targets[~inner]),
    )
    return fitted(features, targets, ridge)


def accuracy(guesses: Matrix, targets: Matrix) -> float:
    return float((guesses.argmax(axis=1) == targets.argmax(axis=1)).mean())


def mean_square(guesses: Matrix, targets: Matrix) -> float:
    """Negative, so that more is better."""
    return -float(np.square(guesses - targets).mean())


def ordered_rightly(scores: Matrix, has: Matrix, groups: npt.NDArray[np.int64]) -> float:
    """Mean over columns of the share of pairs of a group in which the row that has it stands before the one without."""
    shares = []
    for column in range(has.shape[1]):
        one, other = np.nonzero(has[:, column] == 1)[0], np.nonzero(has[:, column] == 0)[0]
        together = groups[one][:, None] == groups[other]
        difference = scores[one, column][:, None] - scores[other, column]
        if together.any():
            shares.append(((difference > 0) + 0.5 * (difference == 0))[together].mean())
    return float(np.mean(shares))


def drawn(attribute: str) -> bool:
    """Whether a pattern, a part or a label shows it."""
    product = replace(Catalogue.open().store.product(0), attributes=(attribute,), title="", options={})
    look = look_of(product)
    return bool(look.pattern or look.details or look.seals)


def named(attribute: str, title: str) -> bool:
    return set(attribute.split()) <= set(re.findall(r"[a-z0-9]+", title.lower()))


def base_color(color: Color) -> str:
    distances = {
        name: sum((mine - theirs) ** 2 for mine, theirs in zip(color, NAMED[name], strict=True)) for name in BASE
    }
    return min(distances, key=lambda name: distances[name])


def probe(
    name: str, labels: Sequence[str], features: Matrix, training: npt.NDArray[np.bool_], held_out: npt.NDArray[np.bool_]
) -> None:
    """Print one row of the table."""
    counts = Counter(label for label, chosen in zip(labels, training, strict=True) if chosen)
    classes = sorted(label for label, count in counts.items() if label and count >= LEAST)
    known = np.array([label in classes for label in labels])
    targets = np.array([[label == one for one in classes] for label in labels], float)
    fit, ask = training & known, held_out & known
    guesses = best_fitted(features[fit], targets[fit], accuracy)(features[ask])
    commonest = targets[ask].mean(axis=0).max()
    print(
        f"| {name} | {len(classes)} | {ask.sum()} | {100 * accuracy(guesses, targets[ask]):.1f} % | "
        f"{100 * commonest:.1f} % |"
    )


def main() -> None:
    catalogue, store = Catalogue.open(), FeatureStore.open(EMBEDDED_IMAGES)
    products: list[Product] = list(catalogue.store)
    features = np.array([store.find(product.asin) for product in products], float)
    table = catalogue.goals("human")
    owners = {
        name: {table.asin(int(goal)) for goal in make_panel(table, name).goals} for name in ("train", "dev", "test")
    }
    training = np.array([product.asin in owners["train"] for product in products])
    held_out = np.array([product.asin in owners["dev"] | owners["test"] for product in products])
    looks = [look_of(product) for product in products]
    print("| asked | classes | products | right | commonest |")
    print("|---|---:|---:|---:|---:|")
    leaves = [product.product_category.rpartition("›")[2].strip() for product in products]
    for name, labels in (
        ("category", [product.category for product in products]),
        ("kind (leaf of the category tree)", leaves),
        ("colour", [base_color(look.color) for look in looks]),
        ("pattern or material", [str(look.pattern) for look in looks]),
        ("pack of several", [str(look.pieces > 1) for look in looks]),
    ):
        probe(name, labels, features, training, held_out)
    shelves = np.unique([product.query for product in products], return_inverse=True)[1]
    frequent = [one for one, count in Counter(a for p in products for a in p.attributes).items() if count >= FREQUENT]
    for name, chosen in (
        ("attributes that are drawn", [one for one in frequent if drawn(one)]),
        ("attributes that are not", [one for one in frequent if not drawn(one)]),
    ):
        has = np.array([[attribute in product.attributes for attribute in chosen] for product in products], float)
        told = np.array([[named(attribute, product.title) for attribute in chosen] for product in products])
        scores = best_fitted(features[training], has[training], mean_square)(features[held_out])
        has[told] = np.nan  # whoever reads the title needs no picture
        share = ordered_rightly(scores, has[held_out], shelves[held_out])
        print(f"| {name} | {len(chosen)} | {held_out.sum()} | {100 * share:.1f} % | 50 % |")


if __name__ == "__main__":
    main()
