"""Episodes step by step, without `evaluate`: what a policy sees, does and gets.

python examples/play_episode.py --n 1
"""

from __future__ import annotations

from contextlib import closing
from typing import cast

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Info
from llm_gym.envs.base import panel_of
from llm_gym.policies import LexicalPolicy, Policy


def play(env: gym.Env[str, str], policy: Policy, task_id: str) -> float:
    """Play one task and print every step; returns the reward."""
    policy.reset(seed=0)
    observation, info = env.reset(options={"task": task_id})
    print(info["goal"])
    reward, ended = 0.0, False
    while not ended:
        action = policy.act(observation, cast(Info, info)).action
        if action is None:
            break
        observation, reward, terminated, truncated, info = env.step(action)
        print(f"  {action}  →  {info['screen']}")
        ended = terminated or truncated
    return float(reward)


def main(n: int = 1) -> None:
    """Play the first tasks of the panel.

    Args:
        n: number of episodes.
    """
    with closing(gym.make("llm_gym/WebShop-v1", split="test")) as env:
        for task_id in panel_of(env)[:n]:
            print(f"  reward {play(env, LexicalPolicy(), task_id):.2f}\n")


if __name__ == "__main__":
    tyro.cli(main)
