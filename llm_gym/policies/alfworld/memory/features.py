"""What the memory student reads: an errand, what is known so far, and the commands to choose among, as numbers.

Axes: A commands, F flags of a command, S flags of a state, N nouns of a state. Words are rows of a vocabulary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goals import Errand, Look
from llm_gym.policies.alfworld.memory.command import VERBS, Command, read_command
from llm_gym.policies.alfworld.places import known_places, word_of
from llm_gym.policies.stored_arrays import Floats

KINDS: Final = ("put", "clean", "heat", "cool", "two", "look")
NOUNS: Final = ("wanted", "goal", "held", "here")
"""What the errand wants, where it belongs or the lamp, what is in hand, the place where the player stands."""
PLACE_FLAGS: Final = (
    *("is goal", "near", "visited", "looked into", "shut", "refuses what is held", "has the lamp"),
    *("holds one wanted", "holds several wanted", "age of the look", "looked into longest ago"),
)
THING_FLAGS: Final = ("is wanted", "is goal", "is held", "is treated", "is lit")
COMMAND_FLAGS: Final = (*(f"place {flag}" for flag in PLACE_FLAGS), *(f"thing {flag}" for flag in THING_FLAGS))
STATE_FLAGS: Final = (
    *(f"kind {kind}" for kind in KINDS),
    *("holds something", "holds wanted", "holds treated", "wanted known", "wanted known elsewhere", "one done"),
    *("several done", "lamp known", "at the lamp", "at a goal", "nowhere", "before a shut door", "all looked into"),
)
_LONG: Final = 50
"""The age of a look, in observations, that counts as 1."""
_NO_PLACE: Final = (0.0,) * len(PLACE_FLAGS)
_NO_THING: Final = (0.0,) * len(THING_FLAGS)

Integers = npt.NDArray[np.int64]


class Vocabulary:
    """Words of things and places, numbered from 2; `UNKNOWN` stands for all others, `NONE` for no word."""

    UNKNOWN: Final = 0
    NONE: Final = 1

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self._numbers = {word: number for number, word in enumerate(self.words, 2)} | {"": self.NONE}

    def __len__(self) -> int:
        return len(self.words) + 2

    def number(self, word: str) -> int:
        return self._numbers.get(word, self.UNKNOWN)

    @classmethod
    def of_games(cls) -> Vocabulary:
        """Kinds of places in the training games, and kinds of things seen there."""
        places = known_places()
        return cls(sorted({*places, *(thing for place in places.values() for thing in place["holds"])}))


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """A state, and the commands to choose among there."""

    verbs: Integers
    """(A,): numbers of `VERBS`."""
    things: Integers
    """(A,): words."""
    places: Integers
    """(A,): words."""
    flags: Floats
    """(A, F): `COMMAND_FLAGS`, each in [0, 1]."""
    nouns: Integers
    """(N,): words of `NOUNS`."""
    state: Floats
    """(S,): `STATE_FLAGS`, each 0 or 1."""


def choices(errand: Errand, belief: Belief, commands: Sequence[str], vocabulary: Vocabulary) -> Choices:
    """Describe what can be done to somebody who remembers `belief` and is on an errand."""
    reading = [read_command(command) for command in commands]
    known = _Known.of(errand, belief)
    places = {place: known.place_flags(place) for place in dict.fromkeys(one.place for one in reading) if place}
    things = {thing: known.thing_flags(thing) for thing in dict.fromkeys(one.thing for one in reading) if thing}
    here = belief.near[0] if belief.near else ""
    nouns = (errand.thing, known.goal, word_of(belief.held or ""), word_of(here))
    return Choices(
        np.array([_VERB_NUMBERS[one.verb] for one in reading], np.int64),
        np.array([vocabulary.number(word_of(one.thing)) for one in reading], np.int64),
        np.array([vocabulary.number(word_of(one.place)) for one in reading], np.int64),
        np.array([_flags(one, places, things) for one in reading], np.float32).reshape(-1, len(COMMAND_FLAGS)),
        np.array([vocabulary.number(noun) for noun in nouns], np.int64),
        np.array(known.state_flags(), np.float32),
    )


_VERB_NUMBERS: Final = {verb: number for number, verb in enumerate(VERBS)}
Flags = tuple[float, ...]


def _flags(command: Command, places: Mapping[str, Flags], things: Mapping[str, Flags]) -> Flags:
    return (*places.get(command.place, _NO_PLACE), *things.get(command.thing, _NO_THING))


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What the flags of all commands of a state have in common."""

    errand: Errand
    belief: Belief
    goal: str
    """Word of the place where the thing belongs, or of the lamp."""
    wanted: Mapping[str, int]
    """Place → number of wanted things seen there last, where there are any."""
    lamps: frozenset[str]
    """Places from where a wanted lamp can be used."""
    oldest: int
    """When the place was looked into that was looked into longest ago, of those that are not in view."""

    @classmethod
    def of(cls, errand: Errand, belief: Belief) -> _Known:
        wanted: dict[str, int] = {}
        for _, place in belief.things(errand.thing):
            wanted[place] = wanted.get(place, 0) + 1
        goal = errand.lamp if isinstance(errand, Look) else errand.place
        lamps = frozenset(place for lamp, near in belief.lamps.items() if word_of(lamp) == goal for place in near)
        away = [place for place in belief.places if place not in belief.near or belief.shut[place]]
        oldest = min((belief.looked.get(place, 0) for place in away), default=0)
        return cls(errand, belief, goal, wanted, lamps, oldest)

    def place_flags(self, place: str) -> Flags:
        belief = self.belief
        near, count = place in belief.near, self.wanted.get(place, 0)
        looked = belief.looked.get(place, 0)
        refuses = belief.held is not None and (word_of(belief.held), word_of(place)) in belief.refused
        return (
            float(word_of(place) == self.goal),
            float(near),
            float(place in belief.visited),
            float(place in belief.contents),
            float(belief.shut.get(place, False)),
            float(refuses),
            float(place in self.lamps),
            float(count == 1),
            float(count > 1),
            min(1.0, (belief.observations - looked) / _LONG) if looked else 0.0,
            float(looked == self.oldest and not near),
        )

    def thing_flags(self, thing: str) -> Flags:
        word = word_of(thing)
        return (
            float(word == self.errand.thing),
            float(word == self.goal),
            float(thing == self.belief.held),
            float(self._is_treated(thing)),
            float(thing in self.belief.lit),
        )

    def state_flags(self) -> Flags:
        belief, goal = self.belief, self.goal
        kind = _kind(self.errand)
        done = max((count for place, count in self.wanted.items() if word_of(place) == goal), default=0)
        held = belief.held
        return (
            *(float(kind == one) for one in KINDS),
            float(held is not None),
            float(belief.holds(self.errand.thing)),
            float(held is not None and self._is_treated(held)),
            float(bool(self.wanted)),
            float(any(word_of(place) != goal for place in self.wanted)),
            float(done == 1),
            float(done > 1),
            float(bool(self.lamps)),
            float(not self.lamps.isdisjoint(belief.near)),
            float(any(word_of(place) == goal for place in belief.near)),
            float(not belief.near),
            float(any(belief.shut[place] for place in belief.near)),
            float(all(place in belief.contents for place in belief.places)),
        )

    def _is_treated(self, thing: str) -> bool:
        treatment = None if isinstance(self.errand, Look) else self.errand.treatment
        return treatment is not None and treatment in self.belief.treated.get(thing, ())


def _kind(errand: Errand) -> str:
    if isinstance(errand, Look):
        return "look"
    return errand.treatment or ("two" if errand.count > 1 else "put")
