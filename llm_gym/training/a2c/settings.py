"""How an actor-critic learns; the defaults are those of the WebShop paper's code."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from llm_gym.errors import InvalidSetting, UnknownName

Exploration = Literal["softmax", "epsilon"]


@dataclass(frozen=True, kw_only=True)
class A2CSettings:
    """An update sees `environments * steps` decisions."""

    updates: int = 1000
    environments: int = 4
    """Episodes that are played side by side."""
    steps: int = 8
    """Decisions in each environment before an update; beyond them, returns are estimated by the value."""
    discount: float = 0.9
    """What a reward is worth one step earlier."""
    reward_scale: float = 10.0
    """Rewards are multiplied by it."""
    learning_rate: float = 1e-5
    """Of Adam; the paper's is 1e-5 for BERT, 5e-4 for the recurrent network."""
    value_learning_rate: float | None = None
    """Of the weights that only the value depends on; None: the same, as in the paper."""
    largest_gradient: float = 10.0
    """Of the norm of all gradients of an update; a longer one is shortened."""
    policy_weight: float = 1.0
    value_weight: float = 1.0
    entropy_weight: float = 1.0
    imitation_weight: float = 0.0
    """Of what the original calls its imitation loss: -log π, the mean over *all* actions of a situation."""
    value_first: int = 0
    """Updates at the beginning in which nothing but the value loss counts, for a network whose policy is good already
    and whose value is not: it would unlearn by advantages that are none. The paper's is 0."""
    exploration: Exploration = "softmax"
    """Actions are drawn in proportion to their probability, or the best is taken but for a share of `epsilon`."""
    epsilon: float = 0.1
    evaluate_every: int = 100
    """Updates between two looks at the held-out tasks, each with a checkpoint."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises InvalidSetting or UnknownName, with the names of the fields whose values cannot work."""
        if self.exploration not in get_args(Exploration):
            raise UnknownName("exploration", self.exploration, get_args(Exploration))
        values = vars(self)
        wrong = [
            f"{name}={values[name]} (must be {least} or more)"
            for name, least in _LEAST.items()
            if not values[name] >= least
        ]
        wrong += [
            f"{name}={values[name]} (must be above 0)"
            for name in ("learning_rate", "value_learning_rate", "largest_gradient", "reward_scale")
            if values[name] is not None and not (values[name] > 0 and math.isfinite(values[name]))
        ]
        wrong += [
            f"{name}={values[name]} (must be in [0, 1])"
            for name in ("discount", "epsilon")
            if not 0 <= values[name] <= 1
        ]
        if wrong:
            raise InvalidSetting(f"Nothing can be trained with {', '.join(wrong)}.")


_LEAST = {
    "updates": 1,
    "environments": 1,
    "steps": 1,
    "evaluate_every": 1,
    "value_first": 0,
    "policy_weight": 0,
    "value_weight": 0,
    "entropy_weight": 0,
    "imitation_weight": 0,
    "seed": 0,
}
