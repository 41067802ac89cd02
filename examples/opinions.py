"""What an expert's opinions are worth to somebody who heeds them now and then, and what random ones would be.

python examples/opinions.py --n 50 --probability 0.9
"""

from __future__ import annotations

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.policies import HeedingPolicy, LexicalPolicy, RulePolicy
from llm_gym.wrappers import OpinionWrapper


def main(n: int = 50, probability: float = 0.9, jobs: int = 1) -> None:
    """Evaluate the rule with opinions, with random ones and alone, and print the differences.

    Args:
        n: number of tasks.
        probability: to take a suggestion.
        jobs: processes; the numbers do not depend on it.
    """
    shop = gym.make("llm_gym/WebShop-v1", split="test")
    policy = HeedingPolicy(RulePolicy(), probability)
    advised = policy.evaluate(OpinionWrapper(shop, LexicalPolicy()), n, jobs=jobs)
    control = policy.evaluate(OpinionWrapper(shop, LexicalPolicy(), control="random"), n, jobs=jobs)
    alone = policy.evaluate(shop, n, jobs=jobs)
    expert = LexicalPolicy().evaluate(shop, n, jobs=jobs)
    print(advised)
    print(f"the expert itself: {expert.success!r}, random opinions: {control.success!r}")
    print(advised.compare(alone))


if __name__ == "__main__":
    tyro.cli(main)
