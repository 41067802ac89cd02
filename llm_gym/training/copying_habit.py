"""The weights that a small BART begins with, so that it copies: after a word of the instruction, the next one.

Most words of a query stand in the instruction. Large models come with heads for this ("induction heads", Olsson et al.
2022, arXiv:2209.11895); from random weights a small one needs more examples than there are to grow them. So they are
set by hand. A vector of width W has three parts: the word, the word before it, and the place.

    encoder, first layer, first head    looks at the place before, and writes down the word that it finds there
    decoder, last layer, most heads     look for places of the instruction whose word before is the one written last,
                                        and add the word that they find there to the state, more than what was in it

All other weights are random as usual, and everything is trained.
"""

from __future__ import annotations

import math
from typing import Any

from llm_gym.extras import require

_GAIN = 4.0
"""Of what is looked for: the higher, the fewer places are looked at."""
_WORD_BEFORE = 1.0
"""How strongly the encoder writes the word before."""
_FOUND = 3.0
"""How strongly the decoder adds the word that it found, against 1 for the word written last."""
_LENGTH = 1.0
"""Of the vector of a word, and of a place."""
_FASTEST, _SLOWEST = 2.0, 0.02
"""Radians from one place to the next."""


def set_copying_habit(model: Any, vectors: Any, heads: int) -> None:
    """Set the weights of a `BartForConditionalGeneration`.

    Args:
        model: has a width that is an even multiple of `heads`.
        vectors: (V, D) of the words, in the order of the model's vocabulary; alike in meaning is near.
        heads: 3 at least.
    """
    torch = require("torch", "torch")
    width = model.config.d_model
    head = width // heads
    word, before, place = slice(0, width - 2 * head), slice(width - 2 * head, width - head), slice(width - head, width)
    first, last = model.model.encoder.layers[0].self_attn, model.model.decoder.layers[-1].encoder_attn
    with torch.no_grad():
        embedding = model.model.shared.weight
        embedding.zero_()
        embedding[:, word] = _shortened(vectors, word.stop)
        for side in (model.model.encoder, model.model.decoder):
            positions = side.embed_positions.weight
            positions.zero_()
            positions[:, place] = _places(len(positions), head)
        _look(first, slice(0, head), place, _shift(head), place, _GAIN)
        _carry(first, slice(0, head), slice(0, head), before, _WORD_BEFORE)
        for start in range(0, word.stop, head):
            part = slice(start, start + head)
            _look(last, part, slice(0, head), torch.eye(head), before, _GAIN)
            _carry(last, part, part, part, _FOUND)


def _look(attention: Any, head: slice, asks: slice, turn: Any, keys: slice, gain: float) -> None:
    """A head's scores: the part `asks` of the one state, turned, times the part `keys` of the others."""
    torch = require("torch", "torch")
    for projection, part, values in (
        (attention.q_proj, asks, turn * gain),
        (attention.k_proj, keys, torch.eye(head.stop - head.start)),
    ):
        projection.weight[head] = 0
        projection.bias[head] = 0
        projection.weight[head, part] = values


def _carry(attention: Any, head: slice, source: slice, target: slice, gain: float) -> None:
    """What a head writes: the part `source` of what it looks at into the part `target` of the state."""
    same = require("torch", "torch").eye(head.stop - head.start)
    attention.v_proj.weight[head] = 0
    attention.v_proj.bias[head] = 0
    attention.v_proj.weight[head, source] = same
    attention.out_proj.weight[:, head] = 0
    attention.out_proj.weight[target, head] = same * gain


def _shortened(vectors: Any, width: int) -> Any:
    """The principal components, all made equally long so that each word is the nearest to itself; (V, D) → (V, W)."""
    torch = require("torch", "torch")
    centred = vectors - vectors.mean(dim=0)
    _, _, directions = torch.linalg.svd(centred, full_matrices=False)
    components = centred @ directions[:width].T
    return _LENGTH * components / components.norm(dim=1, keepdim=True)


def _speeds(width: int) -> Any:
    """(W / 2,) radians a place, of the pairs of sine and cosine."""
    torch = require("torch", "torch")
    return torch.logspace(math.log10(_FASTEST), math.log10(_SLOWEST), width // 2)


def _places(count: int, width: int) -> Any:
    """(count, W): sines, then cosines, of each place."""
    torch = require("torch", "torch")
    angles = torch.arange(count)[:, None] * _speeds(width)
    return _LENGTH * torch.cat([angles.sin(), angles.cos()], dim=1) / math.sqrt(width / 2)


def _shift(width: int) -> Any:
    """(W, W): turns the vector of a place into that of the place before."""
    torch = require("torch", "torch")
    sine, cosine = torch.diag(_speeds(width).sin()), torch.diag(_speeds(width).cos())
    return torch.cat([torch.cat([cosine, -sine], dim=1), torch.cat([sine, cosine], dim=1)])
