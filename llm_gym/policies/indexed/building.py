"""From a model of stable-baselines3 to what is kept of it, and back to a network."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableMultiInputActorCriticPolicy
from stable_baselines3.common.policies import ActorCriticPolicy, MultiInputActorCriticPolicy
from stable_baselines3.common.torch_layers import CombinedExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from llm_gym.errors import DataMismatch, InvalidSetting
from llm_gym.policies.indexed.features import Arrays
from llm_gym.policies.indexed.network import CandidatePolicy, MaskableCandidatePolicy
from llm_gym.policies.indexed.settings import IndexedSettings
from llm_gym.policies.indexed.trained import Activation, Shape, Trained

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]

_SETTINGS = "indexed_settings"
"""The attribute of the wrapper."""
_OVER_CANDIDATES = (CandidatePolicy, MaskableCandidatePolicy)
_MULTI_INPUT = (MultiInputActorCriticPolicy, MaskableMultiInputActorCriticPolicy)


def trained_from(model: Any, env: Any) -> Trained:
    """What is kept of a model in memory; see `SB3Policy.from_model`."""
    settings = _settings_of(env)
    if model.observation_space != settings.observation_space() or model.action_space != gym.spaces.Discrete(settings.k):
        raise InvalidSetting("The model was trained on other spaces than this environment has: give the one it knows.")
    normalised = model.get_vec_normalize_env()
    if normalised is not None and normalised.norm_obs:
        raise InvalidSetting("VecNormalize has changed what the model saw: train with norm_obs=False.")
    weights = {name: value.detach().cpu().numpy().copy() for name, value in model.policy.named_parameters()}
    return Trained(type(model).__name__, settings, _shape_of(model.policy), weights)


def network_of(trained: Trained) -> ActorCriticPolicy:
    """The network, ready to decide.

    Raises:
        DataMismatch: the weights are those of a network of another shape.
    """
    misfit = DataMismatch("The weights do not fit the network that the settings beside them describe.")
    if _least_numbers(trained.indexed, trained.shape) > sum(values.size for values in trained.weights.values()):
        raise misfit  # before room is made for a network that may be huge
    space, shape = trained.indexed.observation_space(), trained.shape
    actions = gym.spaces.Discrete(trained.indexed.k)
    network: ActorCriticPolicy
    if shape.kind == "candidates":
        network = CandidatePolicy(space, actions, _no_learning, width=shape.policy_layers[0])
    else:
        layers = {"pi": list(shape.policy_layers), "vf": list(shape.value_layers)}
        activation = getattr(nn, shape.activation)
        network = MultiInputActorCriticPolicy(space, actions, _no_learning, layers, activation)
    own = dict(network.named_parameters())
    shapes = {name: tuple(values.shape) for name, values in own.items()}
    if shapes != {name: values.shape for name, values in trained.weights.items()}:
        raise misfit
    with torch.no_grad():
        for name, values in own.items():
            values.copy_(torch.from_numpy(np.array(trained.weights[name])))
    network.set_training_mode(False)
    return network


def probabilities(network: ActorCriticPolicy, seen: Arrays) -> Floats:
    """Of each place in one state, those without an action left out; (K,)."""
    tensors = {name: torch.from_numpy(values).unsqueeze(0) for name, values in seen.items()}
    with torch.no_grad():
        scores = network.get_distribution(tensors).distribution.logits[0].double()  # type: ignore[union-attr]
    scores = scores.masked_fill(torch.from_numpy(seen["action_mask"] == 0), -torch.inf)
    shares: Floats = torch.softmax(scores, 0).numpy()
    return shares


def _least_numbers(indexed: IndexedSettings, shape: Shape) -> int:
    """Of a network's weights, without what is added."""
    if shape.kind == "candidates":
        (width,) = shape.policy_layers
        return width * (indexed.text_width + indexed.candidate_width + width)
    seen = indexed.text_width + indexed.k * (indexed.candidate_width + 1)
    both = ((seen, *shape.policy_layers, indexed.k), (seen, *shape.value_layers, 1))
    return sum(wide * deep for layers in both for wide, deep in pairwise(layers))


def _no_learning(progress: float) -> float:
    return 0.0


def _settings_of(env: Any) -> IndexedSettings:
    try:
        many = isinstance(env, VecEnv)
        found: IndexedSettings = env.get_attr(_SETTINGS)[0] if many else env.get_wrapper_attr(_SETTINGS)
    except AttributeError:
        raise InvalidSetting("This environment is in no IndexedActions: nobody knows what the model saw.") from None
    return found


def _shape_of(policy: Any) -> Shape:
    """How a network is built again.

    Raises:
        InvalidSetting: it has parts that cannot be written down.
    """
    if type(policy) in _OVER_CANDIDATES:
        return Shape("candidates", (policy.width,))
    plain = type(policy) in _MULTI_INPUT and policy.features_extractor_class is CombinedExtractor
    if not plain or policy.features_extractor_kwargs or not policy.share_features_extractor:
        raise InvalidSetting(
            "SB3Policy knows A2C, PPO and MaskablePPO with CandidatePolicy, MaskableCandidatePolicy or "
            f"MultiInputPolicy without an extractor of its own; this is {type(policy).__name__}."
        )
    layers = policy.net_arch
    both = (layers.get("pi", []), layers.get("vf", [])) if isinstance(layers, dict) else (layers, layers)
    activation: Activation = policy.activation_fn.__name__
    return Shape("multi-input", tuple(both[0]), tuple(both[1]), activation)
