"""`transformers.Trainer` for models that score any number of actions: how losses are averaged, and what is measured."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader
from transformers import PrinterCallback, Trainer, TrainingArguments

from llm_gym.errors import InvalidSetting
from llm_gym.training.order import Batches, batches
from llm_gym.training.schedule import LOSS, Schedule
from llm_gym.training.watching import HELD_OUT_PREFIX

IGNORED = -100
"""The label of what is no prediction's business, in torch and transformers."""
_LARGEST_GRADIENT = 1.0
"""Of the norm of all gradients of an update; a longer one is shortened."""
_KEPT_CHECKPOINTS = 2
"""The best and the last."""

Measure = Callable[[Sequence[Any], npt.NDArray[np.float32]], Iterable[Mapping[str, float]]]
"""Given the examples of a batch and the model's logits for them: one mapping of values an example. Of every name the
mean over the examples that have it is the measure."""


class ExampleTrainer(Trainer):
    """An update is that of the mean over all predictions in it, and held-out examples are measured one by one.

    Args:
        batches: which examples are computed together.
        measure: gives more of the held-out examples than the loss.
        **kwargs: those of `transformers.Trainer`; the held-out examples are its `eval_dataset`.
    """

    loss_is_scaled_for_ga = True

    def __init__(self, *, batches: Batches, measure: Measure | None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.remove_callback(PrinterCallback)
        self.model_accepts_loss_kwargs = True  # has the trainer count the predictions of an update
        self._batches = batches
        self._measure = measure

    def get_train_dataloader(self) -> DataLoader[Any]:
        loader: Any = DataLoader(self.train_dataset, batch_sampler=self._batches, collate_fn=self.data_collator)  # type: ignore[arg-type]
        prepared: DataLoader[Any] = self.accelerator.prepare(loader)
        return prepared

    def compute_loss(
        self, model: Any, inputs: Any, return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The batch's share in the mean over the update: its own mean, times its part of the predictions."""
        outputs = model(**inputs)
        share = predictions(inputs) * self.accelerator.num_processes / num_items_in_batch
        loss = outputs["loss"] * share
        return (loss, outputs) if return_outputs else loss

    def evaluate(self, *args: Any, **kwargs: Any) -> dict[str, float]:
        """Means over all held-out examples; every process measures all of them, so that all agree what is best."""
        totals: defaultdict[str, float] = defaultdict(float)
        counts: defaultdict[str, float] = defaultdict(float)
        model, held_out, collate = cast("tuple[Any, Any, Any]", (self.model, self.eval_dataset, self.data_collator))
        model.eval()
        for examples in batches(held_out, self.args.per_device_eval_batch_size):
            inputs = self._prepare_inputs(collate(examples))
            with torch.no_grad():
                outputs = model(**inputs)
            weight = int(predictions(inputs))
            totals[LOSS] += float(outputs["loss"]) * weight
            counts[LOSS] += weight
            if self._measure is not None:
                for values in self._measure(examples, outputs["logits"].float().cpu().numpy()):
                    for name, value in values.items():
                        totals[name] += value
                        counts[name] += 1
        measures = {HELD_OUT_PREFIX + name: totals[name] / counts[name] for name in totals}
        best_by = str(self.args.metric_for_best_model)
        if HELD_OUT_PREFIX + best_by not in measures:
            raise InvalidSetting(f"{best_by!r}, which chooses the best weights, is not measured, only {[*totals]}.")
        self.log(measures)
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, measures)
        return measures


def predictions(inputs: Mapping[str, Any]) -> torch.Tensor:
    """How many predictions the loss of a batch is the mean of."""
    labels: torch.Tensor = inputs["labels"]
    return (labels != IGNORED).sum()


def arguments(schedule: Schedule, examples: int, folder: Path) -> TrainingArguments:
    """A schedule as the trainer's arguments; it reports to nobody and uses one device a process, or the CPU.

    Several devices are used by one process each (`accelerate launch`): splitting a batch among them would tear the
    actions of a state apart.

    Args:
        schedule: how long and how fast.
        examples: to learn from.
        folder: of checkpoints.
    """
    made = TrainingArguments(
        output_dir=str(folder),
        num_train_epochs=schedule.epochs,
        max_steps=schedule.max_updates or -1,
        per_device_train_batch_size=schedule.batch_size,
        per_device_eval_batch_size=schedule.batch_size,
        gradient_accumulation_steps=schedule.accumulate,
        average_tokens_across_devices=True,
        learning_rate=schedule.learning_rate,
        lr_scheduler_type={"linear": "linear", "constant": "constant_with_warmup"}[schedule.decay],
        warmup_steps=schedule.warmup_steps,
        weight_decay=schedule.weight_decay,
        max_grad_norm=_LARGEST_GRADIENT,
        eval_strategy="steps",
        save_strategy="steps",
        save_total_limit=_KEPT_CHECKPOINTS,
        load_best_model_at_end=True,
        metric_for_best_model=schedule.best_by,
        greater_is_better=schedule.best_by != LOSS,
        seed=schedule.seed,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
        remove_unused_columns=False,
        dataloader_pin_memory=torch.cuda.is_available(),
    )
    if made.n_gpu > 1:
        made._n_gpu = 1
    batches_of_a_process = math.ceil(math.ceil(examples / schedule.batch_size) / made.world_size)
    made.eval_steps = schedule.evaluate_every or math.ceil(batches_of_a_process / schedule.accumulate)
    made.save_steps = made.eval_steps
    return made
