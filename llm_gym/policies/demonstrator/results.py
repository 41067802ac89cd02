"""Looking over a page of results: titles and prices are all there is to see."""

from __future__ import annotations

import math
import random
from functools import lru_cache

from llm_gym.policies.demonstrator.wish import Seen, Wish
from llm_gym.policies.lexical_match import typical_price
from llm_gym.policies.shopper import Result

_EARLY, _HEAD, _WORD, _PAIR, _RANK = 1.8, 0.3, 0.05, 0.35, 0.9
"""What adds to the appeal: the word for the thing among the first words of a title, the same anywhere, another wanted
word, two of them in a row; and what the logarithm of the rank takes. A logistic regression of what was wanted on the
first page of results."""
_FIRST = 8
"""Words of a title that name the thing, if any do."""
_WORDS, _MUCH = 2, 0.3
"""Wanted words, or the share of a wish, that make up for a title without the word for the thing."""


def appeal(wish: Wish, result: Result, rank: int) -> float:
    """How promising a result looks: the wanted words in its title, and how high it stands (`rank` counts from 0)."""
    seen = _read(result.title)
    early = _read(" ".join(result.title.split()[:_FIRST]))
    named = _EARLY * bool(wish.heads & early.words) + _HEAD * bool(wish.heads & seen.words)
    others = _WORD * len((wish.words - wish.heads) & seen.words)
    return named + others + _PAIR * len(wish.pairs & seen.pairs) - _RANK * math.log1p(rank)


@lru_cache(maxsize=8192)
def _read(title: str) -> Seen:
    return Seen.of([title])


def promises(wish: Wish, result: Result) -> float:
    """The share of the wish that the title meets; 0 for a result that costs too much."""
    affordable = wish.affordable(typical_price(result.price))
    return wish.met(_read(result.title)) if affordable else 0.0


def is_of_the_kind(wish: Wish, result: Result) -> bool:
    """Whether the title names the thing itself, or much of what is wanted of it."""
    seen = _read(result.title)
    return bool(wish.heads & seen.words) or len(wish.words & seen.words) >= _WORDS or wish.met(seen) >= _MUCH


def glance(haste: float, stream: random.Random) -> float:
    """How much better a result looks to a hurried eye than it is (Gumbel: the best by it are drawn by softmax)."""
    return -haste * math.log(-math.log(stream.uniform(1e-9, 1 - 1e-9)))
