"""Measure the rule baseline in the embedded shop.

python examples/evaluate_rule.py --n 50
"""

from __future__ import annotations

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.policies import RulePolicy


def main(n: int = 50) -> None:
    """Play the first tasks of the panel and print the metrics.

    Args:
        n: number of tasks.
    """
    env = gym.make("llm_gym/WebShop-v1", split="test")
    result = RulePolicy().evaluate(env, n)
    print(result)
    print(f"success {result.success:.3f}, 95 % interval {result.success.low:.3f} to {result.success.high:.3f}")


if __name__ == "__main__":
    tyro.cli(main)
