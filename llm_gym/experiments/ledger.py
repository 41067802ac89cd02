"""What an experiment pays for: every answer is written down, and the allowance holds for all processes and resumes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import orjson

from llm_gym.core import Usage
from llm_gym.errors import BudgetExceeded, DataError, InvalidSetting
from llm_gym.llm import ChatClient, Completion, Prices, Request
from llm_gym.llm.counted import priced
from llm_gym.llm.layer import Layer


@dataclass(frozen=True, slots=True)
class Spent:
    """Sums over the answers that were paid for."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: the price of an answer is not known."""


class Ledger(Layer):
    """Writes a line for every answer, with its tokens and its cost, and asks no more once the allowance is spent.

    The file is shared by processes and kept between runs, so the allowance is one for the whole experiment. Calls in
    flight when it is spent still end, and the sum may pass it by them.

    Attributes:
        path: of the file, one JSON object a line.
    """

    def __init__(self, client: ChatClient, path: str | Path, prices: Prices, usd: float | None = None) -> None:
        """Wrap.

        Args:
            client: who is asked.
            path: of the file; made with the first line.
            prices: of models.
            usd: dollars that all lines of the file together may cost; None: any.

        Raises:
            InvalidSetting: the allowance is negative, or the price of the model is not known.
        """
        super().__init__(client)
        if usd is not None and not usd >= 0:
            raise InvalidSetting(f"A budget must be $0 or more, got {usd}.")
        if usd is not None and prices.cost_usd(client.model, Usage()) is None:
            raise InvalidSetting(
                f"The price of {client.model!r} is not known, so a budget in dollars cannot be kept. "
                "Give a price table that has it, or no budget."
            )
        self.path = Path(path)
        self._prices, self._usd = prices, usd

    def complete(self, request: Request) -> Completion:
        if self._usd is not None:
            spent = spent_in(self.path).cost_usd or 0.0
            if spent >= self._usd:
                raise BudgetExceeded(f"${spent:.4f} of the ${self._usd:.4f} that were allowed are spent.")
        completion = priced(self.client.complete(request), self.model, self._prices)
        self._write(completion.usage)
        return completion

    def _write(self, usage: Usage) -> None:
        line = {
            "model": self.model,
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "cost_usd": usage.cost_usd,
        }
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                os.write(handle, orjson.dumps(line) + b"\n")  # in one piece, so that lines of others stay whole
            finally:
                os.close(handle)
        except OSError as error:
            raise DataError(f"{self.path} cannot be written: {error.strerror}.") from error


def spent_in(path: Path) -> Spent:
    """The sums of a file; nothing where there is none. Lines that are damaged are left out."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Spent()
    calls = prompt = completion = 0
    cost: float | None = 0.0
    for line in content.splitlines():
        try:
            row = orjson.loads(line)
            tokens = int(row["prompt_tokens"]), int(row["completion_tokens"])
            price = None if row["cost_usd"] is None else float(row["cost_usd"])
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            continue
        calls, prompt, completion = calls + 1, prompt + tokens[0], completion + tokens[1]
        cost = None if cost is None or price is None else cost + price
    return Spent(calls, prompt, completion, cost)
