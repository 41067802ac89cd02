"""Experts as the published set-up had them: policies around an expert, which change what it sees or what is heard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import gymnasium as gym
import numpy as np

from llm_gym.core import Decision, Info, Opinion, derive_seed
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.policies.advice import told
from llm_gym.policies.agents.commands import MALFORMED
from llm_gym.policies.base import Policy
from llm_gym.policies.shopper import ShopPage


class Around(Policy):
    """An expert that another one stands before; by itself it changes nothing."""

    name = "around"

    def __init__(self, expert: Policy) -> None:
        self.expert = expert
        self.reset()

    def settings(self) -> dict[str, Any]:
        return {"expert": told(self.expert)}

    def watch(self, world: gym.Env[str, str]) -> None:
        self.expert.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self.expert.reset(seed, trial)

    def act(self, observation: str, info: Info) -> Decision:
        return self.expert.act(observation, info)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        return self.expert.advise(observation, info, k)

    def note(self, observation: str, info: Info, action: str) -> None:
        self.expert.note(observation, info, action)


class TitledExpert(Around):
    """The expert reads the results of a shop by their titles, `click[item - red shoe]`, as in its training.

    In the published set-up it was shown `click[b09…]`, which it had never seen.
    """

    name = "titled"

    def act(self, observation: str, info: Info) -> Decision:
        decision = self.expert.act(observation, _titled(info))
        return decision if decision.action is None else replace(decision, action=_plain(decision.action, info))

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        opinions = self.expert.advise(observation, _titled(info), k)
        return [replace(opinion, action=_plain(opinion.action, info)) for opinion in opinions]

    def note(self, observation: str, info: Info, action: str) -> None:
        names = {plain: f"click[{name}]" for name, plain in _names(info).items()}
        self.expert.note(observation, _titled(info), names.get(action.lower(), action))


class FirstCharacterExpert(Around):
    """From the second page on the expert sees the first character of the page, and believes that it is obeyed.

    The original made a list of the characters of a text and paired it with a list of one; and it remembered what the
    expert had suggested instead of what was done. Goal and admissible actions stay whole.
    """

    name = "first-character"

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        super().reset(seed, trial)
        self._pages = 0
        self._suggested: str | None = None

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        self._pages += 1
        opinions = super().advise(*self._seen(observation, info), k)
        self._suggested = opinions[0].action if opinions else None
        return opinions

    def note(self, observation: str, info: Info, action: str) -> None:
        believed = action if self._suggested is None else self._suggested
        super().note(*self._seen(observation, info), believed)

    def _seen(self, observation: str, info: Info) -> tuple[str, Info]:
        if self._pages <= 1:
            return observation, info
        page = info.get("page", observation)
        return observation[:1], cast(Info, {**info, "page": page[:1]})


class SilentAfterError(Around):
    """There are no opinions after a reply that held no command: the original had lost the page by then."""

    name = "silent-after-error"

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        super().reset(seed, trial)
        self._lost = False

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        opinions = super().advise(observation, info, k)
        return [] if self._lost else opinions

    def note(self, observation: str, info: Info, action: str) -> None:
        self._lost = action == MALFORMED
        super().note(observation, info, action)


class RandomClicks(Around):
    """Random opinions as the original had them: on a page with a search they are the expert's own."""

    name = "random-clicks"

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        super().reset(seed, trial)
        self._random = np.random.default_rng(None if seed is None else derive_seed(seed, "random-clicks"))

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        opinions = super().advise(observation, info, k)
        actions = info.get("admissible_actions") or []
        if not actions or actions[0].startswith("search["):
            return opinions
        return [Opinion(actions[int(self._random.integers(len(actions)))], 1 / len(actions), "random")]


def _names(info: Info) -> dict[str, str]:
    """Name of a result → the action that opens it."""
    page = ShopPage.read(info)
    return item_names([(result.asin, result.title) for result in page.results]) if page is not None else {}


def _titled(info: Info) -> Info:
    titles = {plain: f"click[{name}]" for name, plain in _names(info).items()}
    actions = info.get("admissible_actions")
    if not titles or not actions:
        return info
    return cast(Info, {**info, "admissible_actions": [titles.get(action, action) for action in actions]})


def _plain(action: str, info: Info) -> str:
    plain = {f"click[{name}]": plain for name, plain in _names(info).items()}
    return plain.get(action.lower(), action)
