"""What accompanies a training by `transformers.Trainer`: its log, and the watch over it."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from transformers import TrainerCallback

from llm_gym.training.log import HELD_OUT, Log
from llm_gym.training.schedule import LOSS
from llm_gym.training.watch import Watch

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
        self.watch = Watch(shown=log is not None, alone=alone)
        self.stopped = False
        """Whether Ctrl-C ended the training before its end."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.tell(state.global_step, state.max_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.watch.tell(state.global_step)
        if self.watch.stopping and state.global_step < state.max_steps:
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
