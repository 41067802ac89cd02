"""The history student in training: whole episodes, each state of which the teacher has judged."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor

from llm_gym.data import atomic_path
from llm_gym.policies.alfworld.raw_history.events import History, Moment, known_words
from llm_gym.policies.alfworld.raw_history.model import HistoryModel, Joined, Sizes
from llm_gym.training.dagger.history_network import HistoryNetwork, Lessons
from llm_gym.training.dagger.history_replay import Flags, Taught, read_episodes, side_by_side, write_episodes
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen

_STATE: Final = "student.pt"
_REPLAY: Final = "episodes.npz"


@dataclass(frozen=True)
class HistorySchedule:
    """How the history student learns."""

    learning_rate: float = 2e-3
    """Of Adam at the beginning; it falls to 0 along a cosine."""
    batch: int = 24
    """Episodes of an update."""
    replay: int = 2_000
    """The newest so many episodes are learned from."""
    drawn: float = 0.1
    """Share of commands in training that are drawn by their probability; the others are the best."""
    steepest: float = 1.0
    """Norm to which gradients are cut."""


class HistoryStudent:
    """Learns to choose as the teacher does from what was done and seen, in order.

    It plays with the very arithmetic of `HistoryPolicy`, over the weights that are being learned.

    Args:
        seed: of the weights it begins with.
        counts: whether it is told how often each command was taken already.
    """

    name = "history"

    def __init__(
        self,
        seed: int = 0,
        schedule: HistorySchedule | None = None,
        *,
        counts: bool = True,
        sizes: Sizes | None = None,
    ) -> None:
        self.schedule = schedule or HistorySchedule()
        model = HistoryModel.create(known_words(), seed, counts=counts, sizes=sizes)
        self.network = HistoryNetwork(model)
        self.model = replace(model, arrays=self.network.arrays())
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=self.schedule.learning_rate)
        self._replay: deque[Taught] = deque(maxlen=self.schedule.replay)
        self.begin(0)

    # -- playing -----------------------------------------------------------------------------------------------

    def begin(self, games: int) -> None:
        self._histories = [History(self.model.vocabulary) for _ in range(games)]
        self._memory = self.model.beginning(games)
        self._moments: list[list[Moment]] = [[] for _ in range(games)]
        self._labels: list[list[Flags]] = [[] for _ in range(games)]
        self._commands: list[Sequence[str]] = []

    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        slots = [one.slot for one in seen]
        self._commands = [one.info.get("admissible_actions") or [] for one in seen]
        moments = [self._histories[one.slot].see(one.observation, one.info) for one in seen]
        for slot, moment in zip(slots, moments, strict=True):
            self._moments[slot].append(moment)
        self._memory[slots], scores = self.model.hear(Joined.of(moments), self._memory[slots])
        ends = np.cumsum([len(commands) for commands in self._commands])
        each = np.split(scores, ends[:-1])
        return [
            commands[_chosen(own, rng, 0.0 if greedy else self.schedule.drawn)]
            for commands, own in zip(self._commands, each, strict=True)
        ]

    def remember(self, lessons: Sequence[Lesson]) -> None:
        for lesson, commands in zip(lessons, self._commands, strict=True):
            self._labels[lesson.slot].append(np.array([command in lesson.labels for command in commands], np.bool_))
            self._histories[lesson.slot].did(lesson.played)

    def end(self) -> None:
        for moments, labels in zip(self._moments, self._labels, strict=True):
            if any(one.any() for one in labels):
                self._replay.append(Taught.of(moments, labels))
        self.begin(0)

    # -- learning ----------------------------------------------------------------------------------------------

    def learn(self, rng: np.random.Generator, progress: float) -> float | None:
        if len(self._replay) < self.schedule.batch:
            return None
        for group in self._optimiser.param_groups:
            group["lr"] = self.schedule.learning_rate * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
        drawn = rng.choice(len(self._replay), self.schedule.batch, replace=False)
        lessons = side_by_side([self._replay[at] for at in drawn])
        loss = set_loss(self.network(lessons), lessons)
        if not bool(torch.isfinite(loss)):
            raise LossNotFinite(loss.item())
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.schedule.steepest)
        self._optimiser.step()
        return float(loss.detach())

    # -- files -------------------------------------------------------------------------------------------------

    def save_state(self, folder: Path) -> None:
        state = {"network": self.network.state_dict(), "optimiser": self._optimiser.state_dict()}
        with atomic_path(folder / _STATE) as draft:
            torch.save(state, draft)
        write_episodes(folder / _REPLAY, self._replay)

    def load_state(self, folder: Path) -> None:
        state: dict[str, Any] = torch.load(folder / _STATE, weights_only=True)
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._replay = deque(read_episodes(folder / _REPLAY), maxlen=self.schedule.replay)

    def save(self, folder: Path) -> None:
        self.model.write(folder)


def set_loss(scores: Tensor, lessons: Lessons) -> Tensor:
    """-log of the probability that one of the teacher's commands is drawn, averaged over the states that have any.

    Args:
        scores: (S, A), -inf where there is no command.
        lessons: of which they are.
    """
    labels = torch.zeros(scores.shape, dtype=torch.bool)
    labels[lessons.command_of, lessons.position] = lessons.labels
    taught = labels.any(1)
    scores, labels = scores[taught], labels[taught]
    return (scores.logsumexp(1) - scores.masked_fill(~labels, -math.inf).logsumexp(1)).mean()


def _chosen(scores: np.ndarray[Any, np.dtype[np.float32]], rng: np.random.Generator, drawn: float) -> int:
    """The best, or with a chance of `drawn` one by its probability."""
    if not drawn or rng.random() >= drawn:
        return int(scores.argmax())
    raised = np.exp(scores.astype(np.float64) - scores.max())
    return int(rng.choice(len(scores), p=raised / raised.sum()))
