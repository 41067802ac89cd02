"""Episodes that are played side by side, and how those of a killed training are taken up again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import gymnasium as gym
import numpy as np

from llm_gym.core import Info, derive_seed
from llm_gym.errors import InvalidSetting
from llm_gym.policies.reinforcement.candidates import Candidates, Queries, candidates
from llm_gym.policies.reinforcement.network import Situation


@dataclass(frozen=True)
class Course:
    """An environment and those of its tasks that are played."""

    make: Callable[[], gym.Env[str, str]]
    tasks: Sequence[str]

    def __post_init__(self) -> None:
        if not len(self.tasks):
            raise InvalidSetting("There is no task to play: choose another split.")


class Answer(NamedTuple):
    """What came of an action."""

    reward: float
    terminated: bool
    cut_off: Situation | None
    """Where the step limit ended the episode here, the situation that it had reached."""


class Ended(NamedTuple):
    """An episode of the training."""

    score: float
    """The sum of its rewards."""
    success: bool
    steps: int


@dataclass
class _Running:
    """An episode; it is told by its number and what was done in it."""

    number: int
    actions: list[str] = field(default_factory=list)
    score: float = 0.0


class Episodes:
    """One episode in each of N environments; where one ends, another begins.

    The episodes are numbered. Which task one plays, and which actions are left out of a long list, depends on the seed,
    its number and its step alone, so that a few numbers and the actions taken say where everything stands.

    Args:
        course: tasks are drawn from it, each with the same chance.
        count: N.
        queries: what may be searched for.
        seed: of all that is drawn.
    """

    def __init__(self, course: Course, count: int, queries: Queries, seed: int) -> None:
        self._course, self._queries, self._seed = course, queries, seed
        self._worlds = [course.make() for _ in range(count)]
        self._begun = 0
        self._running: list[_Running] = []
        self._candidates: list[Candidates] = []
        self.ended: list[Ended] = []
        """Those that ended since somebody emptied the list."""

    @property
    def situations(self) -> list[Situation]:
        """(N,)."""
        return [each.situation for each in self._candidates]

    def begin(self) -> None:
        """Start N episodes."""
        for place in range(len(self._worlds)):
            self._running.append(_Running(self._next_number()))
            self._candidates.append(self._started(place))

    def act(self, chosen: Sequence[int]) -> list[Answer]:
        """Take the action with that index in each environment; (N,) → (N,)."""
        return [self._act(place, index) for place, index in enumerate(chosen)]

    def close(self) -> None:
        for world in self._worlds:
            world.close()

    # -- a killed training -------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Where everything stands, as JSON."""
        rows = [{"number": each.number, "actions": list(each.actions)} for each in self._running]
        return {"begun": self._begun, "running": rows}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Play the episodes of `state()` up to where they stood."""
        self._begun = state["begun"]
        for place, row in enumerate(state["running"]):
            self._running.append(_Running(row["number"]))
            self._candidates.append(self._started(place))
            for action in row["actions"]:
                observation, reward, _, _, info = self._worlds[place].step(action)
                self._taken(place, action, float(reward))
                self._candidates[place] = self._read(place, observation, cast(Info, info))

    # -- one environment ---------------------------------------------------------------------------------------

    def _act(self, place: int, index: int) -> Answer:
        action = self._candidates[place].actions[index]
        observation, reward, terminated, truncated, info = self._worlds[place].step(action)
        running = self._taken(place, action, float(reward))
        if not (terminated or truncated):
            self._candidates[place] = self._read(place, observation, cast(Info, info))
            return Answer(float(reward), False, None)
        self.ended.append(Ended(running.score, bool(info.get("success")), len(running.actions)))
        reached = None if terminated else self._read(place, observation, cast(Info, info)).situation
        self._running[place] = _Running(self._next_number())
        self._candidates[place] = self._started(place)
        return Answer(float(reward), terminated, reached)

    def _taken(self, place: int, action: str, reward: float) -> _Running:
        running = self._running[place]
        running.actions.append(action)
        running.score += reward
        return running

    def _next_number(self) -> int:
        self._begun += 1
        return self._begun - 1

    def _started(self, place: int) -> Candidates:
        number = self._running[place].number
        tasks = self._course.tasks
        task = tasks[derive_seed(self._seed, "task", number) % len(tasks)]
        seed = derive_seed(self._seed, "world", number) % 2**31
        observation, info = self._worlds[place].reset(seed=seed, options={"task": task})
        return self._read(place, observation, cast(Info, info))

    def _read(self, place: int, observation: str, info: Info) -> Candidates:
        found = candidates(observation, info, self._queries)
        if found is None:
            raise InvalidSetting(
                f"{type(self._worlds[place].unwrapped).__name__} lists no actions in task {info.get('task_id')!r}, so "
                "that there is nothing to choose among: A2C needs `info['admissible_actions']`."
            )
        running = self._running[place]
        return found.cut(np.random.default_rng(derive_seed(self._seed, "cut", running.number, len(running.actions))))
