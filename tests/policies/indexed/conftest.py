"""Small networks on the corridor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.wrappers import IndexedActions


@pytest.fixture(scope="session")
def corridor() -> Callable[..., IndexedActions]:
    return lambda **settings: IndexedActions(
        gym.make("llm_gym/Corridor-v0", length=3, max_episode_steps=10), **{"k": 4, "dimensions": 16, **settings}
    )


@pytest.fixture(scope="session")
def models() -> Callable[[str, Any], Any]:
    """A model with random weights, by the name of its algorithm and network."""
    return _made


def _made(name: str, env: Any) -> Any:
    import torch

    model = _new(name, env)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.policy.parameters():  # SB3 begins with actions that are all about equally likely
            parameter.normal_(std=0.3, generator=generator)
    return model


def _new(name: str, env: Any) -> Any:
    import sb3_contrib
    import stable_baselines3

    from llm_gym.policies.indexed import network

    small, batches = {"width": 8}, {"n_steps": 32, "batch_size": 32}
    match name:
        case "a2c":
            return stable_baselines3.A2C(network.CandidatePolicy, env, policy_kwargs=small)
        case "ppo":
            return stable_baselines3.PPO(network.CandidatePolicy, env, policy_kwargs=small, **batches)
        case "maskable-ppo":
            policy = network.MaskableCandidatePolicy
            return sb3_contrib.MaskablePPO(policy, env, policy_kwargs=small, **batches)
        case "a2c-plain":
            layers = {"net_arch": {"pi": [8], "vf": [4, 4]}}
            return stable_baselines3.A2C("MultiInputPolicy", env, policy_kwargs=layers)
        case _:
            return sb3_contrib.MaskablePPO("MultiInputPolicy", env, **batches)
