"""What the search model learns from: pairs of an instruction and a query that somebody wrote for it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from llm_gym.demonstrations import Demonstration
from llm_gym.extras import require
from llm_gym.policies.imitation.search_checkpoint import SearchSettings
from llm_gym.policies.imitation.text import process_goal, process_query

_IGNORED = -100
"""The label of what is not predicted, in torch and transformers."""
_REPLACED = 0.5
"""Share of the words that goal and query share, in a copy of a pair."""
_SEARCH = re.compile(r"search\[(.*)\]", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pair:
    """As the model reads and writes them."""

    goal: str
    query: str

    @classmethod
    def of(cls, goal: str, query: str) -> Pair:
        """Of an instruction and a query as people wrote them."""
        return cls(process_goal(goal), process_query(query))


def demonstrated_pairs(demonstrations: Iterable[Demonstration]) -> list[Pair]:
    """The searches that each demonstration begins with, of which the official ones have several.

    What was searched for after results had been seen is left out: the model does not see them.
    """
    pairs: list[Pair] = []
    for demonstration in demonstrations:
        searches = itertools.takewhile(bool, (_SEARCH.fullmatch(step.action.strip()) for step in demonstration.steps))
        found = (Pair.of(demonstration.goal, search[1]) for search in searches if search)
        pairs += [pair for pair in found if pair.query]
    return pairs


def queries_by_goal(pairs: Iterable[Pair]) -> dict[str, list[str]]:
    """All queries of each goal, in order of first appearance."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        found.setdefault(pair.goal, []).append(pair.query)
    return found


def with_other_words(pairs: Sequence[Pair], words: Sequence[str], copies: int, seed: int) -> list[Pair]:
    """The pairs, and copies in which half of the words that goal and query share are replaced, in both, by any others.

    A small model that is trained from nothing learns by these that most words of a query are copied, whichever they
    are; a large one knows.

    Args:
        pairs: of goals and queries.
        words: to draw from.
        copies: of each pair.
        seed: of the draws.
    """
    rng = np.random.default_rng(seed)
    return [*pairs, *(_renamed(pair, words, rng) for _ in range(copies) for pair in pairs)]


def _renamed(pair: Pair, words: Sequence[str], rng: np.random.Generator) -> Pair:
    asked = set(pair.query.split())
    shared = [word for word in dict.fromkeys(pair.goal.split()) if word in asked]
    drawn = [words[at] for at in rng.integers(len(words), size=len(shared))]
    other = {old: new for old, new, by in zip(shared, drawn, rng.random(len(shared)), strict=True) if by < _REPLACED}
    goal, query = (" ".join(other.get(word, word) for word in text.split()) for text in (pair.goal, pair.query))
    return Pair(goal, query)


class PairCollator:
    """A batch of pairs as tensors: `input_ids` and `attention_mask` (B, S), `labels` (B, T), -100 beyond a query."""

    def __init__(self, tokenizer: Any, settings: SearchSettings) -> None:
        self._tokenizer = tokenizer
        self._settings = settings

    def __call__(self, pairs: Sequence[Pair]) -> Mapping[str, Any]:
        require("torch", "torch")
        goals = self._encoded([pair.goal for pair in pairs], self._settings.goal_tokens)
        queries = self._encoded([pair.query for pair in pairs], self._settings.query_tokens)
        labels = queries["input_ids"].masked_fill(queries["attention_mask"] == 0, _IGNORED)
        return {"input_ids": goals["input_ids"], "attention_mask": goals["attention_mask"], "labels": labels}

    def _encoded(self, texts: list[str], tokens: int) -> Any:
        return self._tokenizer(texts, padding=True, truncation=True, max_length=tokens, return_tensors="pt")
