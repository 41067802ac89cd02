"""The layers of the text agent: those of QANet (arXiv:1804.09541), one block each, with one head of attention.

Axes: B texts, S tokens read, T tokens written, D width. A mask is 1 where there is a token and 0 where there is none;
nothing that a text gives depends on how far it was padded.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor, nn

_NEVER = -1e9


def positions(length: int, width: int) -> Tensor:
    """Sines, then cosines, of wavelengths from 2π to 20,000π tokens; (S, D)."""
    rates = torch.exp(torch.arange(width // 2) * (-math.log(10_000.0) / max(width // 2 - 1, 1)))
    angles = torch.arange(length)[:, None] * rates  # (S, D / 2)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def masked_mean(values: Tensor, mask: Tensor) -> Tensor:
    """Mean over the tokens that there are; (B, S, D), (B, S) → (B, D)."""
    return (values * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True).clamp_min(1)


class Convolution(nn.Module):
    """A depth-wise convolution, then a point-wise one."""

    def __init__(self, width: int, kernel: int) -> None:
        super().__init__()
        self.depthwise = nn.Conv2d(width, width, (1, kernel), padding=(0, kernel // 2), groups=width, bias=False)
        self.pointwise = nn.Linear(width, width)

    def forward(self, values: Tensor, mask: Tensor) -> Tensor:
        """(B, S, D), (B, S) → (B, S, D)."""
        silent = values * mask[:, :, None]  # else a text would see its padding
        # As a picture of height 1: (B, D, 1, S), of which torch has the faster kernel.
        spread: Tensor = self.depthwise(silent.transpose(1, 2).unsqueeze(2)).squeeze(2).transpose(1, 2)
        convolved: Tensor = torch.relu(self.pointwise(spread))
        return convolved


class Opened(NamedTuple):
    """Keys and values of what attention is asked."""

    keys: Tensor
    """(B, D, S)."""
    values: Tensor
    """(B, S, D)."""


class Attention(nn.Module):
    """Scaled dot-product attention with one head."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width, bias=False) for _ in range(4))

    def opened(self, asked: Tensor) -> Opened:
        """What is asked, made ready for any number of questions; (B, S, D)."""
        return Opened(self.key(asked).transpose(1, 2), self.value(asked))

    def forward(self, asking: Tensor, opened: Opened, allowed: Tensor) -> tuple[Tensor, Tensor]:
        """What each position finds, and where it looks.

        Args:
            asking: (B, T, D).
            opened: of S positions.
            allowed: (B, T, S) or (B, 1, S), 1 where a position may look.

        Returns:
            (B, T, D), and weights that sum to 1, (B, T, S).
        """
        scores = self.query(asking / math.sqrt(asking.shape[-1])) @ opened.keys  # (B, T, S)
        weights = torch.softmax(scores + (1 - allowed) * _NEVER, dim=-1)
        found: Tensor = self.out(weights @ opened.values)
        return found, weights


class FeedForward(nn.Module):
    """Two layers, each position by itself."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner, self.outer = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, values: Tensor) -> Tensor:
        """(B, S, D) → (B, S, D)."""
        outer: Tensor = self.outer(torch.relu(self.inner(values)))
        return outer


class EncoderBlock(nn.Module):
    """Positions, convolutions, self-attention, feed-forward: each after a layer norm, added to what it was given."""

    def __init__(self, width: int, convolutions: int, kernel: int, longest: int) -> None:
        super().__init__()
        self.register_buffer("positions", positions(longest, width), persistent=False)
        self.convolutions = nn.ModuleList(Convolution(width, kernel) for _ in range(convolutions))
        self.attention = Attention(width)
        self.feed_forward = FeedForward(width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(self.layers))

    @property
    def layers(self) -> int:
        return len(self.convolutions) + 2

    def forward(self, values: Tensor, mask: Tensor, kept: Sequence[bool] | None = None) -> Tensor:
        """(B, S, D), (B, S) → (B, S, D).

        Args:
            values: of the tokens.
            mask: of the tokens.
            kept: which of the layers are gone through; None: all.
        """
        values = values + self.get_buffer("positions")[: values.shape[1]]
        for number, norm in enumerate(self.norms):
            if kept is None or kept[number]:
                values = values + self._layer(number, norm(values), mask)
        return values

    def _layer(self, number: int, values: Tensor, mask: Tensor) -> Tensor:
        if number < len(self.convolutions):
            layer: Tensor = self.convolutions[number](values, mask)
        elif number == len(self.convolutions):
            layer, _ = self.attention(values, self.attention.opened(values), mask[:, None, :])
        else:
            layer = self.feed_forward(values)
        return layer


class ContextQuery(nn.Module):
    """What of the task matters at each token of the observation (QANet, section 2.2)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.of_context, self.of_query = (nn.Parameter(torch.zeros(width)) for _ in range(2))
        # At first the scaled dot product: a word of the task finds itself before anything is learned.
        self.of_both = nn.Parameter(torch.full((width,), 1 / math.sqrt(width)))
        self.out = nn.Linear(4 * width, width)

    def forward(self, context: Tensor, query: Tensor, context_mask: Tensor, query_mask: Tensor) -> Tensor:
        """(B, S, D), (B, Q, D), (B, S), (B, Q) → (B, S, D), between -1 and 1."""
        likeness = (context * self.of_both) @ query.transpose(1, 2)  # (B, S, Q)
        likeness = likeness + (context @ self.of_context)[:, :, None] + (query @ self.of_query)[:, None, :]
        to_query = torch.softmax(likeness + (1 - query_mask)[:, None, :] * _NEVER, dim=2)
        to_context = torch.softmax(likeness + (1 - context_mask)[:, :, None] * _NEVER, dim=1)
        found = to_query @ query  # (B, S, D)
        back = to_query @ (to_context.transpose(1, 2) @ context)
        return torch.tanh(self.out(torch.cat([context, found, context * found, context * back], dim=2)))


class DecoderBlock(nn.Module):
    """Positions, self-attention to what is written, attention to what is read, feed-forward."""

    layers = 3

    def __init__(self, width: int, longest: int) -> None:
        super().__init__()
        self.register_buffer("positions", positions(longest, width), persistent=False)
        self.register_buffer("earlier", torch.tril(torch.ones(longest, longest)), persistent=False)
        self.written, self.read = Attention(width), Attention(width)
        self.feed_forward = FeedForward(width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(self.layers))
        self.gate_read, self.gate_written = nn.Linear(width, width), nn.Linear(width, width)
        self.gate = nn.Linear(width, 1)

    def forward(
        self, values: Tensor, memory: Opened, memory_mask: Tensor, kept: Sequence[bool] | None = None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What is known at each token written so far, of the one that comes next.

        Args:
            values: of the tokens written, (B, T, D).
            memory: of the tokens read, as `read` opens them.
            memory_mask: (B, S).
            kept: which of self-attention, attention and feed-forward are added; None: all.

        Returns:
            Its description (B, T, D), the chance that it is of the vocabulary and not copied (B, T, 1), and of each
            token read the chance that it is the one copied (B, T, S).
        """
        length = values.shape[1]
        values = values + self.get_buffer("positions")[:length]
        normed = self.norms[0](values)
        own, _ = self.written(normed, self.written.opened(normed), self.get_buffer("earlier")[:length, :length])
        values = values + own if kept is None or kept[0] else values
        # The pointer needs where it looks, so this is computed even where nothing of it is added.
        found, looks = self.read(self.norms[1](values), memory, memory_mask[:, None, :])
        gate = torch.sigmoid(self.gate(torch.tanh(self.gate_read(found) + self.gate_written(values))))
        values = values + found if kept is None or kept[1] else values
        values = values + self.feed_forward(self.norms[2](values)) if kept is None or kept[2] else values
        return values, gate, looks
