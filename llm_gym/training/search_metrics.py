"""How good a search model is: against the queries of people, and by where the shop ranks what the goal asks for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np
import numpy.typing as npt

from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.env import WebShop
from llm_gym.errors import InvalidSetting
from llm_gym.evaluation.statistics import bootstrap_mean

Writer = Callable[[str], str]
"""From an instruction to a query."""

DEPTHS = (1, 10, 50)
"""Of recall: the first result, the first page, all that a search shows."""


def token_f1(query: str, reference: str) -> float:
    """Harmonic mean of precision and recall of a query's words, in [0, 1]; the order does not count.

    >>> token_f1("red wool shoe", "red shoe")
    0.8
    """
    written, wanted = Counter(query.split()), Counter(reference.split())
    shared = (written & wanted).total()
    return 2 * shared / (written.total() + wanted.total()) if shared else 0.0


def agreement(write: Writer, references: Mapping[str, Sequence[str]]) -> dict[str, float]:
    """How near the written queries are to those of people, each to the nearest of its goal's.

    Returns:
        `goals`, their number; `exact`, the share that equals a person's query; `token_f1`.
    """
    written = [(write(goal), queries) for goal, queries in references.items()]
    return {
        "goals": len(written),
        "exact": _mean([query in queries for query, queries in written]),
        "token_f1": _mean([max(token_f1(query, one) for one in queries) for query, queries in written]),
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


# -- ranks -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """A goal of a world, and its product."""

    instruction: str
    asin: str


@dataclass(frozen=True, slots=True)
class Ranks:
    """Where the products of goals stood among the results.

    Attributes:
        places: (G,) from 1; infinite where the product was not shown.
    """

    places: npt.NDArray[np.float64]

    def recall(self, depth: int) -> float:
        """Share of the goals whose product is among the first `depth` results."""
        return float(np.mean(self.places <= depth))

    @property
    def reciprocal(self) -> npt.NDArray[np.float64]:
        """(G,) 1 over the place, 0 where the product was not shown."""
        return 1 / self.places

    def to_json(self) -> dict[str, float]:
        return {f"recall@{depth}": self.recall(depth) for depth in DEPTHS} | {"mrr": float(self.reciprocal.mean())}


def asked_in(env: gym.Env[Any, Any]) -> list[Asked]:
    """The goals of a shop's panel, in its order.

    Raises:
        InvalidSetting: it is no shop.
    """
    world = _shop(env)
    asked = []
    for task in panel_of(env):
        world.reset(options={"task": task})
        asked.append(Asked(world.goal.instruction, world.goal.asin))
    return asked


def ranks(env: gym.Env[Any, Any], asked: Sequence[Asked], write: Writer) -> Ranks:
    """Search for each goal and look where its product is."""
    shop = _shop(env).shop
    places = np.full(len(asked), np.inf)
    for at, one in enumerate(asked):
        found = shop.search(tuple(write(one.instruction).lower().split()))
        if one.asin in found:
            places[at] = found.index(one.asin) + 1
    return Ranks(places)


def gained(first: Ranks, second: Ranks, asked: Sequence[Asked]) -> dict[str, list[float]]:
    """Mean difference on the same goals, first less second, and the bounds of its interval over products."""
    products = [one.asin for one in asked]
    differences = {
        f"recall@{depth}": (first.places <= depth) * 1.0 - (second.places <= depth) * 1.0 for depth in DEPTHS
    } | {"mrr": first.reciprocal - second.reciprocal}
    found: dict[str, list[float]] = {}
    for name, values in differences.items():
        interval = bootstrap_mean(values.tolist(), products)
        found[name] = [float(values.mean()), interval.low, interval.high]
    return found


def _shop(env: gym.Env[Any, Any]) -> WebShop:
    world = env.unwrapped
    if not isinstance(world, WebShop):
        raise InvalidSetting(f"Queries are judged in a shop, and {type(world).__name__} is none.")
    return world
