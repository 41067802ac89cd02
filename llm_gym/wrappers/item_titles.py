"""Names a shop's results by their titles."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from llm_gym.envs.webshop.item_names import item_names

_CLICK = re.compile(r"click\s*\[(.*)\]", re.DOTALL | re.IGNORECASE)


class ItemTitles(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """A result is clicked by its title, `click[item - red shoe]`, instead of an id that says nothing.

    As in the original's training environment, but of results with the same title on one page the second is called
    `item - red shoe (2)` and so on (in the original every such name led to the last product of the catalogue that has
    the title). The id can still be clicked. The observation is left alone; a world that is no shop as well.
    """

    def __init__(self, env: gym.Env[str, str]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._names: dict[str, str] = {}
        """Name → action, on the current page."""

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        return observation, self._renamed(info)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(self._plain(action))
        return observation, float(reward), terminated, truncated, self._renamed(info)

    def _plain(self, action: str) -> str:
        """The action in the world's own words; what is no name of a result stays as it is."""
        match = _CLICK.fullmatch(action.strip()) if isinstance(action, str) else None
        return self._names.get(match[1].strip().lower(), action) if match else action

    def _renamed(self, info: dict[str, Any]) -> dict[str, Any]:
        """A copy with the names in `admissible_actions`."""
        results, actions = info.get("results", ()), info.get("admissible_actions")
        self._names = item_names([(result.asin, result.title) for result in results])
        if not actions or not self._names:
            return info
        titled = {plain: f"click[{name}]" for name, plain in self._names.items()}
        return {**info, "admissible_actions": [titled.get(action, action) for action in actions]}
