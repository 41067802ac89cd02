"""What every policy is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

import gymnasium as gym

from llm_gym.core import Decision, Info, Opinion
from llm_gym.registry import services

if TYPE_CHECKING:  # the one upward edge of the design, for the type only
    from llm_gym.evaluation.evaluation import Evaluation


@runtime_checkable
class Advisor(Protocol):
    """Anything that can be asked for opinions."""

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]: ...


class Policy(ABC):
    """Something that decides.

    A policy reads `observation` and `info` and nothing else of the environment. It may keep a memory inside an
    episode; `reset` forgets it. Everything random comes from the seed of `reset`.

    Subclasses are plain classes whose constructor stores its arguments under their own names and can be pickled, so
    that an evaluation can send them to other threads and processes.
    """

    name: ClassVar[str]
    """Short name in tables, e.g. "rule"."""

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        """Begin an episode.

        Args:
            seed: for this episode's random stream; None draws one.
            trial: 0 forgets everything. A later trial of the same task may keep what failed ones taught.
        """
        return

    def watch(self, world: gym.Env[str, str]) -> None:
        """Called with the innermost environment before an episode; only an oracle, which may see all, heeds it."""
        return

    @abstractmethod
    def act(self, observation: str, info: Info) -> Decision:
        """The next action; `Decision(None)` stops the episode."""

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Up to `k` suggestions, best first: what this policy would do here. Any policy can be an expert so."""
        action = self.act(observation, info).action
        return [] if action is None else [Opinion(action, source=self.name)]

    def note(self, observation: str, info: Info, action: str) -> None:
        """Somebody took `action` here: an expert is told what came of its advice, that its memory may follow."""
        return

    def settings(self) -> dict[str, Any]:
        """What distinguishes this policy from others of its class, as JSON; part of a plan's fingerprint."""
        return {}

    def evaluate(
        self,
        env: gym.Env[str, str],
        n: int | None = 50,
        *,
        repeats: int = 1,
        trials: int = 1,
        jobs: int = 1,
        concurrency: int = 1,
        seed: int = 0,
        out: str | Path | None = None,
    ) -> Evaluation:
        """Play the first `n` tasks of the environment's panel and measure.

        Args:
            env: any environment of `gymnasium.make`, wrapped or not.
            n: number of tasks, in panel order; None plays the whole panel.
            repeats: attempts at every task, each with its own random stream.
            trials: tries within an attempt; the policy keeps what failed tries taught, a success ends the attempt.
            jobs: processes, for policies that compute.
            concurrency: episodes in flight in each process, for policies that wait for a network. The result is the
                same bytes whatever both numbers are.
            seed: of everything random in policy and environment.
            out: folder of the run; an interrupted run resumes from it. None keeps the result in memory only.

        Returns:
            The episodes with success, score and the other metrics, each with its 95 % interval.
        """
        run: Any = services.load("runner")
        settings = {"repeats": repeats, "trials": trials, "jobs": jobs, "concurrency": concurrency, "seed": seed}
        evaluation: Evaluation = run(self, env, n, **settings, out=out)
        return evaluation

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.settings().items())
        return f"{type(self).__name__}({shown})"
