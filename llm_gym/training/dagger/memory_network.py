"""The network of `MemoryPolicy` in torch, and what it learns from.

Axes: B states, R commands of all states together, A commands of the state that has most, N nouns of a state.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from llm_gym.policies.alfworld.memory.features import NOUNS, Choices, Vocabulary
from llm_gym.policies.alfworld.memory.model import AFFINITIES, MemoryModel


class Batch(NamedTuple):
    """States side by side; their commands one after the other."""

    verbs: Tensor
    """(R,)"""
    things: Tensor
    """(R,)"""
    places: Tensor
    """(R,)"""
    flags: Tensor
    """(R, flags of a command)"""
    nouns: Tensor
    """(B, N)"""
    states: Tensor
    """(B, flags of a state)"""
    state_of: Tensor
    """(R,): the state to which a command belongs."""
    position: Tensor
    """(R,): its number there."""

    @classmethod
    def of(cls, states: Sequence[Choices]) -> Batch:
        sizes = [len(one.verbs) for one in states]
        joined = {
            name: torch.from_numpy(np.concatenate([getattr(one, name) for one in states]))
            for name in ("verbs", "things", "places", "flags")
        }
        return cls(
            **joined,
            nouns=torch.from_numpy(np.stack([one.nouns for one in states])),
            states=torch.from_numpy(np.stack([one.state for one in states])),
            state_of=torch.from_numpy(np.repeat(np.arange(len(states)), sizes)),
            position=torch.from_numpy(np.concatenate([np.arange(size) for size in sizes])),
        )

    def hiding(self, share: float, vocabulary: Vocabulary, rng: np.random.Generator) -> Batch:
        """With a share of the words unknown, drawn for each state: wherever a word stands there, it is hidden."""
        unknown = rng.random((len(self.nouns), len(vocabulary))) < share
        unknown[:, Vocabulary.NONE] = False
        hidden = torch.from_numpy(unknown)
        return self._replace(
            things=self.things.masked_fill(hidden[self.state_of, self.things], Vocabulary.UNKNOWN),
            places=self.places.masked_fill(hidden[self.state_of, self.places], Vocabulary.UNKNOWN),
            nouns=self.nouns.masked_fill(hidden.gather(1, self.nouns), Vocabulary.UNKNOWN),
        )


class MemoryNetwork(nn.Module):
    """`MemoryModel.scores` with gradients, for many states at once."""

    def __init__(self, model: MemoryModel) -> None:
        super().__init__()
        self.arrays = nn.ParameterDict({name: nn.Parameter(torch.tensor(one)) for name, one in model.arrays.items()})

    def forward(self, batch: Batch) -> Tensor:
        """Scores, (B, A); -inf beyond a state's own commands."""
        array, words = self.arrays, self.arrays["word_vectors"]
        nouns = array["noun_factors"][batch.nouns].view(-1, len(NOUNS), *AFFINITIES)[batch.state_of]
        places = array["place_factors"][batch.places].view(-1, 1, *AFFINITIES)
        affinities = (nouns * places).sum(-1).flatten(1)
        named = [array["verb_vectors"][batch.verbs], words[batch.things], words[batch.places]]
        command = torch.cat([*named, batch.flags, affinities], 1)
        state = torch.cat([words[batch.nouns].flatten(1), batch.states], 1)
        offset = state @ array["state_weights"] + array["first_bias"]
        first = command @ array["command_weights"] + offset[batch.state_of]
        second = first.relu() @ array["second_weights"] + array["second_bias"]
        scores = second.relu() @ array["last_weights"]
        padded = scores.new_full((len(batch.nouns), int(batch.position.max()) + 1), -math.inf)
        together: Tensor = padded.index_put((batch.state_of, batch.position), scores)
        return together


def set_loss(scores: Tensor, labels: Tensor) -> Tensor:
    """-log of the probability that a command of the teacher's is drawn, averaged over the states.

    Args:
        scores: (B, A), -inf where there is no command.
        labels: (B, A), true at the teacher's commands; at least one in each state.
    """
    of_teacher = scores.masked_fill(~labels, -math.inf).logsumexp(1)
    return (scores.logsumexp(1) - of_teacher).mean()
