"""A number that knows how sure it is."""

from __future__ import annotations

import math
from typing import Any


class Estimate(float):
    """A metric: a float with its 95 % interval and the number of values behind it.

    nan with n = 0 means there was nothing to measure; a number with bounds of nan means the interval is unknown, as
    for a mean over one task. Arithmetic gives plain floats.

    >>> Estimate(0.42, 0.29, 0.56, 50)
    0.420 [0.29, 0.56] n=50
    >>> Estimate(0.42, 0.29, 0.56, 50) > 0.4
    True
    """

    __slots__ = ("high", "low", "n")

    low: float
    high: float
    n: int

    def __new__(cls, value: float, low: float, high: float, n: int) -> Estimate:
        estimate = super().__new__(cls, value)
        estimate.low, estimate.high, estimate.n = low, high, n
        return estimate

    @property
    def value(self) -> float:
        return float(self)

    def to_dict(self) -> dict[str, float | int | None]:
        """As JSON; what is unknown is None."""
        return {"value": _known(self.value), "low": _known(self.low), "high": _known(self.high), "n": self.n}

    def interval(self) -> str:
        """`[0.29, 0.56]`, or `[unknown]`."""
        return "[unknown]" if math.isnan(self.low) else f"[{self.low:.2f}, {self.high:.2f}]"

    def __repr__(self) -> str:
        return "– n=0" if self.n == 0 else f"{self.value:.3f} {self.interval()} n={self.n}"

    __str__ = __repr__

    def __reduce__(self) -> tuple[type[Estimate], tuple[Any, ...]]:
        return type(self), (self.value, self.low, self.high, self.n)


NOTHING = Estimate(math.nan, math.nan, math.nan, 0)
"""No value was there to be measured."""


def _known(number: float) -> float | None:
    return None if math.isnan(number) else number
