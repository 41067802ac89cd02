"""What a million tokens cost, from a table that a user may replace."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from llm_gym.core import Usage
from llm_gym.errors import BadRecord, MissingData

_SHIPPED = "prices.json"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    prompt: float
    completion: float


@dataclass(frozen=True)
class Prices:
    """A price table. A model is found by its exact name, as it is asked for: a dated version may cost another price."""

    models: Mapping[str, Price]
    date: str
    """When the prices were looked up."""

    @classmethod
    def shipped(cls) -> Prices:
        """The table of the package."""
        return _prices((resources.files(__package__) / _SHIPPED).read_bytes(), _SHIPPED)

    @classmethod
    def read(cls, path: str | Path) -> Prices:
        """The table of the package, with the models of a file of the same form instead and besides.

        Raises:
            MissingData: there is no such file.
            BadRecord: it is not of that form.
        """
        try:
            own = _prices(Path(path).read_bytes(), str(path))
        except OSError as error:
            raise MissingData(f"The price table {path} cannot be read: {error.strerror}.") from error
        return cls({**cls.shipped().models, **own.models}, own.date)

    def cost_usd(self, model: str, usage: Usage) -> float | None:
        """What a usage costs; None where the price of the model is not known."""
        price = self.models.get(model)
        if price is None:
            return None
        return (usage.prompt_tokens * price.prompt + usage.completion_tokens * price.completion) / 1_000_000


def _prices(content: bytes, where: str) -> Prices:
    form = '{"date": "2025-09-01", "models": {"name": [0.15, 0.60]}}'
    try:
        data = json.loads(content)
        models = {name: Price(*map(_dollars, pair)) for name, pair in data["models"].items()}
        date = data["date"]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise BadRecord(f"{where} is no price table ({error}); it has the form {form}.") from error
    if not isinstance(date, str):
        raise BadRecord(f"{where} is no price table (date {date!r}); it has the form {form}.")
    return Prices(models, date)


def _dollars(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value < math.inf):
        raise ValueError(f"{value!r} is no price")
    return float(value)
