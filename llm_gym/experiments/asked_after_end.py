"""The loop of the published set-up: when the task has ended, the agent is asked once more."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs


class AskedAfterEnd(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """The end of a task is a page that tells the reward, from 0 to 10; whatever is answered to it, it is over then.

    An agent that answers with `finish` ends the episode itself, and only that was counted by the authors. At the last
    step nothing is left to be asked.
    """

    def __init__(self, env: gym.Env[str, str]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.Wrapper.__init__(self, env)
        self._last: tuple[str, dict[str, Any]] | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self._last = None
        return self.env.reset(seed=seed, options=options)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        if self._last is not None:
            return self._last[0], 0.0, True, False, self._last[1]
        observation, reward, terminated, truncated, info = self.env.step(action)
        if terminated and not truncated:
            observation = f"{observation}{{'reward': {10 * float(reward):g}}}"
            info = {**info, "page": observation, "admissible_actions": []}
            self._last, terminated = (observation, info), False
        return observation, float(reward), terminated, truncated, info
