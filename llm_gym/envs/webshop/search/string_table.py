"""A sorted table of strings in two flat arrays, searched where it lies (in memory or mapped from a file)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class StringTable:
    """Strings in code-point order, which is also the order of their UTF-8 bytes.

    Attributes:
        text: uint8, all strings in UTF-8, one after the other.
        starts: int64, (n + 1,), where each string starts; the last entry is the length of `text`.
    """

    text: npt.NDArray[np.uint8]
    starts: npt.NDArray[np.int64]

    @classmethod
    def of(cls, strings: Iterable[str]) -> StringTable:
        """Table of strings that are already sorted and distinct."""
        encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
        starts = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=starts[1:])
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts)

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, position: int) -> str:
        return str(self.text[self.starts[position] : self.starts[position + 1]].data, "utf-8", "surrogatepass")

    def take(self, positions: npt.NDArray[np.int64]) -> list[str]:
        """The strings at these positions; much cheaper than one at a time."""
        text = self.text.data
        ends = self.starts[positions + 1].tolist()
        return [
            str(text[start:end], "utf-8", "surrogatepass")
            for start, end in zip(self.starts[positions].tolist(), ends, strict=True)
        ]

    def find(self, string: str) -> int | None:
        """Position of a string, None where the table lacks it."""
        wanted = string.encode("utf-8", "surrogatepass")
        text, starts = self.text.data, self.starts
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if bytes(text[starts[middle] : starts[middle + 1]]) < wanted:
                low = middle + 1
            else:
                high = middle
        found = low < len(self) and bytes(text[starts[low] : starts[low + 1]]) == wanted
        return low if found else None
