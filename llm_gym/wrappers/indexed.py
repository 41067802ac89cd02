"""A text world for networks: arrays of one size to see, numbers to act."""

from __future__ import annotations

import operator
from typing import Any, SupportsIndex, cast

import gymnasium as gym
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.utils import RecordConstructorArgs

from llm_gym.core import Info
from llm_gym.policies.indexed.candidates import Candidate, candidates
from llm_gym.policies.indexed.features import Arrays, features
from llm_gym.policies.indexed.past import Past
from llm_gym.policies.indexed.settings import IndexedSettings

_NO_ACTION = ""
"""What the world is told where a place without an action is chosen: it is refused, and costs a step."""


class IndexedActions(gym.Wrapper[Any, Any, str, str], RecordConstructorArgs):
    """Observations are a flat `Dict` of `Box` and `MultiBinary`, an action is the number of an admissible one.

    What stable-baselines3 and other libraries for fixed spaces take. The arrays are `text`: vectors of the goal, the
    observation and the last few actions; `actions`: for each of K places a vector of the action and numbers that
    compare it with the goal and with what was done; `action_mask`: 1 for the places that hold an action. On the search
    page of a shop the actions are a few queries made of the instruction.

    `info` also says how many actions found no place (`actions_left_out`): the first K have one. The number of an empty
    place is an impossible action: the reward is 0, a step is spent and `info["invalid_action"]` says so.

    Args:
        env: a text environment that lists its actions.
        k: places for actions.
        encoder: "hashing" or "minilm", see `llm_gym.policies.indexed.encoders`.
        dimensions: of the vector of a text; None: the encoder's own (64, 384).
        progress: added to the rewards of an episode where its actions hold all words of the goal between them, and of
            that a part with each action that holds new ones: something to learn from where the world rewards nothing
            but success. For training only.

    Raises:
        InvalidSetting: k or dimensions are below 1; or, at `reset`, the environment lists no actions.
        UnknownName: there is no such encoder.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        k: int = 64,
        encoder: str = "hashing",
        dimensions: int | None = None,
        progress: float = 0.0,
    ) -> None:
        self.indexed_settings = IndexedSettings.of(k, encoder, dimensions)
        RecordConstructorArgs.__init__(self, k=k, encoder=encoder, dimensions=dimensions, progress=progress)
        gym.Wrapper.__init__(self, env)
        self.observation_space = self.indexed_settings.observation_space()
        self.action_space = spaces.Discrete(k)
        self.progress = progress
        self._past = Past()
        self._goal = ""
        self._text = ""
        self._shown: tuple[Candidate, ...] = ()

    @property
    def indexed_actions(self) -> tuple[str, ...]:
        """The action of each number, as the world is told it."""
        return tuple(one.action for one in self._shown)

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Which numbers can be chosen now; what sb3-contrib asks for. (K,)"""
        return np.arange(self.indexed_settings.k) < max(1, len(self._shown))

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Arrays, dict[str, Any]]:
        self._past = Past()
        return self._seen(*self.env.reset(seed=seed, options=options))

    def step(self, action: SupportsIndex) -> tuple[Arrays, float, bool, bool, dict[str, Any]]:
        chosen = self._chosen(action)
        before = self._past.share_of(self._goal)
        if chosen is not None:
            self._past.remember(self._text, chosen)
        progress = self._past.share_of(self._goal) - before
        told = _NO_ACTION if chosen is None else chosen.action
        text, reward, terminated, truncated, info = self.env.step(told)
        if chosen is None:
            refused = f"There is no action {str(action)[:50]}: {len(self._shown)} can be chosen, from 0 on."
            info = {**info, "invalid_action": refused}
        observation, info = self._seen(text, info)
        return observation, float(reward) + self.progress * progress, terminated, truncated, info

    def _chosen(self, action: SupportsIndex) -> Candidate | None:
        try:
            number = operator.index(action)
        except TypeError:
            return None
        return self._shown[number] if 0 <= number < len(self._shown) else None

    def _seen(self, text: str, info: dict[str, Any]) -> tuple[Arrays, dict[str, Any]]:
        known = cast(Info, info)
        listed = candidates(known)
        self._text, self._shown = text, listed[: self.indexed_settings.k]
        self._goal = known.get("goal", "")
        left_out = len(listed) - len(self._shown)
        arrays = features(self.indexed_settings, text, known, self._shown, self._past)
        return arrays, {**info, "actions_left_out": left_out}
