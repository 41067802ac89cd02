"""Choices of demonstrations as batches for the choice model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.imitation.choice_config import ChoiceConfig
from llm_gym.policies.imitation.choice_tokens import TextTokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer
    from torch import Tensor

Integers = npt.NDArray[np.int64]

MOST_ACTIONS, FIRST, DRAWN = 20, 6, 10
"""More actions than the first are cut in training to the first few and some drawn."""
_KEPT_TEXTS = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceExample:
    """One decision that a model should learn."""

    state: str
    actions: tuple[str, ...]
    label: int
    """Index of the action that was chosen."""
    image: npt.NDArray[np.float32] | None = None
    """What describes the picture on the page; None where there is none."""

    def __post_init__(self) -> None:
        if not 0 <= self.label < len(self.actions):
            raise InvalidSetting(
                f"The chosen action is number {self.label}, but there are {len(self.actions)}, from 0."
            )


def reduced(actions: Sequence[str], gold: int, rng: np.random.Generator) -> tuple[tuple[str, ...], int]:
    """A training step's actions as the original cuts them: of more than 20 the first 6, 10 others, and the chosen one.

    Args:
        actions: in the order of the page, which is kept.
        gold: index of the chosen action.
        rng: draws the others.

    Returns:
        The actions, 16 or 17 of them, and where the chosen one is among them.
    """
    if len(actions) <= MOST_ACTIONS:
        return tuple(actions), gold
    drawn = rng.choice(np.arange(FIRST, len(actions)), DRAWN, replace=False)
    places = sorted({*range(FIRST), *drawn.tolist(), gold})
    return tuple(actions[place] for place in places), places.index(gold)


class Collator:
    """Examples → the arguments of `ChoiceModel.forward`; texts are tokenised once.

    Args:
        tokenizer: the model's.
        config: the model's.
    """

    def __init__(self, tokenizer: Tokenizer, config: ChoiceConfig) -> None:
        self._config = config
        self._pad = pad_id(config)
        self._states = TextTokens(tokenizer, config.state_tokens, _KEPT_TEXTS, config.head_tokens)
        self._actions = TextTokens(tokenizer, config.action_tokens, _KEPT_TEXTS)

    def __call__(self, examples: Sequence[ChoiceExample]) -> dict[str, Tensor]:
        """`state_ids`, `state_mask` (B, S), `action_ids`, `action_mask` (ΣA, T), `counts`, `labels` (B,), and of a
        model that reads pictures `images` (B, image_width). S and T are the longest of the batch.
        """
        torch = require("torch", "torch")
        state_ids, state_mask = padded([self._states.ids(example.state) for example in examples], self._pad)
        actions = [self._actions.ids(action) for example in examples for action in example.actions]
        action_ids, action_mask = padded(actions, self._pad)
        batch = {
            "state_ids": state_ids,
            "state_mask": state_mask,
            "action_ids": action_ids,
            "action_mask": action_mask,
            "counts": np.array([len(example.actions) for example in examples]),
            "labels": np.array([example.label for example in examples]),
        }
        if self._config.image:
            batch["images"] = np.stack([picture(example.image, self._config.image_width) for example in examples])
        return {name: torch.from_numpy(values) for name, values in batch.items()}

    def state_length(self, state: str) -> int:
        """Tokens of a state, at most `state_tokens`: for batches of states of like length."""
        return len(self._states.ids(state))


class Padded(NamedTuple):
    """Texts as one array."""

    ids: Integers
    """(N, T), T of the longest."""
    mask: Integers
    """(N, T), 1 where there is a token."""


def padded(texts: Sequence[tuple[int, ...]], pad: int) -> Padded:
    """Texts filled up at their ends.

    >>> padded([(5, 6), (7,)], pad=0).ids.tolist()
    [[5, 6], [7, 0]]
    """
    shape = (len(texts), max(map(len, texts)))
    ids, mask = np.full(shape, pad, np.int64), np.zeros(shape, np.int64)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = text
        mask[row, : len(text)] = 1
    return Padded(ids, mask)


def pad_id(config: ChoiceConfig) -> int:
    """What texts are filled up with."""
    return int(config.encoder.get("pad_token_id") or 0)


def picture(image: npt.NDArray[np.float32] | None, width: int) -> npt.NDArray[np.float32]:
    """(width,): what describes a picture, zeros where there is none.

    Raises:
        InvalidSetting: it is described by another number of numbers.
    """
    if image is None:
        return np.zeros(width, np.float32)
    if image.shape != (width,):
        raise InvalidSetting(f"The model reads {width} numbers a picture, this one has shape {image.shape}.")
    return image.astype(np.float32, copy=False)
