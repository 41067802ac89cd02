"""Observation and info as arrays; pure functions. K actions have a place, D is the width of a candidate's vector."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from llm_gym.core import Info
from llm_gym.policies.indexed.candidates import Candidate
from llm_gym.policies.indexed.encoders import Floats, encoded
from llm_gym.policies.indexed.past import Past
from llm_gym.policies.indexed.settings import NUMBERS, IndexedSettings
from llm_gym.policies.lexical_match import words

Arrays = dict[str, npt.NDArray[np.float32] | npt.NDArray[np.int8]]
"""`text` (3·dimensions,), `actions` (K·D,), `action_mask` (K,)."""
_KEPT = 32_768
"""Pairs of goal and candidate that are not read again."""


class Read(NamedTuple):
    """What a candidate has in common with the goal."""

    own: frozenset[str]
    """Its words, as `lexical_match` compares them."""
    meant: frozenset[str]
    """Those of them that stand in the goal."""
    stands_in_goal: bool
    """All of it, word by word."""


def features(settings: IndexedSettings, observation: str, info: Info, shown: Sequence[Candidate], past: Past) -> Arrays:
    """The arrays of one state.

    Args:
        settings: their shapes.
        observation: as the world, or a wrapper, words it.
        info: its goal is read.
        shown: the candidates that have a place: at most K; with none, the mask opens the first place, which leads
            nowhere, since SB3 wants one.
        past: what was done so far.
    """
    goal = info.get("goal", "")
    actions = np.zeros((settings.k, settings.candidate_width), np.float32)  # (K, D)
    mask = np.zeros(settings.k, np.int8)
    mask[: max(1, len(shown))] = 1
    if shown:
        actions[: len(shown), : settings.dimensions] = [_encoded(settings, one.text) for one in shown]
        actions[: len(shown), settings.dimensions :] = numbers_of(shown, goal, observation, past)
    return {
        "text": np.concatenate([_mean(settings, texts) for texts in ([goal], [observation], past.texts)]),
        "actions": actions.reshape(-1),
        "action_mask": mask,
    }


def numbers_of(shown: Sequence[Candidate], goal: str, observation: str, past: Past) -> Floats:
    """What is counted of each candidate, in the order of `NUMBERS`, each in [0, 1]; (candidates, numbers).

    - of_it_in_goal, of_goal_in_it: the share of its words that stand in the goal, and of the goal's in it.
    - against_best: its words in the goal against those of the candidate that has most.
    - stands_in_goal: 1 where the goal holds it word by word.
    - of_it_in_observation, of_it_in_last_action: the share of its words that stand there.
    - new_of_goal: the share of the goal's words in it that are in no action taken so far.
    - taken, taken_here: n / (n + 1) of n times in the episode, and where the same was seen.
    - early: 1 for the first, near 0 for the last.
    """
    goal_size = max(1, len(frozenset(words(goal))))
    around, last = frozenset(words(observation)), past.last_words
    rows = []
    for place, one in enumerate(shown):
        own, meant, stands = _read(goal, one.subject)
        size = max(1, len(own))
        taken, here = past.taken[one.action], past.taken_here[observation, one.action]
        rows.append(
            (
                len(meant) / size,
                len(meant) / goal_size,
                len(meant),
                stands,
                len(own & around) / size,
                len(own & last) / size,
                len(meant - past.words) / goal_size,
                taken / (taken + 1),
                here / (here + 1),
                1 - place / len(shown),
            )
        )
    numbers = np.array(rows, np.float32).reshape(len(shown), len(NUMBERS))
    best = NUMBERS.index("against_best")
    numbers[:, best] /= max(1.0, float(numbers[:, best].max(initial=0.0)))
    return numbers


@lru_cache(maxsize=_KEPT)
def _read(goal: str, subject: str) -> Read:
    own = frozenset(words(subject))
    return Read(own, own & frozenset(words(goal)), f" {_plain(subject)} " in f" {_plain(goal)} ")


def _mean(settings: IndexedSettings, texts: Sequence[str]) -> Floats:
    """The mean of their vectors, 0 of none; (dimensions,)."""
    if not texts:
        return np.zeros(settings.dimensions, np.float32)
    mean: Floats = np.mean([_encoded(settings, text) for text in texts], axis=0)
    return mean


def _encoded(settings: IndexedSettings, text: str) -> Floats:
    return encoded(settings.encoder, settings.dimensions, text)


def _plain(text: str) -> str:
    """Its words in order, without what stands between them."""
    return " ".join(re.findall(r"\w+", text.lower()))
