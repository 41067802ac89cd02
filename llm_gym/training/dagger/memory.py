"""The memory student in training: its replay of states and its optimiser."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from llm_gym.data import atomic_path
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.memory.features import Choices, Vocabulary
from llm_gym.policies.alfworld.memory.model import MemoryModel
from llm_gym.policies.alfworld.memory.player import Player
from llm_gym.training.dagger.memory_network import Batch, MemoryNetwork, set_loss
from llm_gym.training.dagger.memory_replay import Example, read_examples, write_examples
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen

_STATE: Final = "student.pt"
_REPLAY: Final = "examples.npz"


@dataclass(frozen=True)
class MemorySchedule:
    """How the memory student learns."""

    learning_rate: float = 2e-3
    """Of Adam at the beginning; it falls to 0 along a cosine."""
    batch: int = 256
    """States of an update."""
    replay: int = 40_000
    """The newest so many states are learned from."""
    unknown: float = 0.25
    """Share of the words that are hidden in an update: what is done with a thing must not depend on its name alone."""
    drawn: float = 0.1
    """Share of commands in training that are drawn by their probability; the others are the best."""


class MemoryStudent:
    """Learns to choose as the teacher does, from the newest states that came up while it played.

    Args:
        seed: of the weights it begins with.
        remembers: False makes the belief anew from each observation: the ablation without a memory.
    """

    name = "memory"

    def __init__(self, seed: int = 0, schedule: MemorySchedule | None = None, *, remembers: bool = True) -> None:
        self.seed = seed
        self.schedule = schedule or MemorySchedule()
        self._model = MemoryModel.create(Vocabulary.of_games(), seed, remembers=remembers)
        self.network = MemoryNetwork(self._model)
        self._optimiser = torch.optim.Adam(self.network.parameters(), lr=self.schedule.learning_rate)
        self._replay: deque[Example] = deque(maxlen=self.schedule.replay)
        self._players: list[Player] = []
        self._pending: list[tuple[Choices, Sequence[str]] | None] = []

    def begin(self, games: int) -> None:
        model, reader = self._model, GoalReader()
        self._players = [Player(model.vocabulary, reader, remembers=model.remembers) for _ in range(games)]

    @torch.no_grad()
    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        self._pending = []
        for one in seen:
            read = self._players[one.slot].see(one.observation, one.info)
            commands = one.info.get("admissible_actions") or []
            self._pending.append(None if isinstance(read, str) else (read, commands))
        open_ = [pending for pending in self._pending if pending is not None]
        if not open_:
            return ["look"] * len(seen)
        probabilities = self.network(Batch.of([read for read, _ in open_])).softmax(1).numpy()
        best = probabilities.argmax(1)
        if not greedy:
            drawn = (probabilities.cumsum(1) < rng.random((len(open_), 1))).sum(1)
            last = [len(commands) - 1 for _, commands in open_]
            best = np.where(rng.random(len(open_)) < self.schedule.drawn, np.minimum(drawn, last), best)
        chosen = iter([commands[at] for (_, commands), at in zip(open_, best, strict=True)])
        return ["look" if pending is None else next(chosen) for pending in self._pending]

    def remember(self, lessons: Sequence[Lesson]) -> None:
        for pending, lesson in zip(self._pending, lessons, strict=True):
            if pending is None:
                continue
            read, commands = pending
            labels = np.array([command in lesson.labels for command in commands])
            if labels.any():
                self._replay.append(Example(read, labels))

    def end(self) -> None:
        self._players, self._pending = [], []

    def learn(self, rng: np.random.Generator, progress: float) -> float | None:
        if len(self._replay) < self.schedule.batch:
            return None
        examples = [self._replay[at] for at in rng.integers(len(self._replay), size=self.schedule.batch)]
        for group in self._optimiser.param_groups:
            group["lr"] = self.schedule.learning_rate * (1 + math.cos(math.pi * min(progress, 1.0))) / 2
        batch = Batch.of([one.choices for one in examples])
        batch = batch.hiding(self.schedule.unknown, self._model.vocabulary, rng)
        scores = self.network(batch)
        labels = torch.zeros(scores.shape, dtype=torch.bool)
        labels[batch.state_of, batch.position] = torch.from_numpy(np.concatenate([one.labels for one in examples]))
        loss = set_loss(scores, labels)
        if not bool(torch.isfinite(loss)):
            raise LossNotFinite(float(loss.detach()))
        self._optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    # -- files -------------------------------------------------------------------------------------------------

    def save_state(self, folder: Path) -> None:
        state = {"network": self.network.state_dict(), "optimiser": self._optimiser.state_dict()}
        with atomic_path(folder / _STATE) as draft:
            torch.save(state, draft)
        write_examples(folder / _REPLAY, self._replay)

    def load_state(self, folder: Path) -> None:
        state: dict[str, Any] = torch.load(folder / _STATE, weights_only=True)
        self.network.load_state_dict(state["network"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._replay = deque(read_examples(folder / _REPLAY), maxlen=self.schedule.replay)

    def trained(self) -> MemoryModel:
        """The model as it is now, which needs no torch."""
        arrays = {name: one.detach().numpy().copy() for name, one in self.network.arrays.items()}
        return replace(self._model, arrays=arrays, training={"seed": self.seed, **asdict(self.schedule)})

    def save(self, folder: Path) -> None:
        self.trained().write(folder)
