"""How long, how fast and in what portions a model is trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from llm_gym.errors import InvalidSetting

LOSS = "loss"


@dataclass(frozen=True, kw_only=True)
class Schedule:
    """A step is one update of the weights; it sees `batch_size * accumulate` examples on every device."""

    epochs: int = 10
    """Times that every example is seen."""
    batch_size: int = 1
    """Examples that are computed at once."""
    accumulate: int = 32
    """Batches of one update. The update is that of the mean over all their examples, however they are divided."""
    learning_rate: float = 2e-5
    """At the highest."""
    warmup_steps: int = 0
    """Updates in which the learning rate rises from 0."""
    decay: Literal["linear", "constant"] = "linear"
    """Whether the learning rate falls to 0 until the end, or stays."""
    weight_decay: float = 0.0
    evaluate_every: int | None = None
    """Updates between two looks at the held-out examples, each with a checkpoint; None: once an epoch."""
    best_by: str = LOSS
    """The held-out measure that says which weights are kept: the lowest loss, or the highest value of any other."""
    patience: int | None = None
    """Stop when so many looks in a row found nothing better; None: go to the end."""
    max_updates: int | None = None
    """The end, where the epochs would go further; the learning rate falls to 0 until there."""
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises InvalidSetting, with the names of the fields whose values cannot work."""
        wrong = [
            f"{name}={value} (must be {least} or more)"
            for name, least in _LEAST.items()
            if (value := getattr(self, name)) is not None and value < least
        ]
        wrong += [] if self.learning_rate > 0 else [f"learning_rate={self.learning_rate} (must be above 0)"]
        if wrong:
            raise InvalidSetting(f"Nothing can be trained with {', '.join(wrong)}.")


_LEAST = {
    "epochs": 1,
    "batch_size": 1,
    "accumulate": 1,
    "warmup_steps": 0,
    "weight_decay": 0,
    "evaluate_every": 1,
    "patience": 1,
    "max_updates": 1,
    "seed": 0,
}
