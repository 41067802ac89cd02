"""What the learned experts' opinions are worth to others: `python benchmarks/webshop_opinions.py --tasks 200`.

Each policy plays the first tasks of the embedded test panel alone, with five random opinions on every page, and with
five of each expert. `rule` and `random` stand inside `HeedingPolicy`, which takes the first opinion on four pages of
five, as the scripted model does. Effects are paired, task by task, against the policy alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import gymnasium as gym
import tyro
from rich.console import Console

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.policies import AutoGPTPolicy, HeedingPolicy, ILPolicy, MatchPolicy, Policy, RandomPolicy, RulePolicy
from llm_gym.wrappers import OpinionWrapper

FOLLOW = 0.8
OPINIONS = 5


@dataclass
class Args:
    """Effects of the experts' opinions in the embedded shop."""

    tasks: int = 200
    """The first of the test panel."""
    steps: int = 20
    """After so many an episode is stopped, as in the published set-up."""


def experts() -> dict[str, tuple[Policy, bool]]:
    """Label → expert, and whether random opinions stand in for its own."""
    return {
        "5 random opinions": (RandomPolicy(), True),
        "5 of `il`": (ILPolicy(), False),
        "5 of `match`": (MatchPolicy(), False),
    }


def players() -> dict[str, Policy]:
    return {
        "rule": HeedingPolicy(RulePolicy(), FOLLOW),
        "random": HeedingPolicy(RandomPolicy(), FOLLOW),
        "autogpt, scripted model": AutoGPTPolicy("scripted"),
    }


def world(args: Args) -> gym.Env[str, str]:
    return gym.make("llm_gym/WebShop-v1", split="test", max_episode_steps=args.steps)


def row(player: str, opinions: str, result: Evaluation, alone: Evaluation) -> str:
    cells = [player, opinions, f"{result.success:.3f} [{result.success.low:.2f}, {result.success.high:.2f}]"]
    effect = ""
    if result is not alone:
        difference = result.compare(alone).success
        effect = f"{difference:+.3f} [{difference.low:+.2f}, {difference.high:+.2f}]"
    return "| " + " | ".join([*cells, f"{result.score:.1f}", effect]) + " |"


def main(args: Args) -> None:
    console = Console()
    console.print(f"{args.tasks} tasks of the embedded test panel, {args.steps} steps at most", highlight=False)
    console.print("| policy | opinions | success | score | effect on success |\n|---|---|--:|--:|--:|")
    for label, player in players().items():
        alone = player.evaluate(world(args), args.tasks)
        console.print(row(label, "none", alone, alone), highlight=False, soft_wrap=True)
        for name, (expert, is_random) in experts().items():
            advised = OpinionWrapper(world(args), expert, OPINIONS, control="random" if is_random else None)
            result = player.evaluate(advised, args.tasks)
            console.print(row(label, name, result, alone), highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main(tyro.cli(Args))
