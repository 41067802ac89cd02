"""A beam search that goes on from the best beginning first, as the text agent of arXiv:2010.03768 does."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Tokens = tuple[int, ...]

_EPSILON = 1e-6
"""Keeps the key of the beginning, which has no token yet, finite."""


class Written(NamedTuple):
    """A finished command."""

    tokens: Tokens
    """Without beginning and end."""
    log_probability: float
    """Of all its tokens, its end included."""


def beams(
    extend: Callable[[Tokens], npt.NDArray[np.float64]],
    end: int,
    *,
    longest: int,
    width: int = 10,
    finished: int = 5,
    most: int = 2000,
) -> list[Written]:
    """Search for likely commands; the best by mean log-probability a token first.

    Args:
        extend: log-probabilities of every token to follow these, (V,).
        end: the token that ends a command.
        longest: a command has no more tokens, its end included; a longer one is dropped.
        width: so many of the likeliest tokens are tried after each beginning.
        finished: the search stops when so many commands are whole.
        most: it stops as well when more beginnings than this wait.
    """
    waiting: list[tuple[float, Tokens, float]] = [(0.0, (), 0.0)]
    """Key, tokens, log-probability; the smallest key comes next."""
    whole: list[tuple[float, Written]] = []
    while waiting and len(waiting) <= most and len(whole) < finished:
        key, tokens, so_far = heapq.heappop(waiting)
        if tokens and tokens[-1] == end:
            whole.append((key, Written(tokens[:-1], so_far)))
            continue
        if len(tokens) == longest:
            continue
        following = extend(tokens)
        for token in _likeliest(following, width):
            together = so_far + float(following[token])
            heapq.heappush(waiting, (_key(together, len(tokens) + 1), (*tokens, token), together))
    return [written for _, written in sorted(whole)]


def _key(log_probability: float, tokens: int) -> float:
    """Minus the mean log-probability a token; smaller is better."""
    return -log_probability / (tokens + _EPSILON)


def _likeliest(following: npt.NDArray[np.float64], width: int) -> Sequence[int]:
    order: list[int] = np.argsort(-following, kind="stable")[:width].tolist()
    return order
