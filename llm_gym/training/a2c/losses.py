"""What an actor-critic minimises (`train_rl.py` and `agent.py` of the WebShop paper's code)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from llm_gym.policies.reinforcement.network import Judgement


class Losses(NamedTuple):
    """One number each, the mean over the steps of an update."""

    policy: Tensor
    """-log π(a)·advantage, the advantage taken as a number."""
    value: Tensor
    """The squared advantage."""
    entropy: Tensor
    """π·log π, the mean over all actions of a step's situations: the lower, the more even the choice."""
    imitation: Tensor
    """-log π, the mean over the same."""


def losses(judgements: Sequence[Judgement], chosen: Sequence[Sequence[int]], returns: Tensor) -> Losses:
    """The losses of T steps in N environments.

    Args:
        judgements: one a step, of N situations each.
        chosen: (T, N), the index of the action that was taken.
        returns: (T, N).
    """
    terms = [_of_step(*step) for step in zip(judgements, chosen, returns, strict=True)]
    return Losses(*(torch.stack(term).mean() for term in zip(*terms, strict=True)))


def _of_step(judgement: Judgement, chosen: Sequence[int], returns: Tensor) -> Losses:
    real = judgement.log_probabilities != -torch.inf  # (N, A)
    logarithms = judgement.log_probabilities.masked_fill(~real, 0.0)  # (N, A); 0·log 0 has no gradient
    taken = logarithms.gather(1, torch.tensor(chosen).unsqueeze(1)).squeeze(1)  # (N,)
    advantages = returns - judgement.values  # (N,)
    information = (logarithms.exp() * logarithms).masked_fill(~real, 0.0)  # (N, A)
    return Losses(
        policy=-(taken * advantages.detach()).mean(),
        value=advantages.square().mean(),
        entropy=information.sum() / real.sum(),
        imitation=-logarithms.sum() / real.sum(),
    )
