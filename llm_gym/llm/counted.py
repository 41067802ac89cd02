"""What the calls to a model add up to."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from llm_gym.errors import ChatError
from llm_gym.llm.chat import ChatClient, Completion, Request
from llm_gym.llm.layer import Layer
from llm_gym.llm.locks import one_at_a_time
from llm_gym.llm.prices import Prices


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over calls. Answers from a cache are counted as such, and in nothing else."""

    answers: int = 0
    """That the model gave."""
    cached: int = 0
    """That were kept from earlier calls."""
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    """Spent waiting for answers and failures; calls at the same moment count each."""
    cost_usd: float | None = 0.0
    """None: the price of an answer was not known."""


class Counted(Layer):
    """Adds up what is asked, and writes the cost into each answer's usage.

    A copy in another process counts for itself; there the usage of each step is in the episodes.
    """

    def __init__(self, client: ChatClient, prices: Prices | None = None) -> None:
        """Wrap.

        Args:
            client: who is asked.
            prices: None: those of the package.
        """
        super().__init__(client)
        self._prices = prices or Prices.shipped()
        self._lock = one_at_a_time()
        self._totals = Totals()

    @property
    def totals(self) -> Totals:
        """The sums until now."""
        return self._totals

    def complete(self, request: Request) -> Completion:
        began = time.perf_counter()
        try:
            completion = priced(self.client.complete(request), self.model, self._prices)
        except ChatError:
            self._add(Totals(failures=1, seconds=time.perf_counter() - began))
            raise
        usage = completion.usage
        if completion.cached:
            self._add(Totals(cached=1))
        else:
            seconds = time.perf_counter() - began
            self._add(Totals(1, 0, 0, usage.prompt_tokens, usage.completion_tokens, seconds, usage.cost_usd))
        return completion

    def _add(self, more: Totals) -> None:
        with self._lock:
            self._totals = _sum(self._totals, more)


def priced(completion: Completion, model: str, prices: Prices) -> Completion:
    """The answer with its cost in its usage; a cost that is there already stays."""
    usage = completion.usage
    if usage.cost_usd is not None:
        return completion
    return replace(completion, usage=replace(usage, cost_usd=prices.cost_usd(model, usage)))


def _sum(one: Totals, other: Totals) -> Totals:
    unknown = one.cost_usd is None or other.cost_usd is None
    return Totals(
        one.answers + other.answers,
        one.cached + other.cached,
        one.failures + other.failures,
        one.prompt_tokens + other.prompt_tokens,
        one.completion_tokens + other.completion_tokens,
        one.seconds + other.seconds,
        None if unknown else (one.cost_usd or 0.0) + (other.cost_usd or 0.0),
    )
