"""Panels of goals: which tasks are played, in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from llm_gym.envs.base import TaskPanel
from llm_gym.envs.webshop.build import GOAL_SHUFFLE_SEED, shuffled
from llm_gym.envs.webshop.goals import GoalKind, parse_task_id, task_id
from llm_gym.envs.webshop.rewording import REWORDED_PER_PRODUCT, can_be_wished
from llm_gym.envs.webshop.store import ProductStore
from llm_gym.errors import UnknownName

FULL_HUMAN_GOALS = 12_087
"""So many human goals has the full world; only there the official splits mean anything."""
OFFICIAL_SPLITS = {"test": slice(0, 500), "dev": slice(500, 1500), "train": slice(1500, FULL_HUMAN_GOALS)}
PAPER_TASKS = 50
GOALS_PER_PRODUCT = 12
"""At most so many goals of one product in a panel that is split by product: some carry hundreds."""
_HELD_OUT, _VALIDATION = 0.3, 0.4
_TEST, _DEV = 0.45, 0.55

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class GoalTable:
    """All goals of one kind of a catalogue, or of its first products.

    Attributes:
        owners: (G,) catalogue position of each goal's product; goals stand in catalogue order.
        ordinals: (G,) number of the goal among its product's.
        order: (G,) the official shuffle, or where the original knows no such goals, one of our own.
    """

    store: ProductStore
    kind: GoalKind
    owners: Ints
    ordinals: Ints
    order: Ints

    @classmethod
    def of(cls, store: ProductStore, kind: GoalKind, products: int) -> GoalTable:
        """The goals of the first `products` products."""
        match kind:
            case "reworded" | "reworded_heldout":
                return cls._reworded(store, kind, products)
        rows = store.goals(kind)
        if products == len(store):
            return cls(store, kind, rows[:, 0], rows[:, 1], store.goal_order(kind))
        count = int(np.searchsorted(rows[:, 0], products))
        return cls(store, kind, rows[:count, 0], rows[:count, 1], shuffled(count))

    @classmethod
    def _reworded(cls, store: ProductStore, kind: GoalKind, products: int) -> GoalTable:
        """The same number of goals for every product with an attribute that can be wished for."""
        groups = store.groups("attributes")
        carries = np.zeros(len(store), bool)
        for name, start, end in zip(groups.names, groups.starts[:-1], groups.starts[1:], strict=True):
            if can_be_wished(name):
                carries[groups.members[start:end]] = True
        carriers = np.flatnonzero(carries[:products]).astype(np.int32)
        ordinals = np.tile(np.arange(REWORDED_PER_PRODUCT, dtype=np.int32), len(carriers))
        # The legacy generator: numpy promises that its stream never changes.
        order = np.random.RandomState(GOAL_SHUFFLE_SEED).permutation(len(ordinals)).astype(np.int32)
        return cls(store, kind, np.repeat(carriers, REWORDED_PER_PRODUCT), ordinals, order)

    def __len__(self) -> int:
        return len(self.owners)

    def asin(self, goal: int) -> str:
        """The id of a goal's product."""
        return self.store.asin(int(self.owners[goal]))

    def task_id(self, goal: int) -> str:
        return task_id(self.asin(goal), self.kind, int(self.ordinals[goal]))

    @cached_property
    def find(self) -> Callable[[object], int | None]:
        """The goal with an id; None when there is none."""
        return lru_cache(maxsize=8192)(self._find)

    def _find(self, identity: object) -> int | None:
        parsed = parse_task_id(identity) if isinstance(identity, str) else None
        if parsed is None or parsed[1] != self.kind:
            return None
        position = self.store.position(parsed[0])
        if position is None:
            return None
        goal = int(np.searchsorted(self.owners, position)) + parsed[2]
        fits = goal < len(self) and self.owners[goal] == position and self.task_id(goal) == identity
        return goal if fits else None


class GoalPanel(TaskPanel):
    """A panel over a goal table; ids are made when they are read, so that 700,000 goals open at once."""

    def __init__(self, name: str, table: GoalTable, goals: Ints) -> None:
        super().__init__(name, ())
        self.table = table
        self.goals = goals

    @cached_property
    def _members(self) -> npt.NDArray[np.bool_]:
        members = np.zeros(len(self.table), bool)
        members[self.goals] = True
        return members

    def __len__(self) -> int:
        return len(self.goals)

    def __contains__(self, task_id: object) -> bool:
        return self._has(task_id)

    @cached_property
    def _has(self) -> Callable[[object], bool]:
        return lru_cache(maxsize=8192)(self._find)

    def _find(self, task_id: object) -> bool:
        goal = self.table.find(task_id)
        return goal is not None and bool(self._members[goal])

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self.table.task_id(int(goal)) for goal in self.goals[index])
        return self.table.task_id(int(self.goals[index]))


def make_panel(table: GoalTable, name: str) -> GoalPanel:
    """A panel by name.

    Raises:
        UnknownName: this world has no such panel.
    """
    known = selections(table)
    if name not in known:
        raise UnknownName("split", name, known)
    return GoalPanel(name, table, np.asarray(known[name](), np.int32))


def selections(table: GoalTable) -> dict[str, Callable[[], Any]]:
    """The panels of a world by name: official splits with the full human goals, splits by product otherwise."""
    everything: dict[str, Callable[[], Any]] = {"all": lambda: table.order}
    if table.store.meta["splits"] == "by-product":
        return {
            "train": lambda: _by_product(table, _DEV, 1),
            "dev": lambda: _by_product(table, _TEST, _DEV),
            "test": lambda: _by_product(table, 0, _TEST),
            **everything,
        }
    by_product: dict[str, Callable[[], Any]] = {
        "train_products": lambda: _by_product(table, _HELD_OUT, 1),
        "heldout_products": lambda: _by_product(table, 0, _HELD_OUT),
        "training_products": lambda: _by_product(table, _VALIDATION, 1),
        "validation_products": lambda: _by_product(table, _HELD_OUT, _VALIDATION),
    }
    if table.kind != "human" or len(table) != FULL_HUMAN_GOALS:
        return everything | by_product
    official = {name: _slice_of(table, part) for name, part in OFFICIAL_SPLITS.items()}
    return official | {"paper50": lambda: np.arange(PAPER_TASKS)} | everything | by_product


def _slice_of(table: GoalTable, part: slice) -> Callable[[], Any]:
    return lambda: table.order[part]


def _by_product(table: GoalTable, low: float, high: float) -> Ints:
    """Goals, in shuffled order, of the products whose hash falls into a part of [0, 1); at most 12 a product."""
    products = np.unique(table.owners)
    fractions = np.array([product_fraction(table.store.asin(int(product))) for product in products])
    chosen = products[(low <= fractions) & (fractions < high)]
    goals = table.order[np.isin(table.owners[table.order], chosen)]
    return goals[_earlier_equals(table.owners[goals]) < GOALS_PER_PRODUCT]


def _earlier_equals(values: Ints) -> npt.NDArray[np.int64]:
    """How many equal values stand before each; (N,) → (N,).

    >>> _earlier_equals(np.array([7, 5, 7, 7, 5]))
    array([0, 0, 1, 2, 1])
    """
    by_value = np.argsort(values, kind="stable")
    positions = np.arange(len(values))
    first = np.ones(len(values), bool)
    first[1:] = values[by_value][1:] != values[by_value][:-1]
    earlier = np.empty(len(values), np.int64)
    earlier[by_value] = positions - np.maximum.accumulate(np.where(first, positions, 0))
    return earlier


def product_fraction(asin: str) -> float:
    """Where a product falls in [0, 1): a function of its id alone, so that a split never changes with the catalogue."""
    return int.from_bytes(hashlib.sha256(asin.encode()).digest()[:6], "big") / 2**48
