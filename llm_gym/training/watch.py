"""What accompanies a loop of updates: a bar where somebody watches, and Ctrl-C, which ends it after an update."""

from __future__ import annotations

import logging
import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

_logger = logging.getLogger(__name__)


class Watch:
    """Used as a context; Ctrl-C once sets `stopping`, twice raises KeyboardInterrupt at once.

    Args:
        total: updates of the whole training; None: not known yet.
        done: updates made before.
        shown: whether there is a bar, if somebody watches.
        alone: whether there is no other process, which would wait for one that stops.
    """

    def __init__(self, total: int | None = None, done: int = 0, *, shown: bool = True, alone: bool = True) -> None:
        self.stopping = False
        self._earlier: Any = None
        self._handles = alone and threading.current_thread() is threading.main_thread()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._shown = shown and self._bar.console.is_terminal
        self._task = self._bar.add_task("training", total=total, completed=done)

    def tell(self, done: int, total: int | None = None) -> None:
        """So many updates are made, perhaps of so many in all."""
        self._bar.update(self._task, completed=done, total=total)

    def __enter__(self) -> Self:
        if self._handles:
            self._earlier = signal.signal(signal.SIGINT, self._interrupt)
        if self._shown:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._handles:
            signal.signal(signal.SIGINT, self._earlier)
        if self._shown:
            self._bar.stop()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        _logger.warning("Stopping after this update. Press Ctrl-C again to stop at once.")
