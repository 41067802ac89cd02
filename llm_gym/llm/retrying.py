"""Asking again after a failure that may pass."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from llm_gym.core import derive_seed
from llm_gym.errors import EndpointDown, InvalidSetting, RateLimited, UnusableAnswer
from llm_gym.extras import require
from llm_gym.llm.chat import ChatClient, Completion, Request
from llm_gym.llm.key import answer_key
from llm_gym.llm.layer import Layer

if TYPE_CHECKING:
    from tenacity import RetryCallState

_log = logging.getLogger(__name__)


class Retrying(Layer):
    """Asks again while that may help.

    After `RateLimited` it waits as long as the endpoint asked for, and a little more; after `EndpointDown`, or where
    the endpoint did not say, `first_wait_s`, doubled each time up to `longest_wait_s`, of which a random part between
    none and half is left out. An `UnusableAnswer` is asked for once more. All other errors are raised at once: a
    conversation that is too long has to be shortened, and a wrong key stays wrong.

    The chance in the waiting comes from `seed` and the request alone.
    """

    def __init__(
        self,
        client: ChatClient,
        attempts: int = 6,
        total_s: float = 300.0,
        first_wait_s: float = 1.0,
        longest_wait_s: float = 60.0,
        seed: int = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Wrap.

        Args:
            client: who is asked.
            attempts: how often at most, the first time included.
            total_s: a wait that would end later than this after the first attempt is not begun; the last error is
                raised instead.
            first_wait_s: before the second attempt.
            longest_wait_s: of the waits that the endpoint does not ask for.
            seed: of the chance in the waiting.
            sleep: what waits.
        """
        super().__init__(client)
        if attempts < 1 or min(total_s, first_wait_s, longest_wait_s) < 0:
            raise InvalidSetting(f"attempts must be 1 or more and times 0 or more, got {attempts} and {total_s} s.")
        self._attempts, self._total_s = attempts, total_s
        self._first_wait_s, self._longest_wait_s = first_wait_s, longest_wait_s
        self._seed, self._sleep = seed, sleep

    def complete(self, request: Request) -> Completion:
        tenacity = require("tenacity", "llm")
        retrying = tenacity.Retrying(
            retry=_may_help,
            wait=lambda state: self._wait(request, state),
            stop=tenacity.stop_any(
                tenacity.stop_after_attempt(self._attempts), tenacity.stop_before_delay(self._total_s)
            ),
            sleep=self._sleep,
            before_sleep=_tell,
            reraise=True,
        )
        completion: Completion = retrying(self.client.complete, request)
        return completion

    def _wait(self, request: Request, state: RetryCallState) -> float:
        """Seconds before the next attempt."""
        attempt, error = state.attempt_number, _error_of(state)
        key = answer_key(self.settings(), request)
        chance = random.Random(derive_seed(self._seed, key, attempt)).random()
        if isinstance(error, RateLimited) and error.retry_after_s is not None:
            return error.retry_after_s + self._first_wait_s * chance
        wait_s = min(self._longest_wait_s, self._first_wait_s * 2.0 ** (attempt - 1))
        return wait_s * (1.0 - chance / 2)


def _error_of(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None


def _may_help(state: RetryCallState) -> bool:
    error = _error_of(state)
    return isinstance(error, (RateLimited, EndpointDown)) or (
        isinstance(error, UnusableAnswer) and state.attempt_number == 1
    )


def _tell(state: RetryCallState) -> None:
    _log.info("%s Asking again in %.1f s.", _error_of(state), state.upcoming_sleep)
