"""A policy with an expert beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gymnasium as gym

from llm_gym.core import Decision, Info
from llm_gym.policies.advice import Advice, Control, Draw, When, told
from llm_gym.policies.base import Policy
from llm_gym.policies.suggestions import suggested


class AdvisedPolicy(Policy):
    """A policy that reads an expert's opinions with every page; the same as the policy in an `OpinionWrapper`.

    It plays the same episodes as long as both get the same seed; an evaluation gives environment and policy seeds of
    their own, so there a random expert draws otherwise here than in the wrapper.

    Args:
        policy: who decides.
        expert: whose opinions; an object of its own, not `policy` itself.
        top_k: how many opinions at most.
        draw: which of them, see `llm_gym.policies.advice.Advice`.
        when: on which pages.
        threshold: for when="uncertain": the confidence below which an expert is.
        control: "random" shows random admissible actions instead.
        append: put the opinions into words after the observation; otherwise they are in `info["opinions"]` only.
    """

    name = "advised"

    def __init__(
        self,
        policy: Policy,
        expert: Policy,
        top_k: int = 1,
        draw: Draw = "argmax",
        when: When = "always",
        threshold: float = 0.5,
        control: Control | None = None,
        append: bool = True,
    ) -> None:
        self.policy = policy
        self.append = append
        self._advice = Advice(expert, top_k=top_k, draw=draw, when=when, threshold=threshold, control=control)
        self.expert, self.top_k, self.draw, self.when = expert, top_k, draw, when
        self.threshold, self.control = threshold, control

    def settings(self) -> dict[str, Any]:
        return {"policy": told(self.policy), **self._advice.settings(), "append": self.append}

    def watch(self, world: gym.Env[str, str]) -> None:
        self.policy.watch(world)
        self._advice.watch(world)

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        """The expert begins anew in every trial: it is not the one that failed."""
        self._reset(seed, trial, place=0)

    def act(self, observation: str, info: Info) -> Decision:
        opinions = self._advice.opinions(observation, info)
        decision = self.policy.act(*suggested(observation, info, opinions, self.append))
        if decision.action is not None:
            self._advice.note(decision.action)
        return replace(decision, opinions=(*opinions, *decision.opinions))

    def _reset(self, seed: int | None, trial: int, place: int) -> None:
        self._advice.begin(seed, place)
        if isinstance(self.policy, AdvisedPolicy):  # an expert more: two equal ones have streams of their own
            self.policy._reset(seed, trial, place + 1)
        else:
            self.policy.reset(seed, trial)
