"""A policy that follows suggestions, now and then."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

from llm_gym.core import Decision, Info, derive_seed
from llm_gym.errors import InvalidSetting
from llm_gym.policies.advice import told
from llm_gym.policies.base import Policy


class HeedingPolicy(Policy):
    """Takes the first opinion of `info["opinions"]` with a given probability, else does what another policy would.

    It shows what opinions are worth to somebody who heeds them, and how an analysis looks when the truth is known.

    Args:
        policy: who decides where no opinion is taken.
        probability: to take an opinion, wherever there is one.
    """

    name = "heeding"

    def __init__(self, policy: Policy, probability: float = 1.0) -> None:
        if not 0 <= probability <= 1:
            raise InvalidSetting(f"probability must lie between 0 and 1, got {probability}.")
        self.policy = policy
        self.probability = probability
        self._random = np.random.default_rng()

    def settings(self) -> dict[str, Any]:
        return {"policy": told(self.policy), "probability": self.probability}

    def watch(self, world: gym.Env[str, str]) -> None:
        self.policy.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._random = np.random.default_rng(None if seed is None else derive_seed(seed, "heeding"))
        self.policy.reset(seed, trial)

    def act(self, observation: str, info: Info) -> Decision:
        opinions = info.get("opinions")
        if not opinions or self._random.random() >= self.probability:
            return self.policy.act(observation, info)
        self.policy.note(observation, info, opinions[0].action)
        return Decision(opinions[0].action)
