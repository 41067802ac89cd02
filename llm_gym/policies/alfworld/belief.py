"""What a player of ALFWorld knows: what the text has said, and what the admissible commands have given away.

Nothing here depends on who acted: each observation is taken as it comes, with the commands that are admissible then.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from llm_gym.policies.alfworld.places import known_places, word_of

_TASK = "Your task is to: "
_CONTENTS = re.compile(r"(?:On the (\S+ \d+), you see|The (\S+ \d+) is open\. In it, you see) (.*?)\.")
_LISTED = re.compile(r"\ba (\S+ \d+)")
_PICKED_UP = re.compile(r"You pick up the (\S+ \d+) from the (\S+ \d+)\.")
_TREATED = re.compile(r"You (clean|heat|cool) the (\S+ \d+) using the ")
_STATE = re.compile(r"This is a ((?:hot|cold|cool|clean)(?: and clean)?) (?:sliced )?(\S+ \d+)\.")
_TURNED_ON = re.compile(r"You turn on the (\S+ \d+)\.")
_TREATMENTS = {"hot": "heat", "cold": "cool", "cool": "cool", "clean": "clean"}
_OPPOSITE = {"heat": "cool", "cool": "heat"}
_PUT = (("move ", " to "), ("put ", " in/on "))
"""The command in the current wording, and in that of the papers."""


@dataclass
class Belief:
    """A memory of one episode, kept up to date by `see`.

    Attributes:
        places: all that are known, in the order in which they were named first.
        near: those where the player stands; several may share one location.
        visited: those where it ever stood.
        held: the thing in hand.
        shut: of places visited, whether the door is shut; one without a door is not.
        contents: of places looked into, the things seen there last.
        looked: when a place was looked into last, counted in observations.
        lamps: things that can be turned on, and the places from where.
        lit: those that somebody turned on.
        treated: what was done to a thing, of "clean", "heat" and "cool".
        refused: kinds of things and of places that do not take them.
        offered: the commands admissible now.
    """

    places: dict[str, None] = field(default_factory=dict)
    near: tuple[str, ...] = ()
    visited: set[str] = field(default_factory=set)
    held: str | None = None
    shut: dict[str, bool] = field(default_factory=dict)
    contents: dict[str, frozenset[str]] = field(default_factory=dict)
    looked: dict[str, int] = field(default_factory=dict)
    lamps: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lit: set[str] = field(default_factory=set)
    treated: dict[str, set[str]] = field(default_factory=dict)
    refused: set[tuple[str, str]] = field(default_factory=set)
    offered: frozenset[str] = frozenset()
    observations: int = 0

    def see(self, observation: str, commands: Sequence[str]) -> None:
        """Take in an observation and the commands admissible after it; the same twice teaches nothing new."""
        self.observations += 1
        self.offered = frozenset(commands)
        takes = self._locate(commands)
        self._read(observation)
        for place in self.near:
            self._inspect(place, frozenset(takes.get(place, ())))

    # -- questions ---------------------------------------------------------------------------------------------

    def put(self, place: str) -> str | None:
        """The command that puts the held thing there, in the wording of the game; None if none does now."""
        commands = (f"{verb}{self.held}{preposition}{place}" for verb, preposition in _PUT)
        return next((command for command in commands if command in self.offered), None)

    def places_of(self, word: str) -> list[str]:
        """Places of a kind."""
        return [place for place in self.places if word_of(place) == word]

    def things(self, word: str) -> list[tuple[str, str]]:
        """Things of a kind, each with a place where it was seen last."""
        return sorted(
            (thing, place)
            for place, things in self.contents.items()
            for thing in things
            if thing.startswith(word) and word_of(thing) == word
        )

    def count(self, word: str, place: str) -> int:
        """How many things of a kind were seen in a place last."""
        return sum(word_of(thing) == word for thing in self.contents.get(place, ()))

    def holds(self, word: str) -> bool:
        """Whether a thing of a kind is in hand."""
        return self.held is not None and word_of(self.held) == word

    def knows(self, word: str) -> bool:
        """Whether it is known where a thing of a kind is."""
        return self.holds(word) or bool(self.things(word))

    # -- what the commands give away ---------------------------------------------------------------------------

    def _locate(self, commands: Sequence[str]) -> dict[str, list[str]]:
        """Where the player is and what it holds; returns what can be taken from which place."""
        examined, usable = [], []
        takes: dict[str, list[str]] = {}
        for command in commands:
            verb, _, rest = command.partition(" ")
            match verb:
                case "go":
                    self.places.setdefault(rest.removeprefix("to "))
                case "examine":
                    examined.append(rest)
                case "take":
                    thing, _, place = rest.partition(" from ")
                    takes.setdefault(place, []).append(thing)
                case "use":
                    usable.append(rest)
        near = [name for name in examined if name in self.places or word_of(name) in known_places()]
        self.places.update(dict.fromkeys(near))
        self.visited.update(near)
        self.near = tuple(near)
        self.held = next((name for name in examined if name not in self.near), None)  # nothing else can be examined
        self.lamps.update(dict.fromkeys(usable, self.near))
        return takes

    def _inspect(self, place: str, takes: frozenset[str]) -> None:
        """What can be done at a place tells its door, what it holds, and what it does not take."""
        self.shut[place] = f"open {place}" in self.offered
        if self.shut[place]:
            return
        if self.held is None:
            self.contents[place] = takes
            self.looked[place] = self.observations
        elif self.put(place) is None:
            self.refused.add((word_of(self.held), word_of(place)))

    # -- what the text says ------------------------------------------------------------------------------------

    def _read(self, observation: str) -> None:
        if _TASK in observation:
            self.places.update(dict.fromkeys(_LISTED.findall(observation.partition(_TASK)[0])))
        for on, inside, listed in _CONTENTS.findall(observation):
            self.contents[on or inside] = frozenset(_LISTED.findall(listed))
            self.looked[on or inside] = self.observations
        for thing, place in _PICKED_UP.findall(observation):
            if place in self.contents:
                self.contents[place] -= {thing}
        for treatment, thing in _TREATED.findall(observation):
            self.treated.setdefault(thing, set()).add(treatment)
            self.treated[thing].discard(_OPPOSITE.get(treatment, ""))
        for state, thing in _STATE.findall(observation):
            self.treated[thing] = {_TREATMENTS[word] for word in state.split(" and ")}
        self.lit.update(_TURNED_ON.findall(observation))
