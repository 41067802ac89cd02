"""What an instruction asks for, taken apart once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from llm_gym.envs.webshop.goals import query_of
from llm_gym.policies.lexical_match import price_limit, words

Pair = frozenset[str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """An instruction without its opening and its price clause."""

    text: str
    words: tuple[str, ...]
    """In order, each once."""
    pairs: frozenset[Pair]
    """Words that stand side by side, in either order."""
    limit: float | None
    """In dollars."""


@lru_cache(maxsize=1024)
def wanted(goal: str) -> Wanted:
    """The instruction `goal` taken apart."""
    text = query_of(goal).lower()
    found = words(text)
    return Wanted(text, tuple(dict.fromkeys(found)), pairs(found), price_limit(goal))


def pairs(found: tuple[str, ...]) -> frozenset[Pair]:
    """Words that stand side by side, in either order: people also write "wood solid".

    >>> pairs(("wood", "solid", "solid")) == {frozenset(("solid", "wood"))}
    True
    """
    return frozenset(frozenset(pair) for pair in pairwise(found) if pair[0] != pair[1])
