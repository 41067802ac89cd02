"""A shop with a shopper in it: search with its special queries, products, and the till."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache

import numpy as np

from llm_gym.core import derive_seed
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.goals import Goal, fixed_price
from llm_gym.envs.webshop.pages import ItemPage
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.reward import RewardBreakdown, purchase_reward
from llm_gym.envs.webshop.rules import Rules
from llm_gym.envs.webshop.search import SearchEngine
from llm_gym.envs.webshop.store import Groups

MAX_HITS = 50
_SPECIAL = {"<a>": "attributes", "<c>": "category", "<q>": "query"}
_CACHED_SEARCHES = 512
_CACHED_PURCHASES = 4096


class GoalShop:
    """The shop as the pages see it, for the goal of the current task.

    Special queries begin with a mark: `<r>` fifty random products, `<a> words` all with an attribute, `<c> words` all
    of a category, `<q> words` all of a query. Their results are not cut at fifty.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        engine: SearchEngine,
        rules: Rules,
        price: Callable[[Product], float] = fixed_price,
    ) -> None:
        self._catalogue = catalogue
        self._engine = engine
        self.rules = rules
        self.price = price
        self._hits = lru_cache(maxsize=_CACHED_SEARCHES)(self._ranked)
        self._bought = lru_cache(maxsize=_CACHED_PURCHASES)(self._reckoned)
        self.find = catalogue.find
        self.goal: Goal | None = None
        self._random: np.random.Generator | None = None

    def begin(self, goal: Goal) -> None:
        """Let a shopper in."""
        self.goal = goal
        self._random = None

    def search(self, keywords: tuple[str, ...]) -> tuple[str, ...]:
        """Ids, best first."""
        mark, rest = keywords[0], keywords[1:]
        if mark == "<r>":
            return self._random_products()
        if mark in _SPECIAL:
            words = rest[:1] if mark == "<c>" and self.rules.one_word_category else rest
            return self._grouped(_SPECIAL[mark], " ".join(words).strip())
        return self._hits(" ".join(keywords))

    def buy(self, item: ItemPage) -> RewardBreakdown:
        """The reward of buying what the page shows."""
        assert self.goal is not None, "a purchase needs a goal"
        return self._bought(self.goal.task_id, item.product.asin, tuple(item.chosen.items()))

    def _reckoned(self, task_id: str, asin: str, chosen: tuple[tuple[str, str], ...]) -> RewardBreakdown:
        """The reward of a purchase in a task, which must be the current one."""
        product = self.find(asin)
        assert product is not None, "only products of the catalogue are sold"
        return self.reward(product, dict(chosen))

    def reward(self, product: Product, chosen: dict[str, str]) -> RewardBreakdown:
        """The reward of buying a product with these options, for the current goal."""
        assert self.goal is not None, "a reward needs a goal"
        return purchase_reward(product, self.goal, self.price(product), chosen)

    def _ranked(self, query: str) -> tuple[str, ...]:
        return tuple(self._engine.search(query, MAX_HITS))

    def _random_products(self) -> tuple[str, ...]:
        if self._random is None:
            identity = self.goal.task_id if self.goal else ""
            self._random = np.random.default_rng(derive_seed(0, "random products", identity))
        count = min(MAX_HITS, self._catalogue.size)
        chosen = self._random.choice(self._catalogue.size, size=count, replace=False)
        return tuple(self._catalogue.store.asin(int(position)) for position in chosen)

    def _grouped(self, field: str, name: str) -> tuple[str, ...]:
        members = self._groups[field].find(name)
        return tuple(self._catalogue.store.asin(int(one)) for one in members if one < self._catalogue.size)

    @cached_property
    def _groups(self) -> dict[str, Groups]:
        return {field: self._catalogue.store.groups(field) for field in _SPECIAL.values()}
