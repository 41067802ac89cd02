"""Trains an actor-critic in a text world: one call that a kill interrupts and the same call continues."""

from __future__ import annotations

import dataclasses
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn.utils import clip_grad_norm_

from llm_gym.core import derive_seed
from llm_gym.data import write_atomically
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.reinforcement.candidates import Queries, instruction_only
from llm_gym.policies.reinforcement.network import ActorCritic
from llm_gym.training.a2c.curves import draw_curves
from llm_gym.training.a2c.episodes import Course, Ended, Episodes
from llm_gym.training.a2c.losses import losses
from llm_gym.training.a2c.playing import NoNumber, Segment, play_on
from llm_gym.training.a2c.settings import A2CSettings
from llm_gym.training.a2c.state import keep_only, last_update, read_episodes, read_weights, write_state
from llm_gym.training.log import HELD_OUT, STEP, Log
from llm_gym.training.plan import claim
from llm_gym.training.watch import Watch

BAD_BATCH, TRAINED = "bad_batch.json", "trained.json"
SCORE = "score"
"""The held-out measure that says which weights are best."""

Look = Callable[[ActorCritic], Mapping[str, float]]
"""How well a network does on held-out tasks, `score` among the measures."""

_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Trained:
    """How a training went."""

    updates: int
    best: int
    """After so many of them the weights were best."""
    measures: Mapping[str, float]
    """Of the held-out tasks with these weights."""
    seconds: float
    """Of training, in all calls together."""


def train(
    network: ActorCritic,
    course: Course,
    look: Look,
    settings: A2CSettings,
    out: Path,
    *,
    queries: Queries = instruction_only,
    plan: Mapping[str, Any] | None = None,
) -> Trained:
    """Train, and leave the best weights in the network.

    In `out` there are afterwards `plan.json`, `log.jsonl`, `curves.png`, `trained.json` and `checkpoints`, of the best
    and of the last update. The same call in the same folder continues after a kill, from the last look at the held-out
    tasks, and after Ctrl-C, from the last update: on a CPU to the same weights as without. A finished training is only
    read. Dropout stays off: a decision and the gradient of its probability are of the same network.

    Args:
        network: with the same weights every time; what needs no gradient is left alone.
        course: what is played to learn from.
        look: measures the network before the first update, every `evaluate_every` updates, and after the last.
        settings: how.
        out: the folder.
        queries: what may be searched for in a shop.
        plan: whatever else makes the weights what they are, as JSON knows it; others are refused in this folder.

    Raises:
        InvalidSetting: the world lists no actions, or the training has diverged; the decisions of the update that
            could not be made are then in `out/bad_batch.json`.
        PlanMismatch: `out` holds a training with other settings.
        KeyboardInterrupt: Ctrl-C; the message says how to go on.
        BadRecord: what `out` holds is malformed.
        MissingDependency: the extra `train` is not installed.
    """
    require("matplotlib", "train")
    out = out.resolve()
    claim(out, {"settings": dataclasses.asdict(settings), "tasks": len(course.tasks), "plan": dict(plan or {})})
    network.eval()
    if (out / TRAINED).exists():
        return _read(network, out)
    with closing(Episodes(course, settings.environments, queries, settings.seed)) as episodes:
        return _Training(network, episodes, look, settings, out).run()


class _Training:
    """A training under way."""

    def __init__(self, network: ActorCritic, episodes: Episodes, look: Look, settings: A2CSettings, out: Path) -> None:
        self.network, self.episodes, self.look = network, episodes, look
        self.settings, self.out = settings, out
        self.weights = [weight for weight in network.parameters() if weight.requires_grad]
        if not self.weights:
            raise InvalidSetting("Every weight of the network is frozen: there is nothing to train.")
        self.optimizer = _optimizer(network, settings)
        self.watches: defaultdict[str, float] = defaultdict(float)
        """Seconds spent on each part since the last look."""
        last = last_update(out)
        self.done = last or 0
        """Updates made."""
        if last is None:
            episodes.begin()
        else:
            read_weights(out, self.done, network, self.optimizer)
            episodes.restore(read_episodes(out, self.done))
        self.log = Log(out, self.done)

    def run(self) -> Trained:
        try:
            with Watch(self.settings.updates, self.done) as watch:
                self._look_if_due()
                while self.done < self.settings.updates and not watch.stopping:
                    self._update()
                    watch.tell(self.done)
                    self._look_if_due(unless=watch.stopping)
        finally:
            if self.log.rows:
                draw_curves(self.out, self.log.rows)
        if self.done < self.settings.updates:
            self._save()
            raise KeyboardInterrupt(f"Stopped after update {self.done}. The same command in {self.out} goes on.")
        best, measures = self._best()
        read_weights(self.out, best, self.network)
        trained = Trained(self.done, best, measures, round(self.log.seconds, 1))
        write_atomically(self.out / TRAINED, json.dumps(dataclasses.asdict(trained), indent=1).encode() + b"\n")
        return trained

    # -- an update ---------------------------------------------------------------------------------------------

    def _update(self) -> None:
        segment = Segment()
        rng = np.random.default_rng(derive_seed(self.settings.seed, "explore", self.done))
        try:
            with self._timed("playing"):
                play_on(self.network, self.episodes, self.settings, rng, segment)
            with self._timed("learning"):
                values = self._learn(segment)
        except NoNumber as error:
            write_atomically(self.out / BAD_BATCH, json.dumps(segment.to_json(), indent=1).encode() + b"\n")
            raise InvalidSetting(
                f"Update {self.done + 1} was not made: {error} is no finite number. Its decisions are in "
                f"{self.out / BAD_BATCH}. Train in another folder with a lower learning rate than "
                f"{self.settings.learning_rate}, or smaller weights of the losses."
            ) from error
        self.done += 1
        self.log.write(self.done, values | _of_episodes(self.episodes.ended))
        self.episodes.ended.clear()

    def _learn(self, segment: Segment) -> dict[str, float]:
        """One update; what is logged of it."""
        settings = self.settings
        returns = torch.tensor(segment.returns(settings.discount), dtype=torch.float32)  # (T, N)
        parts = losses(segment.judgements, segment.chosen, returns)
        loss = settings.value_weight * parts.value
        if self.done >= settings.value_first:
            loss = loss + settings.policy_weight * parts.policy + settings.entropy_weight * parts.entropy
            loss = loss + settings.imitation_weight * parts.imitation
        self.optimizer.zero_grad()
        if not torch.isfinite(loss):
            raise NoNumber("the loss")
        loss.backward()  # type: ignore[no-untyped-call]
        norm = clip_grad_norm_(self.weights, settings.largest_gradient)
        if not torch.isfinite(norm):
            raise NoNumber("the gradient")
        self.optimizer.step()
        told = {"loss": loss, **parts._asdict(), "gradient": norm, "return": returns.mean()}
        return {name: round(float(value.detach()), 5) for name, value in told.items()}

    # -- a look at the held-out tasks --------------------------------------------------------------------------

    def _look_if_due(self, unless: bool = False) -> None:
        """The look after the last update is due in any case."""
        last = self.done == self.settings.updates
        due = last or (self.done % self.settings.evaluate_every == 0 and not unless)
        if not due or any(HELD_OUT in row for row in self.log.rows if row[STEP] == self.done):
            return
        with self._timed("looking"):
            measures = {name: round(value, 5) for name, value in self.look(self.network).items()}
        spent = {name: round(seconds, 1) for name, seconds in self.watches.items()}
        self.watches.clear()
        self.log.write(self.done, {HELD_OUT: measures, "spent": spent})
        told = ", ".join(f"{name} {value:.3f}" for name, value in measures.items())
        _logger.info("update %d of %d, held out: %s", self.done, self.settings.updates, told)
        self._save()

    def _save(self) -> None:
        write_state(self.out, self.done, self.network, self.optimizer, self.episodes.state())
        keep_only(self.out, {self.done, self._best()[0]})

    def _best(self) -> tuple[int, Mapping[str, float]]:
        """The first of the looks with the highest score."""
        looks = [row for row in self.log.rows if HELD_OUT in row]
        best = max(looks, key=lambda row: row[HELD_OUT][SCORE])
        return best[STEP], best[HELD_OUT]

    @contextmanager
    def _timed(self, part: str) -> Iterator[None]:
        began = time.monotonic()
        yield
        self.watches[part] += time.monotonic() - began


def _optimizer(network: ActorCritic, settings: A2CSettings) -> torch.optim.Adam:
    """Of all weights that learn, those of the value with a rate of their own."""
    values = {id(weight) for weight in network.value.parameters()}
    weights = [weight for weight in network.parameters() if weight.requires_grad]
    own = [weight for weight in weights if id(weight) in values]
    others = [weight for weight in weights if id(weight) not in values]
    rate = settings.value_learning_rate or settings.learning_rate
    groups = [{"params": others, "lr": settings.learning_rate}, {"params": own, "lr": rate}]
    return torch.optim.Adam([group for group in groups if group["params"]])


def _of_episodes(ended: list[Ended]) -> dict[str, list[float]]:
    """What is logged of the episodes that ended in an update."""
    if not ended:
        return {}
    return {"scores": [round(one.score, 5) for one in ended], "lengths": [one.steps for one in ended]}


def _read(network: ActorCritic, out: Path) -> Trained:
    """What a finished training found, its best weights put into the network.

    Raises:
        BadRecord: a file of it is malformed or gone.
    """
    try:
        trained = Trained(**json.loads((out / TRAINED).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise BadRecord(f"{out} holds no whole training ({error}). Remove it and train again.") from error
    read_weights(out, trained.best, network)
    return trained
