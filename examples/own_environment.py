"""An environment of one's own: a lamp that has to be switched as often as the task says.

python examples/own_environment.py --n 12
llm-gym play own_environment:Lamp-v0     (from this folder)
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import tyro
from gymnasium.utils.env_checker import check_env

from llm_gym.envs.base import Outcome, TaskPanel, TextEnv
from llm_gym.policies import OraclePolicy, RandomPolicy


class Lamp(TextEnv):
    """Press the button as often as the goal says, then leave."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(TaskPanel("all", [f"lamp-{presses}" for presses in range(12)]), render_mode)
        self._wanted = self._pressed = 0

    def description(self) -> dict[str, Any]:
        """Part of a run's fingerprint: whatever fixes a result here."""
        return {"split": self.panel.name, "tasks": len(self.panel)}

    def solution(self) -> list[str]:
        """From where the agent stands, for oracles."""
        return ["press"] * (self._wanted - self._pressed) + ["leave"]

    def _begin(self, task_id: str) -> Outcome:
        self._wanted, self._pressed = int(task_id.removeprefix("lamp-")), 0
        return self._outcome()

    def _respond(self, action: str) -> Outcome | str:
        if action not in ("press", "leave"):
            return f"You cannot {action[:20]!r} here; you can press and leave."
        self._pressed += action == "press"
        return self._outcome(left=action == "leave")

    def _outcome(self, left: bool = False) -> Outcome:
        success = left and self._pressed == self._wanted
        goal = f"Press {self._wanted} times and leave."
        page = f"{goal} Pressed {self._pressed} times."
        info = {
            "task_id": self.task_id,
            "goal": goal,
            "admissible_actions": [] if left else ["press", "leave"],
            "success": success,
            "page": page,
            "category": "few" if self._wanted < 6 else "many",
            "metrics": {"presses": float(self._pressed)},
        }
        return Outcome(page, info, float(success), left)


gym.register("Lamp-v0", entry_point=Lamp, max_episode_steps=30)


def main(n: int = 12) -> None:
    """Check the environment, and measure two policies in it.

    Args:
        n: number of tasks, 12 at most.
    """
    env = gym.make("Lamp-v0")
    check_env(env.unwrapped)
    for policy in (RandomPolicy(), OraclePolicy()):
        print(policy.evaluate(env, n))


if __name__ == "__main__":
    tyro.cli(main)
