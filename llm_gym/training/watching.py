"""What accompanies a training: its log, a bar where somebody watches, and Ctrl-C, which ends it after an update."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from transformers import TrainerCallback

from llm_gym.training.log import HELD_OUT, Log
from llm_gym.training.schedule import LOSS

HELD_OUT_PREFIX = "eval_"
"""As `transformers` marks a measure of the held-out examples."""

_logger = logging.getLogger(__name__)


class Watcher(TrainerCallback):
    """Told by the trainer of every update.

    Args:
        log: None in all processes but the first.
        alone: whether there is no other process, which would wait for one that stops.
    """

    def __init__(self, log: Log | None, alone: bool) -> None:
        self._log = log
        self._alone = alone
        self._asked_to_stop = False
        self.stopped = False
        """Whether Ctrl-C ended the training before its end."""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Draws the bar if somebody watches, and takes Ctrl-C: once ends after the update, twice at once."""
        drawn = self._log is not None and self._bar.console.is_terminal
        handled = self._alone and threading.current_thread() is threading.main_thread()
        earlier = signal.signal(signal.SIGINT, self._interrupt) if handled else None
        try:
            if drawn:
                self._bar.start()
            yield
        finally:
            if handled:
                signal.signal(signal.SIGINT, earlier)
            if drawn:
                self._bar.stop()

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        if self._asked_to_stop:
            raise KeyboardInterrupt
        self._asked_to_stop = True
        _logger.warning("Stopping after this update. Press Ctrl-C again to stop at once.")

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._task = self._bar.add_task("training", total=state.max_steps, completed=state.global_step)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._bar.update(self._task, completed=state.global_step)
        if self._asked_to_stop and state.global_step < state.max_steps:
            self.stopped = True
            control.should_training_stop = control.should_save = True
            control.should_evaluate = False

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if self._log is None:
            return
        logs: Mapping[str, float] = kwargs["logs"]
        if LOSS in logs:
            values = {LOSS: round(logs[LOSS], 5), "learning_rate": logs["learning_rate"]}
            self._log.write(state.global_step, values)
        elif HELD_OUT_PREFIX + LOSS in logs:
            measures = held_out_of(logs)
            self._log.write(state.global_step, {HELD_OUT: measures})
            told = ", ".join(f"{name} {value:.4f}" for name, value in measures.items())
            _logger.info("update %d of %d, held out: %s", state.global_step, state.max_steps, told)


def held_out_of(logs: Mapping[str, float]) -> dict[str, float]:
    """The measures of the held-out examples among the trainer's, by their own names."""
    return {
        name.removeprefix(HELD_OUT_PREFIX): round(value, 5)
        for name, value in logs.items()
        if name.startswith(HELD_OUT_PREFIX)
    }
