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

WORLDS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "llm_gym/WebShop-v1": ("test", {"max_episode_steps": 25}, {"k": 40}),
    "llm_gym/ALFWorld-v1": ("valid_unseen", {"task_types": ("pick", "look")}, {"k": 56, "progress": 0.5}),
}
"""Each with the panel that is played at the end, and with what makes learning quick: short visits to a shop; in a
house, which rewards nothing but success, the two easier kinds of tasks, and something for progress."""
COMMON = {"gamma": 0.97, "ent_coef": 0.01, "learning_rate": 1e-3}
ALGORITHMS: tuple[tuple[Any, Any, dict[str, Any]], ...] = (
    (A2C, CandidatePolicy, {"n_steps": 5, "gae_lambda": 0.95, "normalize_advantage": True, "use_rms_prop": False}),
    (MaskablePPO, MaskableCandidatePolicy, {"n_steps": 128, "n_epochs": 4, "normalize_advantage": False}),
)


def training_world(name: str) -> IndexedActions:
    """Tasks to learn from, as arrays and numbers."""
    _, settings, indexed = WORLDS[name]
    return IndexedActions(gym.make(name, split="train", **settings), **indexed)


def main(steps: int = 40_000, n: int = 100, environments: int = 8, seed: int = 0) -> None:
    """Train and compare.

    Args:
        steps: of a training; about 500 a second on one core.
        n: number of tasks to play afterwards.
        environments: side by side in a training.
        seed: of the trainings.
    """
    for name, (split, _, _) in WORLDS.items():
        world = gym.make(name, split=split)
        random = RandomPolicy().evaluate(world, n)
        for algorithm, network, settings in ALGORITHMS:
            env = make_vec_env(partial(training_world, name), environments, seed=seed)
            model = algorithm(network, env, seed=seed, **COMMON, **settings).learn(steps)
            trained = SB3Policy.from_model(model, env, draw="sample").evaluate(world, n)
            print(f"{algorithm.__name__} on {name}, score {trained.score!r}\n{trained.compare(random)}")


if __name__ == "__main__":
    tyro.cli(main)
