"""A policy that picks any admissible action."""

from __future__ import annotations

import numpy as np

from llm_gym.core import Decision, Info, Opinion
from llm_gym.policies.base import Policy


class RandomPolicy(Policy):
    """Uniform over `info["admissible_actions"]`; stops where the environment lists none."""

    name = "random"

    def __init__(self) -> None:
        self._random = np.random.default_rng()

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._random = np.random.default_rng(seed)

    def act(self, observation: str, info: Info) -> Decision:
        actions = info.get("admissible_actions")
        return Decision(actions[int(self._random.integers(len(actions)))] if actions else None)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Different actions, each with the confidence of a guess."""
        actions = info.get("admissible_actions") or []
        order = self._random.permutation(len(actions))[:k]
        return [Opinion(actions[int(index)], 1 / len(actions), self.name) for index in order]
