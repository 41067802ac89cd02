"""How well each value of an option agrees with an instruction, as numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from llm_gym.envs.webshop.reward import COLORS
from llm_gym.policies.lexical_match import words
from llm_gym.policies.matching.wanted import Wanted

Floats = npt.NDArray[np.float64]

_OWN = (
    "stands in the text",
    "is stated as name: value",
    "words found",
    "share of words found",
    "words missing",
    "words in a row",
    "telling words found",
    "numbers missing",
    "colour found",
    "characters in common",
    "word set ratio",
)
OPTION_FEATURES = (
    *_OWN,
    *(f"{name}, less the best of the others" for name in _OWN),
    "values",
    "name found",
    "words",
)


def option_features(wanted: Wanted, name: str, values: Sequence[str]) -> Floats:
    """A row for each value; (values, features)."""
    texts = [value.lower() for value in values]
    parts = [words(text) for text in texts]
    common = set.intersection(*map(set, parts)) if len(parts) > 1 else set()
    own = np.array([_own(wanted, name, text, part, common) for text, part in zip(texts, parts, strict=True)])
    partial = cdist(texts, [wanted.text], scorer=fuzz.partial_ratio, dtype=np.float64)
    token_set = cdist(texts, [wanted.text], scorer=fuzz.token_set_ratio, dtype=np.float64)
    own = np.hstack([own, partial / 100, token_set / 100])
    found = sum(word in wanted.words for word in words(name))
    group = [[len(values), found, len(part)] for part in parts]
    return np.hstack([own, own - _best_of_others(own), np.array(group, np.float64)])


def _own(wanted: Wanted, name: str, text: str, part: tuple[str, ...], common: set[str]) -> list[float]:
    sought = wanted.words
    matched = {word for word in part if word in sought}
    numbers = [word for word in part if word[0].isdecimal() and word not in matched]
    color = next((color for color in COLORS if color in text), None)
    padded = f" {wanted.text} "
    return [
        len(text) if f" {text} " in padded or f" {text}," in padded else 0,
        f"{name}: {text}, and " in f"{wanted.text}, and ",
        len(matched),
        len(matched) / len(part) if part else 0,
        len(set(part)) - len(matched),
        longest_row(part, wanted),
        len(matched - common),
        len(numbers),
        0 if color is None else (1 if color in wanted.text else -1),
    ]


def longest_row(part: tuple[str, ...], wanted: Wanted) -> int:
    """How many words of a text stand side by side in the instruction as well, at most."""
    best = row = 0
    for before, word in zip(("", *part), part, strict=False):
        if word not in wanted.words:
            row = 0
            continue
        row = row + 1 if frozenset((before, word)) in wanted.pairs else 1
        best = max(best, row)
    return best


def _best_of_others(own: Floats) -> Floats:
    """For each row and column the largest number of the other rows; the row's own where there is no other."""
    if len(own) < 2:
        return own
    by_size = np.sort(own, axis=0)
    largest, second = by_size[-1], by_size[-2]
    best: Floats = np.where(own == largest, second, largest)
    return best
