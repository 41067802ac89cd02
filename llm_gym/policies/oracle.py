"""The oracle: it sees the whole world, so that one knows what could be reached."""

from __future__ import annotations

import html
import re
from typing import Any, Literal

import gymnasium as gym

from llm_gym.core import Decision, Info, Opinion
from llm_gym.errors import InvalidSetting
from llm_gym.policies.base import Policy
from llm_gym.policies.shopper import BACK, BUY, PREVIOUS, ShopPage, search_action

_NEXT = "click[next >]"
_PAGE_NUMBER = re.compile(r"Page (\d+) \(Total results|/(\d+)$")
"""In the text of a results page, or at the end of its address (observation mode "url")."""


class OraclePolicy(Policy):
    """Plays what the world knows to be best; the only policy that looks at more than observation and info.

    It is the choice oracle of the WebShop paper (section 5.3) with a query of somebody's: the best product with the
    best options among the first `top` results. It finds its place again on any page, so it can advise somebody who does
    not heed it: away from its way through the shop it goes back to the search page and begins anew.

    A world that is no shop is asked for its `solution()` at every decision, which must then be one from where the agent
    stands.

    Args:
        queries: "solution" buys the target itself; "instruction" searches the whole instruction, as the rule does; a
            policy is asked for the search.
        top: how many results the choice is made among; of no effect on "solution".
    """

    name = "oracle"

    def __init__(self, queries: Literal["solution", "instruction"] | Policy = "solution", top: int = 50) -> None:
        if not isinstance(queries, Policy) and queries not in ("solution", "instruction"):
            raise InvalidSetting(f'queries is "solution", "instruction" or a policy that searches, not {queries!r}.')
        if top < 1:
            raise InvalidSetting(f"top must be 1 result at least, got {top}.")
        self.queries = queries
        self.top = top
        self._world: Any = None
        self._plan: list[str] = []
        self._titles: dict[str, str] = {}
        """Id → title of the results seen; ids in lower case."""
        self._refused: set[str] = set()
        """Planned actions that the world did not take: the original lists options that cannot be clicked."""
        self._last: str | None = None

    def settings(self) -> dict[str, Any]:
        if self.queries == "solution":
            return {"queries": "solution"}
        if isinstance(self.queries, Policy):
            return {"queries": {"policy": self.queries.name, **self.queries.settings()}, "top": self.top}
        return {"queries": self.queries, "top": self.top}

    def watch(self, world: gym.Env[str, str]) -> None:
        """Look at a world.

        Raises:
            InvalidSetting: the world cannot choose among search results, but `queries` asks for it.
        """
        if self.queries != "solution" and not hasattr(world, "best_purchase"):
            raise InvalidSetting(
                f"{type(world).__name__} has no search results to choose among (no best_purchase): "
                'use OraclePolicy(queries="solution").'
            )
        self._world = world
        if isinstance(self.queries, Policy):
            self.queries.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._plan, self._titles, self._refused, self._last = [], {}, set(), None
        if isinstance(self.queries, Policy):
            self.queries.reset(seed, trial)

    def act(self, observation: str, info: Info) -> Decision:
        if "invalid_action" in info and self._last is not None:
            self._refused.add(self._last)
        self._last = self._next(observation, info)
        return Decision(self._last)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """The next action of the plan, of which the oracle is certain."""
        action = self._next(observation, info)
        return [Opinion(action, 1.0, self.name)][:k] if action is not None else []

    def __getstate__(self) -> dict[str, Any]:
        """The world stays where it is: another process has its own to watch."""
        return self.__dict__ | {"_world": None}

    # -- finding the place in the plan -------------------------------------------------------------------------

    def _next(self, observation: str, info: Info) -> str | None:
        if self._world is None:
            raise InvalidSetting("The oracle has no world to look at: call watch(env.unwrapped) before an episode.")
        page = ShopPage.read(info)
        if page is None:
            return next(iter(self._world.solution()), None) if info.get("admissible_actions") != [] else None
        match page.screen:
            case "search":
                self._plan = self._planned(observation, info)
                return self._plan[0] if self._plan and self._plan[0] not in self._refused else None
            case "results":
                return self._on_results(page, info)
            case "item" if self._is_target(page, info):
                return self._on_target(page)
            case "item":
                return BACK
            case _:
                return next((action for action in (PREVIOUS, BACK) if action in page.admissible), None)

    def _planned(self, observation: str, info: Info) -> list[str]:
        """Search, page turns, the item, its options, the purchase; only a search if it finds nothing; or nothing."""
        if self.queries == "solution":
            return list(self._world.solution())
        if isinstance(self.queries, Policy):
            search = self.queries.act(observation, info).action
        else:
            search = search_action(info.get("goal", ""))
        if search is None or not (search.startswith("search[") and search.endswith("]")):
            return []
        return list(self._world.best_purchase(search[len("search[") : -1], self.top))

    @property
    def _target(self) -> str | None:
        """The id of the item to buy, lower-case; None as long as there is no plan, or when it finds nothing."""
        clicks = [action for action in self._plan[1:] if action != _NEXT]
        return clicks[0][len("click[") : -1] if clicks else None

    def _on_results(self, page: ShopPage, info: Info) -> str | None:
        self._titles |= {result.asin.lower(): result.title.strip() for result in page.results}
        shown = [result.asin.lower() for result in page.results]
        if self._target in shown:
            return page.click_result(shown.index(self._target))
        if self._plan and self._target is None:
            return None  # the query finds nothing to buy
        turns = self._plan.count(_NEXT)
        return _NEXT if shown and _page_number(info) <= turns else BACK

    def _is_target(self, page: ShopPage, info: Info) -> bool:
        """Whether the open item is the one to buy.

        A page does not say which item it shows, so it is known by a title seen among the results, or by its address.
        """
        if self._target is None:
            return False
        offered = {f"click[{value}]" for values in page.options.values() for value in values}
        text, title = info.get("page", ""), self._titles.get(self._target)
        named = title is not None and (title in text or title in html.unescape(text))
        return (named or f"/{self._target}/" in text.lower()) and set(self._options) <= offered

    @property
    def _options(self) -> list[str]:
        """The clicks between opening the item and the purchase."""
        return [action for action in self._plan[1:] if action != _NEXT][1:-1]

    def _on_target(self, page: ShopPage) -> str:
        chosen = {f"click[{value}]" for value in page.chosen.values()}
        left = (click for click in self._options if click not in chosen and click not in self._refused)
        return next(left, BUY)


def _page_number(info: Info) -> int:
    found = _PAGE_NUMBER.search(info.get("page", ""))
    return int(found[1] or found[2]) if found else 1
