"""A strong baseline without learning: read a few products and compare words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from llm_gym.core import Info
from llm_gym.envs.webshop.goals import query_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies.lexical_match import agreement, best_value, price_limit, typical_price
from llm_gym.policies.shopper import PREVIOUS, ShopPage, ShopperPolicy


class LexicalPolicy(ShopperPolicy):
    """Open the first few results that cost no more than allowed, buy the one that agrees best with the instruction.

    It searches the instruction without its opening and its price clause. A product agrees by the words of the
    instruction in its title and option values, and by the options it can meet in full; the better ranked of equals is
    bought. Of each option the best matching value is chosen, and none where no word agrees.

    Sub pages are not read: on the official synthetic goals title and options alone decided better than all texts did,
    since long texts hold any word.

    Args:
        read: how many results are opened before one is bought. Five take about 15 steps.
    """

    name = "lexical"

    def __init__(self, read: int = 5) -> None:
        if read < 1:
            raise InvalidSetting(f"read must be 1 result at least, got {read}.")
        super().__init__()
        self.read = read

    def settings(self) -> dict[str, Any]:
        return {"read": self.read}

    def query(self, goal: str) -> str:
        return query_of(goal)

    def options(self, goal: str, offered: Mapping[str, Sequence[str]]) -> list[str]:
        wanted = query_of(goal)
        best = (best_value(wanted, name, values) for name, values in offered.items())
        return [value for value in best if value is not None]

    def rank(self, page: ShopPage) -> list[int]:
        """First those still to read, then those read, the best first, then the others."""
        reading = self._worth_reading(page)
        unread = [position for position in reading if page.results[position].asin not in self._agreements]
        read = [position for position in reading if position not in unread]
        others = [position for position in range(len(page.results)) if position not in reading]
        return unread + sorted(read, key=lambda position: -self._agreements[page.results[position].asin]) + others

    def _candidates(self, observation: str, info: Info) -> list[str]:
        page = ShopPage.read(info)
        if page is not None and page.screen == "item" and self._open is not None:
            title = self._reading[self._open]
            self._agreements.setdefault(self._open, agreement(query_of(page.goal), title, page.options))
        return super()._candidates(observation, info)

    def _forget(self) -> None:
        super()._forget()
        self._reading: dict[str, str] = {}
        """Id → title of the results to read, best ranked first."""
        self._agreements: dict[str, int] = {}
        """Of those read so far."""
        self._open: str | None = None
        """The result opened last."""

    def _remember(self, observation: str, page: ShopPage | None, action: str | None) -> None:
        super()._remember(observation, page, action)
        if page is None or page.screen != "results":
            return
        results = [page.results[position] for position in self._worth_reading(page)]
        self._reading = {result.asin: result.title for result in results}
        opened = (page.results[at].asin for at in range(len(page.results)) if page.click_result(at) == action)
        self._open = next((asin for asin in opened if asin in self._reading), None)

    def _worth_reading(self, page: ShopPage) -> list[int]:
        """The first few within the price limit; the first few of all where none is."""
        limit = price_limit(page.goal)
        prices = [typical_price(result.price) for result in page.results]
        affordable = [at for at, price in enumerate(prices) if limit is None or price is None or price <= limit]
        return (affordable or list(range(len(prices))))[: self.read]

    def _on_item(self, page: ShopPage) -> list[str]:
        return super()._on_item(page) if self._decided else [PREVIOUS]

    @property
    def _decided(self) -> bool:
        """Whether the open item is the one to buy; one that was opened by somebody else is."""
        if self._open is None:
            return True
        if any(asin not in self._agreements for asin in self._reading):
            return False
        return self._open == max(self._reading, key=self._agreements.__getitem__)
