"""Puts earlier observations and actions before the current observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from llm_gym.envs.base import MAX_ACTION_CHARS, MAX_OBSERVATION_CHARS
from llm_gym.errors import InvalidSetting
from llm_gym.spaces import Unicode

SEPARATOR = " [SEP] "


class HistoryWrapper(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """The last few observations and actions, oldest first, before the current observation, joined by ` [SEP] `.

    As `num_prev_obs` and `num_prev_actions` of the original WebShop: an action stands after the observation it
    answered, impossible actions are part of the history, and the first observation of an episode stands alone.
    `info["page"]` is still the bare page.

    Args:
        env: any text environment.
        observations: how many earlier ones, where there are so many.
        actions: how many, where there are so many.
    """

    def __init__(self, env: gym.Env[str, str], observations: int = 0, actions: int = 0) -> None:
        if observations < 0 or actions < 0:
            raise InvalidSetting(f"observations and actions must be 0 or more, got {observations} and {actions}.")
        RecordConstructorArgs.__init__(self, observations=observations, actions=actions)
        gym.Wrapper.__init__(self, env)
        self.observations = observations
        self.actions = actions
        pieces = max(observations, actions)
        longest = MAX_OBSERVATION_CHARS + pieces * (MAX_OBSERVATION_CHARS + MAX_ACTION_CHARS + 2 * len(SEPARATOR))
        self.observation_space = Unicode(longest)
        self._past_observations: list[str] = []
        self._past_actions: list[str] = []

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        observation, info = self.env.reset(seed=seed, options=options)
        self._past_observations, self._past_actions = [observation], []
        return observation, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        self._past_actions.append(str(action))
        told = joined(_last(self._past_observations, self.observations), _last(self._past_actions, self.actions))
        self._past_observations.append(observation)
        return SEPARATOR.join([*told, observation]), float(reward), terminated, truncated, info


def joined(observations: list[str], actions: list[str]) -> list[str]:
    """Both lists as one, oldest first; they end at the same time, and an action follows the observation it answered.

    >>> joined(["page 2"], ["action 1", "action 2"])
    ['action 1', 'page 2', 'action 2']
    """
    told: list[str] = []
    for back in range(max(len(observations), len(actions)), 0, -1):
        told += observations[-back:][:1] if back <= len(observations) else []
        told += actions[-back:][:1] if back <= len(actions) else []
    return told


def _last(items: list[str], count: int) -> list[str]:
    return items[-count:] if count else []
