"""Players: threads that take one attempt after the other, each with a policy and an environment of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Protocol

import gymnasium as gym

from llm_gym.errors import FATAL
from llm_gym.evaluation.attempts import play_attempt
from llm_gym.evaluation.parcel import ALONE, Parcel
from llm_gym.evaluation.records import Attempt, Played
from llm_gym.policies.base import Policy
from llm_gym.rollout import Stopped

logger = logging.getLogger(__name__)

_GRACE_S = 1.0
"""How long players that are told to stop are waited for. One that waits for a network is left: it stops by itself as
soon as it has its answer, and nobody hears of it."""


@dataclass(frozen=True, slots=True)
class Ready:
    """A player has its policy and its environment."""


@dataclass(frozen=True, slots=True)
class Unready:
    """A player cannot begin."""

    reason: str

    @classmethod
    def because(cls, error: Exception) -> Unready:
        return cls(f"Policy and environment cannot be made again ({error!r}): {ALONE}.")


@dataclass(frozen=True, slots=True)
class Fatal:
    """An exception that stops the whole evaluation."""

    error: BaseException


Message = Ready | Unready | Fatal | Played


class Line(Protocol):
    """How players hear what to play and tell what came of it; used by all of them at the same time."""

    def take(self) -> Attempt | None:
        """The next attempt; None when there is none any more."""

    def say(self, message: Message) -> None:
        """Tell it.

        Raises:
            Stopped: nobody listens any more.
        """


@dataclass(frozen=True, slots=True)
class Players:
    """Who plays what the line gives, until it gives nothing more or the players are stopped.

    Args:
        parcel: what each of them unpacks.
        line: used by all.
        trials: at most so many in an attempt.
        seed: of the evaluation.
    """

    parcel: Parcel
    line: Line
    trials: int
    seed: int
    _unpacking: threading.Lock = field(default_factory=threading.Lock)
    """One at a time: what environments share is then opened once, and not by all of them together."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def play(self) -> None:
        """Be a player, in the thread that calls."""
        try:
            made = self._made()
            if made is not None:
                with _closing(made[1]):
                    self._serve(*made)
        except FATAL as error:
            self.line.say(Fatal(error))
        except Stopped:
            return

    def _made(self) -> tuple[Policy, gym.Env[str, str]] | None:
        try:
            with self._unpacking:
                return None if self._stop.is_set() else self.parcel.unpacked()
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - a thread's boundary: the caller of `evaluate` gets it
            self.line.say(Unready.because(error))
            return None

    def _serve(self, policy: Policy, env: gym.Env[str, str]) -> None:
        self.line.say(Ready())
        while not self._stop.is_set() and (attempt := self.line.take()) is not None:
            for played in play_attempt(
                policy, env, attempt, trials=self.trials, seed=self.seed, stopped=self._stop.is_set
            ):
                self.line.say(played)

    @contextmanager
    def threads(self, number: int) -> Iterator[Sequence[threading.Thread]]:
        """So many players in threads of their own. They are told to stop when the block ends, if they still play."""
        threads = [
            threading.Thread(target=self._play_in_thread, name=f"player {place}", daemon=True)
            for place in range(number)
        ]
        try:
            for thread in threads:
                thread.start()
            yield threads
        finally:
            self._stop.set()
            deadline = time.monotonic() + _GRACE_S
            for thread in threads:
                if thread.ident is not None:  # else it was never started
                    thread.join(max(0.0, deadline - time.monotonic()))

    def _play_in_thread(self) -> None:
        try:
            self.play()
        except BaseException as error:  # noqa: BLE001 - a thread's boundary: the caller of `evaluate` gets it
            with suppress(Stopped):
                self.line.say(Fatal(error))


@contextmanager
def _closing(env: gym.Env[str, str]) -> Iterator[None]:
    try:
        yield
    finally:
        try:
            env.close()
        except Exception as error:  # noqa: BLE001 - what was played is played
            logger.warning("%s could not be closed: %r", env, error)
