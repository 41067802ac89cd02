"""Puts earlier observations and actions before the current observation."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from llm_gym.envs.base import MAX_ACTION_CHARS, MAX_OBSERVATION_CHARS
from llm_gym.envs.history import SEPARATOR, last, with_history
from llm_gym.errors import InvalidSetting
from llm_gym.spaces import Unicode


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
        past = last(self._past_observations, self.observations), last(self._past_actions, self.actions)
        self._past_observations.append(observation)
        return with_history(*past, observation), float(reward), terminated, truncated, info
