"""A policy of one's own: buy the cheapest of the first results.

python examples/own_policy.py --n 50
llm-gym evaluate WebShop-v1 --policy own_policy:CheapestPolicy     (from this folder)
"""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Decision, Info
from llm_gym.policies import Policy


class CheapestPolicy(Policy):
    """Searches the instruction and buys the cheapest result of the first page.

    Args:
        among: how many results are looked at.
    """

    name = "cheapest"

    def __init__(self, among: int = 5) -> None:
        self.among = among

    def settings(self) -> dict[str, Any]:
        """Part of a run's fingerprint: two runs with different settings are never mixed."""
        return {"among": self.among}

    def act(self, observation: str, info: Info) -> Decision:
        page: dict[str, Any] = dict(info)
        match page["screen"]:
            case "search":
                return Decision(f"search[{page['goal']}]")
            case "results" if page["results"]:
                cheapest = min(page["results"][: self.among], key=lambda result: price(result.price))
                return Decision(f"click[{cheapest.asin.lower()}]", rationale=f"{cheapest.price} is the lowest price")
            case "item":
                return Decision("click[buy now]")
            case _:
                return Decision(None)  # nothing was found: stop


def price(tag: str) -> float:
    """The first number of a price tag, in dollars."""
    found = re.search(r"\d+(?:\.\d+)?", tag)
    return float(found[0]) if found else 0.0


def main(n: int = 50, among: int = 5, jobs: int = 1) -> None:
    """Measure it.

    Args:
        n: number of tasks.
        among: how many results the policy looks at.
        jobs: processes.
    """
    env = gym.make("llm_gym/WebShop-v1", split="test")
    print(CheapestPolicy(among).evaluate(env, n, jobs=jobs))


if __name__ == "__main__":
    tyro.cli(main)
