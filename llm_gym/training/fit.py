"""Trains a model on examples: one call that a kill interrupts and the same call continues."""

from __future__ import annotations

import dataclasses
import json
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from llm_gym.data import write_atomically
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.extras import require
from llm_gym.training.checkpoints import CHECKPOINTS, last_checkpoint, steps_of
from llm_gym.training.curves import draw_curves
from llm_gym.training.log import STEP, Log
from llm_gym.training.order import Batches
from llm_gym.training.plan import claim
from llm_gym.training.schedule import LOSS, Schedule

if TYPE_CHECKING:
    import torch

    from llm_gym.training.trainer import ExampleTrainer, Measure

FITTED = "fitted.json"

E = TypeVar("E")


@dataclass(frozen=True)
class Fitted:
    """How a training went."""

    updates: int
    """That were made."""
    best: int
    """After so many of them the weights were kept."""
    measures: Mapping[str, float]
    """Of the held-out examples with these weights: `loss` and what else was measured."""
    seconds: float
    """Of training, in all calls together."""


def fit(
    model: torch.nn.Module,
    training: Sequence[E],
    held_out: Sequence[E],
    collate: Callable[[list[E]], Mapping[str, Any]],
    schedule: Schedule,
    out: Path,
    measures: Measure | None = None,
    *,
    length: Callable[[E], int] | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Fitted:
    """Train, and leave the best weights in the model.

    In `out` there are afterwards `plan.json`, `log.jsonl`, `curves.png`, `fitted.json` and the trainer's own
    `checkpoints`. The same call in the same folder continues after a kill, from the last look at the held-out examples,
    and after Ctrl-C, from the last update: on a CPU to the same weights as without. A finished training is only read.

    Args:
        model: called with what `collate` gives, it returns a mapping with `loss` and `logits`; `loss` is the mean over
            all `labels` but -100. Give it the same weights every time: seed torch before it is made.
        training: examples to learn from.
        held_out: examples to choose the weights by.
        collate: makes a batch of some examples; a mapping of tensors, `labels` among them.
        schedule: how long and how fast.
        out: the folder.
        measures: what is measured beside the loss.
        length: of an example, in any unit; examples of similar length are then computed together.
        settings: whatever else makes the weights what they are, as JSON knows it; others are refused in this folder.

    Raises:
        InvalidSetting: there is no example.
        PlanMismatch: `out` holds a training with other settings.
        KeyboardInterrupt: Ctrl-C; the message says how to go on.
        BadRecord: what `out` holds is malformed.
        MissingDependency: the extra `train` is not installed.
    """
    for package, extra in (("torch", "torch"), ("transformers", "torch"), ("accelerate", "train")):
        require(package, extra)
    for name, examples in (("training", training), ("held-out", held_out)):
        if not examples:
            raise InvalidSetting(f"There is no {name} example.")
    from llm_gym.training.trainer import ExampleTrainer, arguments

    out = out.resolve()
    claim(out, _plan(model, training, held_out, schedule, settings or {}))
    if (out / FITTED).exists():
        return _read(model, out)
    lengths = [length(example) if length else 0 for example in training]
    trainer = ExampleTrainer(
        model=model,
        args=arguments(schedule, len(training), out / CHECKPOINTS),
        data_collator=collate,
        train_dataset=training,
        batches=Batches(lengths, schedule.batch_size, schedule.accumulate, schedule.seed),
        eval_dataset=sorted(held_out, key=length) if length else held_out,
        measure=measures,
    )
    return _trained(trainer, schedule, out)


def _plan(
    model: torch.nn.Module,
    training: Sequence[E],
    held_out: Sequence[E],
    schedule: Schedule,
    settings: Mapping[str, Any],
) -> dict[str, Any]:
    return {
        "schedule": dataclasses.asdict(schedule),
        "training": len(training),
        "held_out": len(held_out),
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "settings": settings,
    }


def _trained(trainer: ExampleTrainer, schedule: Schedule, out: Path) -> Fitted:
    """Run the trainer from the last checkpoint, or from the start."""
    from transformers import EarlyStoppingCallback

    from llm_gym.training.watching import HELD_OUT_PREFIX, Watcher, held_out_of

    checkpoint = last_checkpoint(out / CHECKPOINTS)
    log = Log(out, steps_of(checkpoint) if checkpoint else 0)
    first = trainer.is_world_process_zero()
    watcher = Watcher(log if first else None, alone=trainer.args.world_size == 1)
    trainer.add_callback(watcher)
    if schedule.patience is not None:
        trainer.add_callback(EarlyStoppingCallback(schedule.patience))
    try:
        with watcher.watch:
            trainer.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)
    except pickle.UnpicklingError as error:
        raise BadRecord(f"{checkpoint} cannot be read: it holds more than numbers. Remove it and go on.") from error
    finally:
        if first and log.rows:
            draw_curves(out, log.rows)
    updates = trainer.state.global_step
    if watcher.stopped:
        raise KeyboardInterrupt(f"Stopped after update {updates}. The same command in {out} goes on from there.")
    best = trainer.state.best_global_step or updates
    looks = (row for row in trainer.state.log_history if HELD_OUT_PREFIX + LOSS in row)
    measures = next(held_out_of(row) for row in looks if row[STEP] == best)
    fitted = Fitted(updates, best, measures, round(log.seconds, 1))
    if first:
        write_atomically(out / FITTED, json.dumps(dataclasses.asdict(fitted), indent=1).encode() + b"\n")
    return fitted


def _read(model: torch.nn.Module, out: Path) -> Fitted:
    """What a finished training found, its best weights put into the model.

    Raises:
        BadRecord: a file of it is malformed or gone.
    """
    import safetensors.torch

    path = out / FITTED
    try:
        fitted = Fitted(**json.loads(path.read_text(encoding="utf-8")))
        safetensors.torch.load_model(model, out / CHECKPOINTS / f"checkpoint-{fitted.best}" / "model.safetensors")
    except (OSError, ValueError, TypeError, RuntimeError, safetensors.SafetensorError) as error:
        raise BadRecord(f"{out} holds no whole training ({error}). Remove it and train again.") from error
    return fitted
