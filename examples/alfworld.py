"""Help somebody who got lost: shortest ways to the goal from where a random policy wandered, as DAgger needs them.

python examples/alfworld.py --n 5
"""

from __future__ import annotations

from typing import cast

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Info
from llm_gym.envs.alfworld.env import ALFWorld
from llm_gym.policies import RandomPolicy


def wander(world: ALFWorld, info: Info, steps: int, seed: int) -> None:
    """Random commands, taken back where one of them happens to win."""
    policy = RandomPolicy()
    policy.reset(seed=seed)
    for _ in range(steps):
        before = world.state
        command = policy.act(info["page"], info).action
        assert command is not None, "something is always possible"
        _, _, terminated, _, after = world.step(command)
        info = cast(Info, world.restore(before)[1] if terminated else after)


def main(n: int = 5, steps: int = 20) -> None:
    """Wander, ask for a way, and follow it to the goal.

    Args:
        n: number of games.
        steps: random commands in each.
    """
    world = gym.make("llm_gym/ALFWorld-v1").unwrapped
    assert isinstance(world, ALFWorld)
    for number, task_id in enumerate(world.panel[:n]):
        _, info = world.reset(options={"task": task_id})
        print(info["goal"])
        begin = world.state
        wander(world, cast(Info, info), steps, seed=number)
        for where, state in (("from the beginning", begin), (f"after {steps} random commands", world.state)):
            world.restore(state)
            commands = world.solution()
            reward = sum(world.step(command)[1] for command in commands)
            print(f"  {where}: {', '.join(commands)}; reward {reward:.0f}")


if __name__ == "__main__":
    tyro.cli(main)
