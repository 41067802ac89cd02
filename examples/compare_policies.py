"""Compare two policies task by task: does choosing options pay, and can so many tasks tell?

python examples/compare_policies.py --n 50 --jobs 2
"""

from __future__ import annotations

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.policies import LexicalPolicy, RulePolicy


def main(n: int = 50, jobs: int = 1) -> None:
    """Let both play the same tasks and print the comparison.

    Args:
        n: number of tasks.
        jobs: processes; the numbers do not depend on it.
    """
    env = gym.make("llm_gym/WebShop-v1", split="test")
    rule = RulePolicy().evaluate(env, n, jobs=jobs)
    lexical = LexicalPolicy().evaluate(env, n, jobs=jobs)
    print(rule.compare(lexical))


if __name__ == "__main__":
    tyro.cli(main)
