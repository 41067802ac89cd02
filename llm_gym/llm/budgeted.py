"""A cap on what may be spent."""

from __future__ import annotations

import math

from llm_gym.core import Usage
from llm_gym.errors import BudgetExceeded, InvalidSetting
from llm_gym.llm.chat import ChatClient, Completion, Request
from llm_gym.llm.counted import priced
from llm_gym.llm.layer import Layer
from llm_gym.llm.locks import one_at_a_time
from llm_gym.llm.prices import Prices


class Budgeted(Layer):
    """Asks no more once the allowance is spent.

    What a call costs is known when it is answered, so calls that are in flight at that moment still end, and the sum
    may pass the cap by them. Every process counts for itself, from 0 in a new one: a run that is resumed has the whole
    allowance again. Answers from a cache below are free.
    """

    def __init__(
        self, client: ChatClient, usd: float | None = None, tokens: int | None = None, prices: Prices | None = None
    ) -> None:
        """Wrap.

        Args:
            client: who is asked.
            usd: dollars that may be spent; None: any.
            tokens: of prompts and answers together; None: any.
            prices: None: those of the package.

        Raises:
            InvalidSetting: no cap is given, or dollars for a model whose price is not known.
        """
        super().__init__(client)
        self._prices = prices or Prices.shipped()
        if usd is None and tokens is None:
            raise InvalidSetting("A budget needs usd or tokens.")
        if any(cap is not None and not cap >= 0 for cap in (usd, tokens)):
            raise InvalidSetting(f"A budget must be 0 or more, got usd={usd} and tokens={tokens}.")
        if usd is not None and self._prices.cost_usd(self.model, Usage()) is None:
            raise InvalidSetting(
                f"The price of {self.model!r} is not known, so a budget in dollars cannot be kept. "
                f"Give a price table with it (Prices.read), or a budget in tokens."
            )
        self._usd, self._tokens = usd, tokens
        self._lock = one_at_a_time()
        self._spent_usd, self._spent_tokens = 0.0, 0

    def complete(self, request: Request) -> Completion:
        with self._lock:
            if self._spent_usd >= (math.inf if self._usd is None else self._usd):
                raise BudgetExceeded(f"${self._spent_usd:.4f} of the ${self._usd:.4f} that were allowed are spent.")
            if self._spent_tokens >= (math.inf if self._tokens is None else self._tokens):
                raise BudgetExceeded(
                    f"{self._spent_tokens:,} of the {self._tokens:,} tokens that were allowed are spent."
                )
        completion = priced(self.client.complete(request), self.model, self._prices)
        if not completion.cached:
            usage = completion.usage
            with self._lock:
                self._spent_usd += usage.cost_usd or 0.0
                self._spent_tokens += usage.prompt_tokens + usage.completion_tokens
        return completion
