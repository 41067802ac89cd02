"""What the network reads of a goal: words, pairs of words, what rules make of them, and what furniture the room has."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from llm_gym.policies.alfworld.goals import Errand, Look, Put, Treatment
from llm_gym.policies.alfworld.paraphrases import readings

KINDS: Final = ("pick", "clean", "heat", "cool", "look", "two")
"""The short names of the kinds of task."""
LOOK: Final = KINDS.index("look")
_TREATMENTS: Final[dict[str, Treatment]] = {"clean": "clean", "heat": "heat", "cool": "cool"}
_TWO: Final = 2
_WORD = re.compile(r"[a-z0-9]+")
_BEGINS, _ENDS = "<", ">"
_RULES: Final = 3
"""So many readings by rules are shown; the network learns how far to trust the first."""


def tokens(goal: str, places: Collection[str]) -> frozenset[str]:
    """All that is read of a goal.

    Args:
        goal: a sentence.
        places: the kinds of places of the room: a "table" is another thing in a kitchen than in a bedroom.
    """
    words = _WORD.findall(goal.lower())
    pairs = pairwise([_BEGINS, *words, _ENDS])
    ruled = readings(goal, places)[:_RULES]
    by_rules = (
        f"{name}{'' if rank == 0 else '?'}={part}" for rank, one in enumerate(ruled) for name, part in _parts(one)
    )
    return frozenset(
        [*words, *(f"{first} {second}" for first, second in pairs), *by_rules, *(f"@{at}" for at in places)]
    )


def kind_of(errand: Errand) -> str:
    """The kind of task that an errand is, of `KINDS`."""
    if isinstance(errand, Look):
        return KINDS[LOOK]
    return errand.treatment or ("two" if errand.count == _TWO else "pick")


def target_of(errand: Errand) -> str:
    """Where the thing goes: the kind of place, or of lamp."""
    return errand.lamp if isinstance(errand, Look) else errand.place


def errand_of(kind: str, thing: str, target: str) -> Errand:
    """The errand of which `kind_of` and `target_of` are these."""
    if kind == KINDS[LOOK]:
        return Look(thing, target)
    return Put(thing, target, _TWO if kind == "two" else 1, _TREATMENTS.get(kind))


def _parts(errand: Errand) -> tuple[tuple[str, str], ...]:
    return ("kind", kind_of(errand)), ("thing", errand.thing), ("target", target_of(errand))
