"""Small worlds, a teacher that knows their way, and a student that is a table: what it was told where."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit

from llm_gym.core import Info, Opinion
from llm_gym.envs.base import Outcome, TaskPanel, TextEnv
from llm_gym.training.dagger.student import Lesson, LossNotFinite, Seen

FORK, AGAIN, DOOR, DEAD_END = "A fork.", "The fork again.", "A door.", "A dead end."


class Fork(TextEnv):
    """Behind one of two ways is the door; which one the text does not say, and the other is a dead end.

    Of three tasks two have their door on the left. Whoever went wrong may "stay" there for ever or go "back".
    """

    def __init__(self, tasks: int = 12) -> None:
        super().__init__(TaskPanel("all", (f"fork-{number}" for number in range(tasks))))

    @property
    def way(self) -> str:
        return "right" if int(str(self.task_id).removeprefix("fork-")) % 3 == 2 else "left"

    @property
    def place(self) -> str:
        return self._place

    def description(self) -> dict[str, Any]:
        return {}

    def _begin(self, task_id: str) -> Outcome:
        self._place = FORK
        return self._outcome()

    def _respond(self, action: str) -> Outcome | str:
        match self._place, action:
            case (("A fork." | "The fork again."), ("left" | "right")):
                self._place = DOOR if action == self.way else DEAD_END
            case ("A dead end.", "back"):
                self._place = AGAIN
            case ("A door.", "open"):
                return self._outcome(won=True)
        return self._outcome()

    def _outcome(self, won: bool = False) -> Outcome:
        ways = {DOOR: ["open", "stay"], DEAD_END: ["stay", "back"]}.get(self._place, ["left", "right"])
        info = {"task_id": self.task_id, "goal": "", "admissible_actions": ways, "success": won, "page": self._place}
        return Outcome(self._place, info, float(won), terminated=won)


class Guide:
    """Knows which way is right."""

    def watch(self, world: gym.Env[str, str]) -> None:
        self._world = world

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        return

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        assert isinstance(self._world, Fork)
        return [Opinion({DOOR: "open", DEAD_END: "back"}.get(observation, self._world.way))]


class Table:
    """Does what it was told most often at an observation, and the first thing that is possible at an unknown one.

    Args:
        before_learning: called with the number of each update, from 0, before it is made.
    """

    name = "table"

    def __init__(self, before_learning: Callable[[int], None] | None = None) -> None:
        self.told: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.played: list[str] = []
        self.kept = 0
        self._before_learning = before_learning
        self._updates = 0
        self._seen: Sequence[Seen] = ()
        self._round: list[tuple[str, str]] = []
        self._replay: list[tuple[str, str]] = []

    def begin(self, games: int) -> None:
        self._round = []

    def act(self, seen: Sequence[Seen], rng: np.random.Generator, *, greedy: bool) -> list[str]:
        self._seen = seen
        return [self._best(one) for one in seen]

    def _best(self, seen: Seen) -> str:
        told = self.told.get(seen.observation)
        return max(sorted(told), key=told.__getitem__) if told else (seen.info["admissible_actions"] or [""])[0]

    def remember(self, lessons: Sequence[Lesson]) -> None:
        for seen, lesson in zip(self._seen, lessons, strict=True):
            self.played.append(lesson.played)
            self._round += [(seen.observation, label) for label in lesson.labels]

    def end(self) -> None:
        self._replay += self._round
        self.kept += 1

    def learn(self, rng: np.random.Generator, progress: float) -> float | None:
        if not self._replay:
            return None
        if self._before_learning is not None:
            self._before_learning(self._updates)
        self._updates += 1
        observation, label = self._replay[int(rng.integers(len(self._replay)))]
        self.told[observation][label] += 1
        return 1.0 / self._updates

    def save_state(self, folder: Path) -> None:
        content = {"told": self.told, "replay": self._replay, "updates": self._updates}
        (folder / "table.json").write_text(json.dumps(content))

    def load_state(self, folder: Path) -> None:
        content = json.loads((folder / "table.json").read_text())
        self.told = defaultdict(Counter, {place: Counter(told) for place, told in content["told"].items()})
        self._replay = [(place, label) for place, label in content["replay"]]
        self._updates = content["updates"]

    def save(self, folder: Path) -> None:
        self.save_state(folder)


def not_finite(update: int) -> Callable[[int], None]:
    """Has one update fail."""

    def fail(number: int) -> None:
        if number == update:
            raise LossNotFinite("nan")

    return fail


@pytest.fixture
def fork() -> Callable[[], gym.Env[str, str]]:
    return lambda: TimeLimit(Fork(), 10)
