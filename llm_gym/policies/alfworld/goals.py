"""What a goal of ALFWorld asks for, read from its sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Treatment = Literal["clean", "heat", "cool"]


@dataclass(frozen=True, slots=True)
class Put:
    """Put `count` things of a kind into one place of a kind, treated before; all in the words of the text."""

    thing: str
    place: str
    count: int = 1
    treatment: Treatment | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """Hold a thing of a kind where a lamp of a kind is lit."""

    thing: str
    lamp: str


Errand = Put | Look

_TEMPLATES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"put (?:a|some) (?P<thing>\S+) (?:in|on) (?P<place>\S+)",
        r"put a (?P<state>clean|hot|cool) (?P<thing>\S+) in (?P<place>\S+)",
        r"(?P<state>clean|heat|cool) some (?P<thing>\S+) and put it in (?P<place>\S+)",
        r"(?:put|find) (?P<two>two) (?P<thing>\S+) (?:and put them )?in (?P<place>\S+)",
        r"look at (?P<thing>\S+) under the (?P<lamp>\S+)",
        r"examine the (?P<thing>\S+) with the (?P<lamp>\S+)",
    )
)
"""The sentences of the releases, without their full stop."""
_TREATMENTS: Final[dict[str, Treatment]] = {"clean": "clean", "hot": "heat", "heat": "heat", "cool": "cool"}


def read_goal(sentence: str) -> Errand | None:
    """The errand of a goal; None if the sentence is none of the releases' own.

    >>> read_goal("put a hot mug in coffeemachine.")
    Put(thing='mug', place='coffeemachine', count=1, treatment='heat')
    """
    sentence = sentence.strip().removesuffix(".")
    for template in _TEMPLATES:
        if match := template.fullmatch(sentence):
            found = match.groupdict()
            if "lamp" in found:
                return Look(found["thing"], found["lamp"])
            count = 2 if "two" in found else 1
            return Put(found["thing"], found["place"], count, _TREATMENTS.get(found.get("state", "")))
    return None
