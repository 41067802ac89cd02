"""stable-baselines3 learns to shop and to do chores: A2C and MaskablePPO, each against random on tasks it never saw.

pip install "llm-gym[sb3]"
python examples/sb3.py --steps 50000 --n 100
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3 import A2C
from stable_baselines3.common.env_util import make_vec_env

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.policies import RandomPolicy, SB3Policy
from llm_gym.policies.indexed.network import CandidatePolicy, MaskableCandidatePolicy
from llm_gym.wrappers import IndexedActions

WORLDS = {"llm_gym/WebShop-v1": "test", "llm_gym/ALFWorld-v1": "valid_unseen"}
"""Each with the panel that is played at the end."""


def training_world(name: str) -> IndexedActions:
    """Tasks to learn from, as arrays and numbers."""
    return IndexedActions(gym.make(name, split="train"), k=64)


def main(steps: int = 50_000, n: int = 100, environments: int = 8, seed: int = 0) -> None:
    """Train and compare.

    Args:
        steps: of a training; about 500 to 1,000 a second on one core.
        n: number of tasks to play afterwards.
        environments: side by side in a training.
        seed: of the trainings.
    """
    for name, split in WORLDS.items():
        world = gym.make(name, split=split)
        random = RandomPolicy().evaluate(world, n)
        for algorithm, network in ((A2C, CandidatePolicy), (MaskablePPO, MaskableCandidatePolicy)):
            env = make_vec_env(partial(training_world, name), n_envs=environments, seed=seed)
            settings: dict[str, Any] = {"n_steps": 16, "gamma": 0.97, "ent_coef": 0.01, "seed": seed}
            model = algorithm(network, env, **settings).learn(steps)
            trained = SB3Policy.from_model(model, env, draw="sample").evaluate(world, n)
            print(f"{algorithm.__name__} on {name}, score {trained.score!r}\n{trained.compare(random)}")


if __name__ == "__main__":
    tyro.cli(main)
