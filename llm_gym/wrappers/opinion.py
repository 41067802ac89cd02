"""Puts an expert's suggestions in front of any policy."""

from __future__ import annotations

from typing import Any, cast

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs

from llm_gym.core import Info
from llm_gym.envs.base import MAX_ACTION_CHARS, MAX_OBSERVATION_CHARS
from llm_gym.policies.advice import Advice, Control, Draw, When
from llm_gym.policies.base import Policy
from llm_gym.policies.prompts import prompt
from llm_gym.policies.suggestions import LONGER, suggested
from llm_gym.spaces import Unicode


class OpinionWrapper(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    """An expert's opinions with every page: in `info["opinions"]`, and in words after the observation.

    The method of Additional Opinions (Yang, Yue and He 2023) for any policy. The expert sees the page as the world made
    it; `info["page"]` stays without opinions. It is told what was done, and costs no step. An expert more is a wrapper
    more: the opinions of the inner one come first.

    Args:
        env: any text environment.
        expert: whose opinions; a policy object of its own, not the one that plays.
        top_k: how many opinions at most.
        draw: which of them, see `llm_gym.policies.advice.Advice`.
        when: on which pages.
        threshold: for when="uncertain": the confidence below which an expert is.
        control: "random" shows random admissible actions instead.
        append: put the opinions into words after the observation; otherwise they are in `info["opinions"]` only.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        expert: Policy,
        top_k: int = 1,
        draw: Draw = "argmax",
        when: When = "always",
        threshold: float = 0.5,
        control: Control | None = None,
        append: bool = True,
    ) -> None:
        self._advice = Advice(expert, top_k=top_k, draw=draw, when=when, threshold=threshold, control=control)
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,  # the expert's budget is the user's; and a model need not be in memory twice
            expert=expert,
            top_k=top_k,
            draw=draw,
            when=when,
            threshold=threshold,
            control=control,
            append=append,
        )
        gym.Wrapper.__init__(self, env)
        self.append = append
        self._place = _experts_inside(env)
        if append:
            longest = getattr(env.observation_space, "max_length", MAX_OBSERVATION_CHARS)
            words = max(map(len, prompt("opinion").values()))
            self.observation_space = Unicode(longest + words + top_k * LONGER * (MAX_ACTION_CHARS + LONGER))

    @property
    def expert(self) -> Policy:
        return self._advice.expert

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        self._advice.watch(self.unwrapped)
        self._advice.begin(seed, self._place)
        return self._advised(*self.env.reset(seed=seed, options=options))

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self._advice.note(action)
        observation, reward, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):
            observation, info = self._advised(observation, info)
        return observation, float(reward), terminated, truncated, info

    def _advised(self, observation: str, info: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        seen = cast(Info, info)
        opinions = self._advice.opinions(observation, seen)
        return cast("tuple[str, dict[str, Any]]", suggested(observation, seen, opinions, self.append))


def _experts_inside(env: gym.Env[Any, Any]) -> int:
    """How many opinions of others there are already."""
    inside = 0
    while isinstance(env, gym.Wrapper):
        inside += isinstance(env, OpinionWrapper)
        env = env.env
    return inside
