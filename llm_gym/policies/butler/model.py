"""The network of BUTLER's text agent (arXiv:2010.03768, section 4.1 and appendix B).

Axes: B states, S tokens of what is seen, Q tokens of the task, T tokens of a command, D width, V vocabulary.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from llm_gym.policies.butler.config import ButlerConfig
from llm_gym.policies.butler.layers import ContextQuery, DecoderBlock, EncoderBlock, Opened, masked_mean

_STEEPEST = 15.0
"""No token of the vocabulary is favoured or shunned by more than this."""
_LEAST = 1e-20
"""Of a probability, before its logarithm is taken."""


class Texts(NamedTuple):
    """Token ids of texts padded to one length."""

    ids: Tensor
    """(B, S), integers."""
    mask: Tensor
    """(B, S): 1 where there is a token."""


class Memory(NamedTuple):
    """What the decoder reads while it writes."""

    seen: Texts
    opened: Opened


class ButlerModel(nn.Module):
    """Encoder, aggregator, recurrence and decoder.

    Args:
        config: sizes.
        table: word embeddings, (V, embedding width); they stay as they are.
    """

    table: Tensor

    def __init__(self, config: ButlerConfig, table: Tensor) -> None:
        super().__init__()
        self.config = config
        width = config.width
        self.register_buffer("table", table)
        self.narrow = nn.Linear(config.embedding_width, width, bias=False)
        self.encoder = EncoderBlock(width, config.convolutions, config.kernel, config.longest)
        self.aggregator = ContextQuery(width)
        self.recurrence = nn.GRUCell(width, width)
        self.dynamics = nn.Linear(2 * width, width)
        self.decoder = DecoderBlock(width, config.target_tokens)
        self.widen = nn.Linear(width, config.embedding_width)

    def encode(self, texts: Texts, kept: Sequence[bool] | None = None) -> Tensor:
        """(B, S, D); texts that are too long in segments.

        Args:
            texts: seen, or tasks.
            kept: which layers of the encoder's block are gone through; None: all.
        """
        ids, mask = texts
        if ids.shape[1] <= self.config.longest:
            encoded: Tensor = self.encoder(self._embedded(ids), mask, kept)
            return encoded
        # Each text by its own length, or what it gives would depend on the texts beside it.
        long = mask.sum(1) > self.config.longest
        encoded = torch.zeros(*ids.shape, self.config.width)
        short = Texts(ids[~long, : self.config.longest], mask[~long, : self.config.longest])
        encoded[~long, : self.config.longest] = self.encode(short, kept)
        pieces = zip(*(torch.split(part[long], self.config.segment, 1) for part in texts), strict=True)
        encoded[long] = torch.cat([self.encoder(self._embedded(piece), there, kept) for piece, there in pieces], dim=1)
        return encoded

    def aggregate(self, seen: Texts, seen_values: Tensor, task: Texts, task_values: Tensor) -> Tensor:
        """What is seen in the light of the task, (B, S, D)."""
        aggregated: Tensor = self.aggregator(seen_values, task_values, seen.mask, task.mask)
        return aggregated

    def remember(self, aggregated: Tensor, mask: Tensor, hidden: Tensor) -> Tensor:
        """The recurrent state after one more observation; (B, S, D), (B, S), (B, D) → (B, D)."""
        remembered: Tensor = self.recurrence(masked_mean(aggregated, mask), hidden)
        return remembered

    def memory(self, seen: Texts, aggregated: Tensor, hidden: Tensor) -> Memory:
        """What is seen and what is remembered together."""
        of_seen, of_hidden = torch.split(self.dynamics.weight, self.config.width, 1)
        # A linear layer of both side by side, but what is remembered is multiplied once and not at every token.
        remembered = functional.linear(hidden, of_hidden, self.dynamics.bias)  # (B, D)
        mixed = torch.relu(functional.linear(aggregated, of_seen) + remembered[:, None, :])  # (B, S, D)
        return Memory(seen, self.decoder.read.opened(mixed))

    def shares(self, memory: Memory, written: Tensor, kept: Sequence[bool] | None = None, last: bool = False) -> Tensor:
        """Probability of every token of the vocabulary to come next, a pointer softmax: they sum to 1.

        Args:
            memory: of the states.
            written: ids of the command so far, its beginning included, (B, T).
            kept: which layers of the decoder's block are gone through; None: all.
            last: after the last token only.

        Returns:
            (B, T, V), or (B, 1, V).
        """
        values, gate, looks = self.decoder(self._embedded(written), memory.opened, memory.seen.mask, kept)
        if last:
            values, gate, looks = values[:, -1:], gate[:, -1:], looks[:, -1:]
        logits = torch.tanh(self.widen(values)) @ self.table.T  # (B, T, V)
        own = torch.softmax(logits.clamp(-_STEEPEST, _STEEPEST), dim=-1)
        places = memory.seen.ids[:, None, :].expand(-1, looks.shape[1], -1)
        mixed: Tensor = (gate * own).scatter_add(2, places, (1 - gate) * looks)
        return mixed

    def _embedded(self, ids: Tensor) -> Tensor:
        """(B, S) → (B, S, D), made as large as positions are, which would drown small embeddings otherwise.

        The whole vocabulary is made narrow at once, which is less work than each token.
        """
        return functional.embedding(ids, self.narrow(self.table) * math.sqrt(self.config.embedding_width))


def logarithms(shares: Tensor) -> Tensor:
    """Of probabilities, none of them infinite."""
    return shares.clamp_min(_LEAST).log()
