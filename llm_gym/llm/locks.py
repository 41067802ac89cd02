"""Locks that may be pickled: each is a new one where it arrives, for threads of another process share nothing."""

from __future__ import annotations

import threading
from types import TracebackType


class Slots:
    """A block `with slots:` is entered by at most so many threads at once; the others wait."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._semaphore = threading.BoundedSemaphore(number)

    def __enter__(self) -> None:
        self._semaphore.acquire()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._semaphore.release()

    def __reduce__(self) -> tuple[type[Slots], tuple[int]]:
        return Slots, (self._number,)


def one_at_a_time() -> Slots:
    """A lock."""
    return Slots(1)
