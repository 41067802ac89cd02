"""The worlds. One line of the table registers one environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

ENVIRONMENTS: dict[str, dict[str, Any]] = {
    "llm_gym/ALFWorld-v0": {"entry_point": "llm_gym.envs.alfworld.env:ALFWorldV0", "max_episode_steps": 50},
    "llm_gym/ALFWorld-v1": {"entry_point": "llm_gym.envs.alfworld.env:ALFWorld", "max_episode_steps": 50},
    "llm_gym/Corridor-v0": {"entry_point": "llm_gym.envs.corridor:Corridor", "max_episode_steps": 30},
    "llm_gym/WebShop-v0": {"entry_point": "llm_gym.envs.webshop.env:WebShopV0", "max_episode_steps": 100},
    "llm_gym/WebShop-v1": {"entry_point": "llm_gym.envs.webshop.env:WebShop", "max_episode_steps": 100},
}


def register() -> None:
    """Make every environment of the table known to `gymnasium.make`; imports none of them.

    Gymnasium's passive checker is left out: after a reset that was refused, for a misspelt task say, it fails at the
    next step. The contract tests run the whole checker over every environment instead.
    """
    for name, settings in ENVIRONMENTS.items():
        if name not in gym.registry:
            gym.register(name, disable_env_checker=True, **settings)
