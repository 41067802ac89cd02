"""A corridor of rooms: a world without data, for tests, docs and first steps."""

from __future__ import annotations

from typing import Any

from llm_gym.core import derive_seed
from llm_gym.envs.base import Outcome, TaskPanel, TextEnv
from llm_gym.errors import InvalidSetting


class Corridor(TextEnv):
    """Walk along `length` rooms to the door named in the goal and open it.

    The agent starts in a room that depends on the task, may go "left" and "right", and ends the episode with "open".
    The reward is 1 at the right door, 0 at a wrong one. Success of a random policy is low, of reading the goal 1.

    >>> import gymnasium as gym, llm_gym
    >>> env = gym.make("llm_gym/Corridor-v0")
    >>> observation, info = env.reset(options={"task": "corridor-3"})
    >>> info["goal"]
    'Open the door of room 0.'
    """

    def __init__(self, length: int = 5, tasks: int = 200, render_mode: str | None = None) -> None:
        if length < 2 or tasks < 1:
            raise InvalidSetting(f"A corridor needs 2 rooms and 1 task at least, got length={length}, tasks={tasks}.")
        super().__init__(TaskPanel("all", (f"corridor-{number}" for number in range(tasks))), render_mode)
        self.length = length
        self._room = self._target = 0

    def description(self) -> dict[str, Any]:
        return {"length": self.length, "split": self.panel.name, "tasks": len(self.panel)}

    def solution(self) -> list[str]:
        way = self._target - self._room
        return ["right" if way > 0 else "left"] * abs(way) + ["open"]

    def _begin(self, task_id: str) -> Outcome:
        self._target = derive_seed(0, task_id, "target") % self.length
        self._room = derive_seed(0, task_id, "start") % self.length
        return self._outcome()

    def _respond(self, action: str) -> Outcome | str:
        match action.strip().lower():
            case "left" if self._room > 0:
                self._room -= 1
            case "right" if self._room < self.length - 1:
                self._room += 1
            case "open":
                return self._outcome(opened=True)
            case "left" | "right":
                return "There is a wall."
            case _:
                return f"You cannot {action[:50]!r} here; you can: {', '.join(self._admissible())}."
        return self._outcome()

    def _admissible(self) -> list[str]:
        moves = ["left"] * (self._room > 0) + ["right"] * (self._room < self.length - 1)
        return [*moves, "open"]

    def _outcome(self, opened: bool = False) -> Outcome:
        success = opened and self._room == self._target
        goal = f"Open the door of room {self._target}."
        page = f"{goal}\nYou are in room {self._room} of {self.length}." + ("\nThe door is open." if opened else "")
        info: dict[str, Any] = {
            "task_id": self.task_id,
            "goal": goal,
            "admissible_actions": [] if opened else self._admissible(),
            "success": success,
            "page": page,
            "category": "near" if self._target < 2 else "far",
            "metrics": {},
        }
        return Outcome(page, info, reward=float(success), terminated=opened)
