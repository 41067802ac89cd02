"""WebShop as a Gymnasium environment: the corrected one and the original."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any, ClassVar

from llm_gym.envs.base import Outcome, TextEnv
from llm_gym.envs.webshop.actions import can_be_clicked
from llm_gym.envs.webshop.catalogue import EMBEDDED, EMBEDDED_FOLDER, Catalogue
from llm_gym.envs.webshop.fragments import Page, clickables
from llm_gym.envs.webshop.goals import (
    GOAL_KINDS,
    REWORDED_KINDS,
    Goal,
    GoalKind,
    fixed_limit,
    fixed_price,
    make_goal,
    original_limits,
    original_prices,
)
from llm_gym.envs.webshop.html import as_html
from llm_gym.envs.webshop.image_features import EMBEDDED_IMAGES, FeatureStore
from llm_gym.envs.webshop.observations import MODES, as_rich_text, as_text, url_of
from llm_gym.envs.webshop.oracle import best_purchase, exact_purchase, is_reachable
from llm_gym.envs.webshop.pages import DonePage, ItemPage, ResultsPage, SearchPage, Session, SubPage, advance
from llm_gym.envs.webshop.panels import FULL_HUMAN_GOALS, make_panel
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.rewording import VERSION as REWORDING_VERSION
from llm_gym.envs.webshop.rewording import reworded_goal
from llm_gym.envs.webshop.rules import CORRECTED, ORIGINAL, Rules
from llm_gym.envs.webshop.shop import GoalShop
from llm_gym.errors import InvalidSetting, UnknownName

_BEGINNING = Session()
_CACHED_GOALS = 8192
_CACHED_ITEMS = 1024
_SCREENS = {SearchPage: "search", ResultsPage: "results", ItemPage: "item", DonePage: "done"}


class WebShop(TextEnv):
    """Buy what the instruction asks for (Yao et al., 2022, arXiv:2207.01206), without the original's defects.

    Actions are `search[words]` and `click[what the page shows]`. The reward comes with the purchase and lies in [0, 1];
    the episode is a success when it is 1. `info` holds, beside the keys of every environment, `screen` ("search",
    "results", "item", "description", …, "done"), `results` (id, title and price of each result on the page), `options`
    and `chosen` of an item page, `counters` of what the shopper did, and `reward_breakdown` at the purchase. On the
    pages of a product, `image_id` is its id and `image_features` are those of its picture, (512,) float32 read-only,
    where there are any.

    Args:
        catalogue: "embedded", a folder of official files, or a store built by `llm-gym build webshop`.
        goals: "human", "synthetic", "reworded" or "reworded_heldout" (people's words by templates, the second for
            tests only); None: human where the catalogue is invented, synthetic for official files (as in the original).
        split: name of the panel; None: "test" where there is one, else "all".
        observation_mode: "text_rich" (marks what can be clicked), "text", "html" or "url".
        search_engine: "bm25" or "lucene"; both rank alike.
        show_attrs: item pages have a page of their hidden attributes.
        num_products: only the products of so many first rows of the product file.
        image_features: a folder of features of the products' pictures, as `train/webshop_features.py` makes; None:
            those that come with the embedded catalogue, and none for another.
        render_mode: "ansi" or "html".
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", "html"], "render_fps": 4}  # noqa: RUF012
    rules: ClassVar[Rules] = CORRECTED

    def __init__(
        self,
        catalogue: str | Path = EMBEDDED,
        goals: GoalKind | None = None,
        split: str | None = None,
        observation_mode: str = "text_rich",
        search_engine: str = "bm25",
        show_attrs: bool = False,
        num_products: int | None = None,
        image_features: str | Path | None = None,
        render_mode: str | None = None,
    ) -> None:
        if observation_mode not in MODES:
            raise UnknownName("observation mode", observation_mode, MODES)
        self.catalogue = Catalogue.open(catalogue, num_products)
        invented = self.catalogue.store.meta["splits"] == "by-product"
        self.goal_kind: GoalKind = goals or ("human" if invented else "synthetic")
        if self.goal_kind not in GOAL_KINDS:
            raise UnknownName("kind of goals", goals, GOAL_KINDS)
        self._table = self.catalogue.goals(self.goal_kind)
        full = self.goal_kind == "human" and len(self._table) == FULL_HUMAN_GOALS
        self._goals = make_panel(self._table, split or ("test" if invented or full else "all"))
        super().__init__(self._goals, render_mode)
        self.observation_mode = observation_mode
        self.search_engine = search_engine
        self.show_attrs = show_attrs
        self.shop = GoalShop(self.catalogue, self.catalogue.engine(search_engine), self.rules, self._price)
        self._features_given = image_features is not None
        self._images = _feature_store(image_features, self.catalogue)
        self._goal = lru_cache(maxsize=_CACHED_GOALS)(self._make_goal)
        self._first_outcome = lru_cache(maxsize=_CACHED_GOALS)(self._make_first_outcome)
        self._item_clicks = lru_cache(maxsize=_CACHED_ITEMS)(self._possible_clicks)
        self._session = Session()

    def description(self) -> dict[str, Any]:
        described: dict[str, Any] = {
            "catalogue": self.catalogue.name,
            "products": self.catalogue.size,
            "catalogue_digest": self.catalogue.digest,
            "goals": self.goal_kind,
            "goals_in_catalogue": len(self._table),
            "split": self.panel.name,
            "tasks": len(self.panel),
            "observation_mode": self.observation_mode,
            "search_engine": self.search_engine,
            "show_attrs": self.show_attrs,
        }
        if self.goal_kind in REWORDED_KINDS:
            described["rewording"] = REWORDING_VERSION
        if self._features_given and self._images is not None:
            described["image_features"] = self._images.digest
        return described

    @property
    def goal(self) -> Goal:
        """The goal of the current task, with what is hidden from the shopper."""
        assert self.shop.goal is not None, "reset() has not been called"
        return self.shop.goal

    def solution(self) -> list[str]:
        """Actions that buy the target with its options, from the search page."""
        return exact_purchase(self.shop)

    def reachable(self, task_id: str) -> bool:
        """Whether buying the target of a task with the best choice of its options earns a reward of 1.

        The colour rule of the original keeps some synthetic goals from it (docs/webshop.md).

        Raises:
            UnknownName: the panel does not hold the task.
        """
        return is_reachable(self.shop, self._goal(self.panel.check(task_id)))

    def best_purchase(self, query: str, top: int = 50) -> list[str]:
        """Actions that buy the best product with the best options among the first `top` results of a query."""
        return best_purchase(self.shop, query, top)

    def render(self) -> str | None:
        """The current page in the render mode: marked text, or HTML."""
        if self.render_mode is None or self._last is None:
            return None
        if self.render_mode == "html":
            return self._html(self._page())
        return self._rich_text(self._page())

    def _begin(self, task_id: str) -> Outcome:
        self.shop.begin(self._goal(task_id))
        self._session = _BEGINNING
        return self._first_outcome(task_id)

    def _respond(self, action: str) -> Outcome | str:
        following = advance(self._session, self.rules.parse(action), self.shop, self.rules, self.show_attrs)
        if isinstance(following, str):
            return following
        self._session = following
        return self._outcome()

    def _draw(self) -> str:
        """By the goals' weights, as the original draws: synthetic goals weigh by rarity, all others alike."""
        if self.goal_kind != "synthetic":
            return super()._draw()
        sums = self._cumulative_weights
        return self.panel[bisect.bisect(sums, self.np_random.random() * sums[-1])]

    @cached_property
    def _cumulative_weights(self) -> list[float]:
        """Running sums of the weights of a panel of synthetic goals."""
        weights = self.catalogue.store.synthetic_weights()
        return list(itertools.accumulate(weights[self._goals.goals].tolist()))

    def _price(self, product: Product) -> float:
        return fixed_price(product)

    def _limit(self, goal: int, product: Product, identity: str) -> float:
        return fixed_limit(product, identity)

    def _make_goal(self, identity: str) -> Goal:
        goal = self._table.find(identity)
        assert goal is not None, f"the panel checked {identity}"
        product = self.catalogue.find(self._table.asin(goal))
        assert product is not None, "a goal's product is in the catalogue"
        limit = self._limit(goal, product, identity)
        ordinal = int(self._table.ordinals[goal])
        match self.goal_kind:
            case "reworded" | "reworded_heldout" as kind:
                return reworded_goal(product, kind, ordinal, limit)
            case "human" | "synthetic" as kind:
                return make_goal(product, kind, ordinal, limit)

    def _page(self) -> Page:
        return self.catalogue.fragments.page(self._session.screen, self.goal.instruction, self.show_attrs)

    def _url(self) -> str:
        return url_of(self._session.screen, self.goal.task_id)

    def _html(self, page: Page) -> str:
        screen, goal = self._session.screen, self.goal
        return as_html(screen, page, goal.instruction, self._url(), self.shop, self.show_attrs)

    def _rich_text(self, page: Page) -> str:
        needs_url = self.rules.clicked_by_url and isinstance(self._session.screen, ItemPage)
        return as_rich_text(page, self._session, self._url() if needs_url else "", self.rules)

    def _observation(self, page: Page) -> str:
        match self.observation_mode:
            case "text":
                return as_text(page)
            case "url":
                return self._url()
            case "html":
                return self._html(page)
            case _:
                return self._rich_text(page)

    def _make_first_outcome(self, task_id: str) -> Outcome:
        """The search page of a task; the same whenever the task begins."""
        return self._outcome()

    def _outcome(self) -> Outcome:
        screen, goal = self._session.screen, self.goal
        page = self._page()
        observation = self._observation(page)
        bought = screen.breakdown if isinstance(screen, DonePage) else None
        info: dict[str, Any] = {
            "task_id": goal.task_id,
            "goal": goal.instruction,
            "admissible_actions": self._admissible(page),
            "success": bought is not None and bought.reward == 1.0,
            "page": observation,
            "category": goal.category,
            "cluster": goal.asin,
            "metrics": {"purchase": bought is not None},
            "screen": _SCREENS.get(type(screen)) or screen.name.lower(),  # type: ignore[union-attr]
            "counters": self._session.counters,
        }
        if isinstance(screen, ResultsPage):
            info["results"] = self.catalogue.fragments.cards(screen.shown)
        elif isinstance(screen, ItemPage):
            info["options"] = screen.product.options.copy()  # type: ignore[attr-defined]
            info["chosen"] = dict(screen.chosen)
            self._add_image(info, screen.product)
        elif isinstance(screen, SubPage):
            self._add_image(info, screen.item.product)
        if bought is None:
            return Outcome(observation, info)
        info["reward_breakdown"] = bought._asdict()
        info["metrics"] |= {
            "attributes": bought.attributes,
            "options": bought.options,
            "price": float(bought.price),
            "type": bought.type,
            "strict_success": bought.strict_reward == 1.0,
        }
        return Outcome(observation, info, bought.reward, terminated=True)

    def _add_image(self, info: dict[str, Any], product: Product) -> None:
        info["image_id"] = product.asin
        features = None if self._images is None else self._images.find(product.asin)
        if features is not None:
            info["image_features"] = features

    def _admissible(self, page: Page) -> list[str]:
        match self._session.screen:
            case SearchPage():
                return [f"search[{self.goal.query_text}]"]
            case ItemPage():
                return list(self._item_clicks(page))
            case _:
                return clickables(page)

    def _possible_clicks(self, page: Page) -> list[str]:
        """Those that the parser understands; the original's cannot click every option."""
        return [click for click in clickables(page) if can_be_clicked(click[len("click[") : -1], self.rules.parse)]


class WebShopV0(WebShop):
    """The original WebShop, its defects included, for comparison with published numbers.

    What differs from `WebShop` is listed in `llm_gym.envs.webshop.rules`.

    Args:
        seed: of what the original leaves to chance when it loads: the price inside a range, and the price limits. As
            if `random.seed(seed)` had been called before the original was made.
    """

    rules: ClassVar[Rules] = ORIGINAL

    def __init__(
        self,
        catalogue: str | Path = EMBEDDED,
        goals: GoalKind | None = None,
        split: str | None = None,
        observation_mode: str = "text_rich",
        search_engine: str = "bm25",
        show_attrs: bool = False,
        num_products: int | None = None,
        image_features: str | Path | None = None,
        seed: int = 0,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(
            catalogue,
            goals,
            split,
            observation_mode,
            search_engine,
            show_attrs,
            num_products,
            image_features,
            render_mode,
        )
        match self.goal_kind:
            case "reworded" | "reworded_heldout":
                raise InvalidSetting(f"The original has no {self.goal_kind} goals: play them in WebShop-v1.")
            case "human" | "synthetic" as kind:
                pass
        self.seed = seed
        rng = random.Random(seed)
        self._prices = original_prices(_pricings(self.catalogue), rng)
        self._limits = original_limits(self._prices, self._table.owners.tolist(), kind, rng)

    def description(self) -> dict[str, Any]:
        return super().description() | {"seed": self.seed}

    def _price(self, product: Product) -> float:
        position = self.catalogue.store.position(product.asin)
        assert position is not None, "only products of the catalogue are sold"
        return self._prices[position]

    def _limit(self, goal: int, product: Product, identity: str) -> float:
        return self._limits[goal]

    def _draw(self) -> str:
        """The first task is never drawn and the last one twice as often as the others."""
        weights = [1.0] * len(self.panel) if self.goal_kind == "human" else None
        sums = [0.0, *(itertools.accumulate(weights) if weights else self._cumulative_weights)]
        position = bisect.bisect(sums, self.np_random.uniform(0, sums[-1]))
        return self.panel[min(position, len(sums) - 2)]

    def _after_end(self, action: str) -> Outcome | str:
        """A search goes on shopping; anything else leaves the last page, and the episode counts as going on."""
        answer = self._refusal(action) or self._respond(action)
        return answer if isinstance(answer, Outcome) else Outcome(*self._page_after_end(answer))

    def _page_after_end(self, reason: str) -> tuple[str, dict[str, Any]]:
        outcome = self._outcome()
        return outcome.observation, outcome.info | {"invalid_action": reason}


def _feature_store(given: str | Path | None, catalogue: Catalogue) -> FeatureStore | None:
    """The features asked for, if they are of these products, or those that come with the embedded catalogue."""
    if given is None:
        return FeatureStore.open(EMBEDDED_IMAGES) if catalogue.store.folder == EMBEDDED_FOLDER else None
    store = FeatureStore.open(given)
    store.check_catalogue(catalogue.digest, catalogue.store.asins[: catalogue.size])
    return store


def _pricings(catalogue: Catalogue) -> Sequence[Sequence[float]]:
    """The prices of each product, none, one or two."""
    rows = catalogue.store.pricing[: catalogue.size].tolist()
    return [[price for price in row if price == price] for row in rows]  # NaN differs from itself
