"""The goal reader's network in PyTorch, for its training; `policies/alfworld/goal_reader/model.py` is what runs.

Axes: B sentences, N tokens of all sentences together, V tokens known, D width, K kinds, T things, G targets.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from llm_gym.errors import InvalidSetting
from llm_gym.policies.alfworld.goal_reader.model import IMPOSSIBLE, Names
from llm_gym.policies.alfworld.goal_reader.tokens import KINDS, kind_of, target_of, tokens
from llm_gym.policies.stored_arrays import Floats
from llm_gym.training.goal_examples import GoalExample

_FIRST_VECTORS = 0.05
"""Standard deviation of the vectors before training."""
_RISING = 0.1
"""Share of the updates in which the learning rate rises."""
_FEWEST = 20
"""Updates over which PyTorch's schedule can rise and fall by this share."""


@dataclass(frozen=True)
class Learning:
    """How the network learns."""

    width: int = 64
    passes: int = 6
    """Over all examples; the learning rate falls to nothing in so many."""
    batch: int = 64
    learning_rate: float = 3e-3
    decay: float = 1e-4
    """Of the vectors' weights."""
    unread: float = 0.1
    """Share of the tokens that are left out of a sentence."""
    dropout: float = 0.3
    seed: int = 0


class Sentences(NamedTuple):
    """Examples in numbers."""

    rows: list[list[int]]
    """Known tokens of each sentence, ascending; B lists."""
    possible: Tensor
    """(B, K, G)."""
    label: Tensor
    """The errand that was meant, as its place in (K, T, G) flattened, (B,); −1 where the names lack it."""


class Measures(NamedTuple):
    """How well sentences are read."""

    loss: float
    right: float
    """Share whose likeliest errand is the one that was meant, in [0, 1]."""


class GoalNetwork(nn.Module):
    """The same function as `GoalModel`."""

    def __init__(self, names: Names, learning: Learning) -> None:
        super().__init__()
        shapes = names.shapes(learning.width)
        self.arrays = nn.ParameterDict({name: nn.Parameter(_first(name, shape)) for name, shape in shapes.items()})
        self.dropout = learning.dropout

    def forward(self, rows: Sequence[Sequence[int]], possible: Tensor) -> Tensor:
        """Scores of all errands, (B, K·T·G).

        Args:
            rows: tokens of each sentence, B of them.
            possible: (B, K, G).
        """
        array = self.arrays
        starts = torch.tensor(np.cumsum([0, *map(len, rows[:-1])]))
        together = torch.tensor([row for sentence in rows for row in sentence], dtype=torch.int64)
        summed = nn.functional.embedding_bag(together, array["vectors"], starts, mode="sum")  # (B, D)
        hidden = nn.functional.dropout(torch.relu(summed + array["bias"]), self.dropout, self.training)
        kind, thing, target = (hidden @ array[f"{part}_weights"] for part in ("kind", "thing", "target"))
        scores = kind[:, :, None, None] + thing[:, None, :, None] + target[:, None, None, :]
        scores = scores + array["kind_thing"][:, :, None] + array["kind_target"][:, None] + array["thing_target"]
        possible_scores: Tensor = scores + torch.where(possible, 0.0, IMPOSSIBLE)[:, :, None, :]
        return possible_scores.flatten(1)

    def numbers(self) -> dict[str, Floats]:
        """The arrays of a `GoalModel`, rounded to half precision, which packs them into two thirds of the bytes."""
        return {name: array.detach().half().float().numpy() for name, array in self.arrays.items()}


def sentences_of(examples: Sequence[GoalExample], names: Names) -> Sentences:
    """Examples in the numbers of a network with these names."""
    shape = len(KINDS), len(names.things), len(names.targets)
    labels = []
    for example in examples:
        thing, target = example.errand.thing, target_of(example.errand)
        known = thing in names.things and target in names.targets
        parts = (
            (KINDS.index(kind_of(example.errand)), names.things.index(thing), names.targets.index(target))
            if known
            else ()
        )
        labels.append(int(np.ravel_multi_index(parts, shape)) if parts else -1)
    rows = [names.known(tokens(example.sentence, example.places)) for example in examples]
    possible = np.array([names.possible(example.places) for example in examples])
    return Sentences(rows, torch.tensor(possible), torch.tensor(labels))


def learn(
    sentences: Sentences, names: Names, learning: Learning, told: Callable[[int, float, GoalNetwork], bool]
) -> GoalNetwork:
    """Train a network by the likelihood of what was meant.

    Args:
        sentences: to learn from; all labels known.
        names: of what is read and found.
        learning: how.
        told: called after every pass with its number from 1, its mean loss and the network; False ends the training.

    Raises:
        InvalidSetting: the loss is no number any more.
    """
    torch.manual_seed(learning.seed)
    rng = random.Random(learning.seed)
    network = GoalNetwork(names, learning)
    updates = -(-len(sentences.rows) // learning.batch)
    optimizer = torch.optim.AdamW(network.parameters(), learning.learning_rate, weight_decay=learning.decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, learning.learning_rate, max(_FEWEST, updates * learning.passes), pct_start=_RISING
    )
    for number in range(1, learning.passes + 1):
        order = rng.sample(range(len(sentences.rows)), len(sentences.rows))
        total = 0.0
        network.train()
        for begin in range(0, len(order), learning.batch):
            chosen = order[begin : begin + learning.batch]
            rows = [_partly(sentences.rows[at], learning.unread, rng) for at in chosen]
            scores = network(rows, sentences.possible[chosen])
            loss = nn.functional.cross_entropy(scores, sentences.label[chosen])
            if not torch.isfinite(loss):
                raise InvalidSetting(f"The loss of pass {number} is {loss.item()}. Give a smaller learning rate.")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            schedule.step()
            total += loss.item() * len(chosen)
        network.eval()
        if not told(number, total / len(order), network):
            break
    return network


@torch.no_grad()
def measure(network: GoalNetwork, sentences: Sentences, batch: int = 256) -> Measures:
    """How well sentences are read; one whose errand the names lack is read wrong and adds nothing to the loss."""
    losses, right = 0.0, 0
    for begin in range(0, len(sentences.rows), batch):
        part = slice(begin, begin + batch)
        scores, label = network(sentences.rows[part], sentences.possible[part]), sentences.label[part]
        losses += float(nn.functional.cross_entropy(scores, label, ignore_index=-1, reduction="sum"))
        right += int((scores.argmax(dim=1) == label).sum())
    return Measures(losses / len(sentences.rows), right / len(sentences.rows))


def _first(name: str, shape: tuple[int, ...]) -> Tensor:
    if name == "vectors":
        return _FIRST_VECTORS * torch.randn(shape)
    return torch.randn(shape) * shape[0] ** -0.5 if name.endswith("weights") else torch.zeros(shape)


def _partly(rows: list[int], unread: float, rng: random.Random) -> list[int]:
    return [row for row in rows if rng.random() >= unread]
