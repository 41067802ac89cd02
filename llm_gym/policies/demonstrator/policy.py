"""The shopper itself: what it does on each kind of page."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from llm_gym.core import Info
from llm_gym.policies.demonstrator.dice import Dice
from llm_gym.policies.demonstrator.habits import Level, habits_of
from llm_gym.policies.demonstrator.item import Impression
from llm_gym.policies.demonstrator.memory import NEXT, Memory
from llm_gym.policies.demonstrator.options import choices
from llm_gym.policies.demonstrator.query import first_query, next_query
from llm_gym.policies.demonstrator.results import appeal, glance, is_of_the_kind, promises
from llm_gym.policies.demonstrator.temper import Temper
from llm_gym.policies.demonstrator.wish import Wish
from llm_gym.policies.lexical_match import typical_price
from llm_gym.policies.shopper import BACK, PREVIOUS, Result, ShopPage, ShopperPolicy

_SUB_PAGES = {"features": 0.52, "description": 0.42, "reviews": 0.06}
"""What people open to learn more, and how often."""
_DOUBT = 0.3
"""How far below hope an item may be to be read about: below that it is out of the question."""
_FLAW = 6.0
"""What a price beyond the limit takes from the appeal of a result."""
_RESULTS, _PAGES = 10, 5
"""Results on a page, and pages that a search has."""


class DemonstratorPolicy(ShopperPolicy):
    """Shop as people do: the source of demonstrations to learn from.

    It writes a query of its own, opens what looks best by title and price, reads on where the title does not tell, goes
    back where something wanted is missing, chooses the options asked for, and buys the first item that is good enough
    to its mind, or the best it has seen when it has looked enough. What is good enough, and how much is enough, differs
    from session to session. Its mistakes come from haste and from what pages do not show.

    It sees what the pages show and nothing else.

    Args:
        level: "expert" for the best of WebShop's human shoppers, "average" for all of them.
    """

    name = "demonstrator"

    def __init__(self, level: Level = "expert") -> None:
        habits_of(level)
        self.level = level
        super().__init__()

    def settings(self) -> dict[str, Any]:
        return {"level": self.level}

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        super().reset(seed, trial)
        self._begin(secrets.randbits(62) if seed is None else seed)

    def note(self, observation: str, info: Info, action: str) -> None:
        self._look(info.get("page", observation), info)
        super().note(observation, info, action)

    def query(self, goal: str) -> str:
        wish, earlier = Wish.read(goal), self._memory.queries
        stream = self._dice.stream("query", len(earlier))
        if not earlier:
            return first_query(wish, self._habits.priced, stream)
        best = self._memory.best(wish)
        if best is not None and self._has_looked_enough():
            return best.place.query
        return next_query(wish, earlier, self._habits.priced, stream)

    def _forget(self) -> None:
        super()._forget()
        self._begin(0)

    def _begin(self, seed: int) -> None:
        self._habits = habits_of(self.level)
        self._dice = Dice(seed)
        self._temper = Temper.draw(self._habits, self._dice.stream("temper"))
        self._memory = Memory()

    def _candidates(self, observation: str, info: Info) -> list[str]:
        self._look(info.get("page", observation), info)
        page = ShopPage.read(info)
        if page is None or page.screen not in ("results", "item"):
            return super()._candidates(observation, info)
        wish = Wish.read(page.goal)
        return self._on_results(page, wish) if page.screen == "results" else self._on_this_item(page, wish)

    def _look(self, text: str, info: Info) -> None:
        page = ShopPage.read(info)
        if page is not None:
            self._memory.look(page, text)

    def _remember(self, observation: str, page: ShopPage | None, action: str | None) -> None:
        super()._remember(observation, page, action)
        if page is not None and action is not None:
            self._memory.follow(page, action)

    # -- results -----------------------------------------------------------------------------------------------

    def _on_results(self, page: ShopPage, wish: Wish) -> list[str]:
        ranked = self._ranked(page, wish)
        best = self._memory.best(wish)
        clicks = [page.click_result(at) for at in ranked if self._may_be_it(page.results[at], wish)]
        if best is not None and self._has_looked_enough():
            return [*self._toward(page, best), *clicks]
        interesting = any(promises(wish, page.results[at]) >= self._temper.interest for at in ranked)
        if not (clicks and interesting) or self._is_tired_of_this_search():
            if self._turns_page(page):
                return [NEXT, *clicks]
            if self._searches_again(page):
                return [BACK, *clicks]
        if clicks:
            return clicks
        if best is not None:
            return self._toward(page, best)
        return [page.click_result(at) for at in ranked] or [one for one in (PREVIOUS, BACK) if one in page.admissible]

    def _ranked(self, page: ShopPage, wish: Wish) -> list[int]:
        """Positions of the results not yet opened, the most appealing first."""
        first = _RESULTS * (self._memory.page - 1)

        def look(at: int) -> float:
            result = page.results[at]
            flaw = 0.0 if self._seems_affordable(result, wish) else _FLAW
            luck = glance(self._habits.haste, self._dice.stream("glance", result.asin))
            return appeal(wish, result, first + at) - flaw + luck

        unopened = [at for at, result in enumerate(page.results) if result.asin not in self._memory.opened]
        return sorted(unopened, key=look, reverse=True)

    def _may_be_it(self, result: Result, wish: Wish) -> bool:
        """Whether a result is worth opening."""
        return self._seems_affordable(result, wish) and is_of_the_kind(wish, result)

    def _seems_affordable(self, result: Result, wish: Wish) -> bool:
        overlooked = self._dice.happens(self._habits.overlooks, "price", result.asin)
        return overlooked or wish.affordable(typical_price(result.price))

    def _turns_page(self, page: ShopPage) -> bool:
        memory = self._memory
        return (
            NEXT in page.admissible
            and memory.page == memory.farthest < _PAGES
            and self._dice.happens(self._temper.turns, "turn", len(memory.queries), memory.page)
        )

    def _searches_again(self, page: ShopPage) -> bool:
        return BACK in page.admissible and len(self._memory.queries) < self._temper.queries

    def _is_tired_of_this_search(self) -> bool:
        """Whether the items opened from this search were disappointing enough to look elsewhere."""
        memory = self._memory
        here = memory.opened_from_this_search()
        return here > 0 and self._dice.happens(self._temper.tires, "tired", len(memory.queries), memory.page, here)

    def _has_looked_enough(self) -> bool:
        return len(self._memory.opened) >= self._temper.items or self._memory.steps >= self._temper.patience

    def _toward(self, page: ShopPage, best: Impression) -> list[str]:
        """The way to an item seen before."""
        memory = self._memory
        here = [at for at, result in enumerate(page.results) if result.asin == best.result.asin]
        if here:
            return [page.click_result(here[0])]
        if memory.queries and best.place.query != memory.queries[-1]:
            return [action for action in (BACK,) if action in page.admissible]
        turn = NEXT if best.place.page > memory.page else PREVIOUS
        return [action for action in (turn,) if action in page.admissible]

    # -- an item -----------------------------------------------------------------------------------------------

    def _on_this_item(self, page: ShopPage, wish: Wish) -> list[str]:
        item = self._memory.item
        if item is None:
            return super()._on_item(page)
        unread = self._to_read(item, wish)
        if unread is not None and f"click[{unread}]" in page.admissible:
            return [f"click[{unread}]"]
        if not self._is_settled(item, wish) and PREVIOUS in page.admissible:
            return [PREVIOUS]
        return super()._on_item(page)

    def options(self, goal: str, offered: Mapping[str, Sequence[str]]) -> list[str]:
        asin, carelessness = self._memory.current or "", self._temper.carelessness
        return choices(Wish.read(goal), asin, offered, self._habits, carelessness, self._dice)

    def _hope(self) -> float:
        """Share of the wish that the open item must meet; less, the more were opened before."""
        return self._temper.hope - self._habits.yielding * (len(self._memory.opened) - 1)

    def _to_read(self, item: Impression, wish: Wish) -> str | None:
        """The sub page to open next; None where enough is known, or nobody cares."""
        if item.left or not item.missing(wish) or item.worth(wish) < self._hope() - _DOUBT:
            return None
        asin = item.result.asin
        chance = {0: self._habits.reads, 1: self._habits.reads_on}.get(len(item.read), 0.0)
        if not self._dice.happens(chance, "read", asin, len(item.read)):
            return None
        names = [name for name in _SUB_PAGES if name not in item.read]
        weights = [_SUB_PAGES[name] for name in names]
        return self._dice.stream("which page", asin, len(item.read)).choices(names, weights)[0]

    def _is_settled(self, item: Impression, wish: Wish) -> bool:
        """Whether this item is to be bought."""
        memory = self._memory
        if item.worth(wish) >= self._hope():
            return True
        best = memory.best(wish)
        if self._has_looked_enough():
            return best is None or best.result.asin == item.result.asin
        return item.left and best is not None and best.result.asin == item.result.asin
