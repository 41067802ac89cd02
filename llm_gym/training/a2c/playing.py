"""The decisions of one update: what was seen, what was chosen, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from llm_gym.policies.reinforcement.network import ActorCritic, Judgement, Situation
from llm_gym.training.a2c.episodes import Episodes
from llm_gym.training.a2c.returns import Floats, discounted
from llm_gym.training.a2c.settings import A2CSettings


class NoNumber(ArithmeticError):
    """A probability, a value, a loss or a gradient is not finite."""


@dataclass
class Segment:
    """T steps in N environments, as far as they were played."""

    situations: list[list[Situation]] = field(default_factory=list)
    """(T, N)."""
    judgements: list[Judgement] = field(default_factory=list)
    """T, of N situations each."""
    chosen: list[list[int]] = field(default_factory=list)
    """(T, N)."""
    rewards: list[list[float]] = field(default_factory=list)
    """(T, N), scaled; where an episode was cut off, with the discounted value of what it had reached."""
    ended: list[list[bool]] = field(default_factory=list)
    """(T, N)."""
    beyond: Floats = field(default_factory=lambda: np.zeros(0))
    """(N,), the values after the last step."""

    def returns(self, discount: float) -> Floats:
        """(T, N)."""
        return discounted(np.array(self.rewards), np.array(self.ended), self.beyond, discount)

    def to_json(self) -> list[list[dict[str, Any]]]:
        """(T, N) situations with the actions taken, for somebody who looks for a mistake."""
        rows: list[list[dict[str, Any]]] = [
            [{"goal": one.goal, "page": one.page, "actions": list(one.actions)} for one in step]
            for step in self.situations
        ]
        for step, indices, rewards in zip(rows, self.chosen, self.rewards, strict=False):
            for row, index, reward in zip(step, indices, rewards, strict=True):
                row |= {"chosen": index, "reward": reward}
        return rows


def play_on(
    network: ActorCritic, episodes: Episodes, settings: A2CSettings, rng: np.random.Generator, segment: Segment
) -> None:
    """Play `settings.steps` steps in every environment, into an empty segment.

    Raises:
        NoNumber: the network's probabilities or values are none.
    """
    for _ in range(settings.steps):
        situations = episodes.situations
        segment.situations.append(situations)
        judgement = network.judge(situations)
        segment.judgements.append(judgement)
        segment.chosen.append(_drawn(judgement, situations, settings, rng))
        answers = episodes.act(segment.chosen[-1])
        reached = [answer.cut_off for answer in answers if answer.cut_off is not None]
        values = iter(values_of(network, reached))
        beyond = [0.0 if answer.cut_off is None else settings.discount * next(values) for answer in answers]
        segment.rewards.append(
            [answer.reward * settings.reward_scale + more for answer, more in zip(answers, beyond, strict=True)]
        )
        segment.ended.append([answer.terminated or answer.cut_off is not None for answer in answers])
    segment.beyond = values_of(network, episodes.situations)


def values_of(network: ActorCritic, situations: Sequence[Situation]) -> Floats:
    """What is expected from each situation; (N,) → (N,)."""
    if not situations:
        return np.zeros(0)
    with torch.no_grad():
        values: Floats = network.judge(situations).values.double().numpy()
    return values


def _drawn(
    judgement: Judgement, situations: Sequence[Situation], settings: A2CSettings, rng: np.random.Generator
) -> list[int]:
    """An action for each situation."""
    shares = judgement.log_probabilities.detach().double().exp().numpy()  # (N, A)
    if not (np.isfinite(shares).all() and torch.isfinite(judgement.values).all()):
        raise NoNumber("what the network makes of a page")
    return [_drawn_of(row[: len(one.actions)], settings, rng) for row, one in zip(shares, situations, strict=True)]


def _drawn_of(shares: Floats, settings: A2CSettings, rng: np.random.Generator) -> int:
    if settings.exploration == "softmax":
        return int(rng.choice(len(shares), p=shares / shares.sum()))
    return int(rng.integers(len(shares))) if rng.random() < settings.epsilon else int(shares.argmax())
