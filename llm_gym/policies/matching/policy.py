"""The matching expert of WebShop: it looks at many products and buys the one that agrees best."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from llm_gym.core import Info, Opinion
from llm_gym.envs.webshop.goals import query_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies.matching.judge import Judge
from llm_gym.policies.matching.memory import FEATURES, NEXT, Memory
from llm_gym.policies.matching.model import SHIPPED, MatchModel
from llm_gym.policies.matching.planning import Patience, plan, way
from llm_gym.policies.matching.product_features import OptionFit
from llm_gym.policies.shopper import BACK, BUY, PREVIOUS, ShopPage, ShopperPolicy

_CHOOSING = 0.2
"""The best value of an option is chosen from this confidence on: one too many costs nothing but an action."""
_AT_MOST = 3
"""So often an action is taken on the very same page: once to look, once to buy, once for the road."""
_LEAST_ACTIONS = 15
_READ = f"click[{FEATURES}]"


class MatchPolicy(ShopperPolicy):
    """Look at the results that may fit, read on where it is not clear, buy the one that agrees best.

    How well something agrees with the instruction is judged by gradient-boosted trees over matches of words, pairs of
    words and spelling, which were trained on demonstrations (`train/webshop_match.py`); what a word *means* they do not
    know, so that they judge products they have never seen as well as others. It needs NumPy and rapidfuzz only.

    It searches the instruction without its opening and its price clause. What it knows of a product grows from title
    and price among the results to the options on its page to its features; the description is not read, hardly anything
    that is wanted stands there alone. Every decision follows from the page and from what was seen so far, whoever made
    the moves. What the instruction leaves to spend counts as evidence: WebShop's limits lie 10 to 40 dollars above the
    price of what is meant, in every kind of goals.

    Args:
        folder: of a trained model; None: the one that comes with the package, which is read at the first decision.
        actions: after about so many the best product so far is bought; the shop allows 100.
    """

    name = "match"

    def __init__(self, folder: str | Path | None = None, actions: int = 80) -> None:
        if actions < _LEAST_ACTIONS:
            raise InvalidSetting(f"actions must be {_LEAST_ACTIONS} at least, got {actions}.")
        self.folder = folder
        self.actions = actions
        self._model: MatchModel | None = None
        super().__init__()

    @classmethod
    def from_pretrained(cls, folder: str | Path, actions: int = 80) -> Self:
        """The policy with a trained model, which is read and checked at once.

        Raises:
            MissingData: there is no model.
            BadRecord: a file of it is truncated or malformed.
            DataMismatch: it is a model of another kind or version.
        """
        policy = cls(folder, actions)
        policy.model  # noqa: B018 - reads it
        return policy

    @classmethod
    def pretrained(cls) -> Self:
        """The policy with the model that comes with the package."""
        return cls.from_pretrained(SHIPPED)

    def save_pretrained(self, folder: str | Path) -> None:
        """Write the model into a new folder, for `from_pretrained`.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        self.model.write(Path(folder))

    @property
    def model(self) -> MatchModel:
        """The trained model; read when it is first asked for."""
        if self._model is None:
            self._model = MatchModel.read(SHIPPED if self.folder is None else Path(self.folder))
        return self._model

    def settings(self) -> dict[str, Any]:
        return {"weights": self.model.digest, "actions": self.actions}

    def __getstate__(self) -> dict[str, Any]:
        """The model is read anew where the policy goes; what it thought of this episode is thought again."""
        return self.__dict__ | {"_model": None, "_judge": None}

    def query(self, goal: str) -> str:
        return query_of(goal)

    def note(self, observation: str, info: Info, action: str) -> None:
        self._look(observation, info)
        super().note(observation, info, action)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """What it would do, then what else could be done here, each with its confidence.

        Of a result and of the purchase that is how likely the product is the one to buy, of an option how likely it is
        wanted, of going back or on that nothing here is. The first is given the highest confidence of all.
        """
        page = self._look(observation, info)
        if page is None:
            return super().advise(observation, info, k)
        ranked = self._ranked(page)
        highest = max((confidence for _, confidence in ranked), default=0.0)
        certain = [(action, highest if at == 0 else confidence) for at, (action, confidence) in enumerate(ranked)]
        return [Opinion(action, min(1.0, confidence), self.name) for action, confidence in certain[:k]]

    # -- memory ------------------------------------------------------------------------------------------------

    def _forget(self) -> None:
        super()._forget()
        self._memory = Memory()
        self._judge: Judge | None = None
        self._text = ""
        """Of the page looked at last."""
        self._repeated: Counter[tuple[str, str]] = Counter()
        """How often an action was taken on a page of this text."""
        self._refused: set[tuple[str, str]] = set()
        """Actions that the world did not take on a page of this text."""

    def _look(self, observation: str, info: Info) -> ShopPage | None:
        page = ShopPage.read(info)
        if page is None:
            return None
        self._text = info.get("page", observation)
        if "invalid_action" in info and self._last is not None:
            self._refused.add((self._text, self._last))
        self._memory.see(page, self._text)
        return page

    def _remember(self, observation: str, page: ShopPage | None, action: str | None) -> None:
        super()._remember(observation, page, action)
        if page is not None and action is not None:
            self._repeated[self._text, action] += 1
            self._memory.follow(page, action)

    # -- decisions ---------------------------------------------------------------------------------------------

    def _candidates(self, observation: str, info: Info) -> list[str]:
        page = self._look(observation, info)
        if page is None:
            return super()._candidates(observation, info)
        return [action for action, _ in self._ranked(page)]

    def _ranked(self, page: ShopPage) -> list[tuple[str, float]]:
        """Actions fit for this page with their confidences; the planned one first, then the most confident.

        An action that was refused here, or taken so often that it leads nowhere, is left out.
        """
        if page.screen == "done":
            return []
        if self._judge is None or self._judge.goal != page.goal:
            self._judge = Judge(self.model, page.goal)
        confidences = self._judge.confidences(self._memory)
        planned = self._planned(page, self._judge, confidences)
        known = self._alternatives(page, self._judge, confidences)
        ranked = {planned: known.get(planned, 1.0), **dict(sorted(known.items(), key=lambda pair: -pair[1]))}
        return [(action, confidence) for action, confidence in ranked.items() if self._may_be_taken(page, action)]

    def _planned(self, page: ShopPage, judge: Judge, confidences: dict[str, float]) -> str:
        memory = self._memory
        intent = plan(memory, confidences, Patience(actions=self.actions))
        if page.screen != "item" or memory.open != intent.asin or intent.kind not in ("read", "buy"):
            return way(page, memory, intent, self.query(page.goal))
        if intent.kind == "read":
            return _READ
        fits = [fit for fit in self._fits(judge) if fit.confidence >= _CHOOSING]
        clicks = [f"click[{fit.value}]" for fit in fits if page.chosen.get(fit.name) != fit.value]
        return next((click for click in clicks if self._may_be_taken(page, click)), BUY)

    def _alternatives(self, page: ShopPage, judge: Judge, confidences: dict[str, float]) -> dict[str, float]:
        """Action → confidence, of all that could be done here."""
        if page.screen == "results":
            shown = {page.click_result(at): confidences[one.asin] for at, one in enumerate(page.results)}
            return shown | dict.fromkeys(_ways_on(page), 1 - max(shown.values(), default=0.0))
        if page.screen != "item":
            return {}
        here = confidences.get(self._memory.open or "", 0.0)
        wanted = (fit for fit in self._fits(judge) if page.chosen.get(fit.name) != fit.value)
        chosen = {f"click[{fit.value}]": fit.confidence for fit in wanted}
        return chosen | {BUY: here, PREVIOUS: 1 - here, _READ: 1 - abs(2 * here - 1)}

    def _fits(self, judge: Judge) -> Sequence[OptionFit]:
        """The best value of each option of the open item."""
        asin = self._memory.open or ""
        return judge.fits(asin, self._memory.products[asin]) or ()

    def _may_be_taken(self, page: ShopPage, action: str) -> bool:
        if page.screen != "search" and action not in page.admissible:
            return False
        once = action in self._clicked and action not in (PREVIOUS, _READ)
        return not once and (self._text, action) not in self._refused and self._repeated[self._text, action] < _AT_MOST


def _ways_on(page: ShopPage) -> list[str]:
    """From a results page: to the next, the one before, and the search."""
    return [action for action in page.admissible if action in (NEXT, PREVIOUS, BACK)]
