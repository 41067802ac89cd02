"""One episode: the only loop that calls `env.step`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

import gymnasium as gym

from llm_gym.core import Decision, EndedBy, Episode, Info, Step


class Actor(Protocol):
    """The part of a policy that a rollout needs."""

    @property
    def name(self) -> str: ...

    def watch(self, world: gym.Env[str, str]) -> None: ...

    def reset(self, seed: int | None = None, trial: int = 0) -> None: ...

    def act(self, observation: str, info: Info) -> Decision: ...


class Stopped(BaseException):
    """Nobody wants the rest of this episode any more."""


def never() -> bool:
    """The episode is played to its end."""
    return False


class Rollout:
    """An episode while it is played, so that a failure half-way keeps the steps before it."""

    def __init__(self, actor: Actor, task_id: str, repeat: int = 0, trial: int = 0) -> None:
        self.actor, self.task_id, self.repeat, self.trial = actor, task_id, repeat, trial
        self.steps: list[Step] = []
        self.info: Info = {}

    def play(
        self, env: gym.Env[str, str], *, env_seed: int, policy_seed: int, stopped: Callable[[], bool] = never
    ) -> Episode:
        """Play to the end. Exceptions of environment and policy pass through; `failed` then makes the record.

        Raises:
            Stopped: before a decision, where `stopped` says so.
        """
        self.actor.watch(env.unwrapped)
        self.actor.reset(seed=policy_seed, trial=self.trial)
        observation, info = env.reset(seed=env_seed, options={"task": self.task_id})
        self.info = cast(Info, info)
        while True:
            if stopped():
                raise Stopped
            decision = self.actor.act(observation, self.info)
            if decision.action is None:
                self._record(observation, decision, 0.0, self.info)
                return self._episode("limit" if decision.out_of_steps else "agent")
            seen = self.info
            following, reward, terminated, truncated, info = env.step(decision.action)
            self.info = cast(Info, info)
            self._record(observation, decision, float(reward), seen)
            observation = following
            if terminated or truncated:
                return self._episode("task" if terminated else "limit")

    def failed(self, error: BaseException) -> Episode:
        """The episode up to an exception, as data."""
        return self._episode("error", f"{type(error).__name__}: {error}")

    def _record(self, observation: str, decision: Decision, reward: float, seen: Info) -> None:
        stopped = decision.action is None
        self.steps.append(
            Step(
                observation=observation,
                action=decision.action,
                reward=reward,
                invalid=None if stopped else self.info.get("invalid_action"),
                rationale=decision.rationale,
                opinions=(*seen.get("opinions", ()), *decision.opinions),
                usage=decision.usage,
            )
        )

    def _episode(self, ended_by: EndedBy, error: str | None = None) -> Episode:
        return Episode(
            task_id=self.task_id,
            policy=self.actor.name,
            steps=tuple(self.steps),
            success=error is None and bool(self.info.get("success", False)),
            ended_by=ended_by,
            repeat=self.repeat,
            trial=self.trial,
            category=self.info.get("category", ""),
            cluster=self.info.get("cluster", ""),
            metrics=dict(self.info.get("metrics", {})),
            error=error,
        )


def play(env: gym.Env[str, str], policy: Actor, task_id: str, *, seed: int = 0) -> Episode:
    """One episode of a policy at a task; both random streams come from `seed`.

    >>> import gymnasium as gym, llm_gym
    >>> from llm_gym.policies import RandomPolicy
    >>> play(gym.make("llm_gym/Corridor-v0"), RandomPolicy(), "corridor-3").ended_by
    'task'
    """
    return Rollout(policy, task_id).play(env, env_seed=seed, policy_seed=seed)
