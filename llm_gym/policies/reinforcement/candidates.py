"""What an agent may choose among on a page, in its own words and in the world's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from llm_gym.core import Info
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.policies.imitation.choice_batch import DRAWN, FIRST, MOST_ACTIONS
from llm_gym.policies.reinforcement.network import Situation
from llm_gym.policies.shopper import ShopPage, search_action

Queries = Callable[[str], Sequence[str]]
"""An instruction → what may be searched for, best first."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """A situation, and what its actions are called in the world."""

    situation: Situation
    actions: tuple[str, ...]
    """In the order of `situation.actions`."""

    def cut(self, rng: np.random.Generator) -> Candidates:
        """Of more than twenty actions the first six and ten others, in their order, as in the original's training."""
        if len(self.actions) <= MOST_ACTIONS:
            return self
        drawn = rng.choice(np.arange(FIRST, len(self.actions)), DRAWN, replace=False)
        places = [*range(FIRST), *sorted(drawn.tolist())]
        read = tuple(self.situation.actions[place] for place in places)
        return Candidates(replace(self.situation, actions=read), tuple(self.actions[place] for place in places))


def candidates(observation: str, info: Info, queries: Queries) -> Candidates | None:
    """The situation on a page; None where the world lists no action.

    On a shop's search page, queries are the actions: those of `queries`, and the whole instruction. Results are called
    by their titles. In any other world the admissible actions are taken as they are. No action stands there twice.

    Args:
        observation: what is read where `info` has no page.
        info: of the world.
        queries: what may be searched for.
    """
    page = ShopPage.read(info)
    if page is not None and page.screen == "search":
        pairs = [(action, action) for action in map(search_action, [*queries(page.goal), page.goal.lower()])]
    else:
        titles = _titles(page)
        pairs = [(titles.get(action, action), action) for action in info.get("admissible_actions") or ()]
    if not pairs:
        return None
    actions = dict.fromkeys(pairs)
    image = cast("dict[str, Any]", info).get("image_features")
    read = tuple(pair[0] for pair in actions)
    situation = Situation(info.get("goal", ""), info.get("page", observation), read, image)
    return Candidates(situation, tuple(pair[1] for pair in actions))


def instruction_only(goal: str) -> Sequence[str]:
    """No query but the instruction, which is always among the candidates."""
    return ()


def _titles(page: ShopPage | None) -> dict[str, str]:
    """Action → what it is called, of a shop's results."""
    if page is None or not page.results:
        return {}
    names = item_names([(result.asin, result.title) for result in page.results])
    return {plain: f"click[{name}]" for name, plain in names.items()}
