"""An LLM agent in the shop, alone and with a rule's opinions; and what it thought at each step.

python examples/llm_agent.py --n 20
python examples/llm_agent.py --n 20 --model gpt-4o-mini   # the key is in OPENAI_API_KEY
"""

from __future__ import annotations

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.policies import AutoGPTPolicy, LexicalPolicy
from llm_gym.wrappers import OpinionWrapper


def main(n: int = 20, model: str = "scripted") -> None:
    """Play the same tasks without and with opinions, print the comparison and the trace of the first episode.

    Args:
        n: number of tasks.
        model: the name of a model, or "scripted", which needs no network.
    """
    shop = gym.make("llm_gym/WebShop-v1", max_episode_steps=20)
    agent = AutoGPTPolicy(model)
    alone = agent.evaluate(shop, n)
    advised = agent.evaluate(OpinionWrapper(shop, LexicalPolicy(read=1)), n)
    print(advised.compare(alone))
    for step in advised.rows[0]["trajectory"]:
        print(f"\n{step['rationale']}\n→ {step['action']}")


if __name__ == "__main__":
    tyro.cli(main)
