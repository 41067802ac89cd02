"""The history of an episode as the network reads it: what was done and what was seen, as the text has it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from llm_gym.core import Info
from llm_gym.envs.alfworld.wording import NOTHING_HAPPENS
from llm_gym.policies.alfworld.memory.command import VERBS, read_command
from llm_gym.policies.alfworld.memory.features import Vocabulary
from llm_gym.policies.alfworld.places import known_places

Integers = np.ndarray[Any, np.dtype[np.int32]]

SEE, CLOSED, REFUSED = "see", "closed", "refused"
KINDS: Final = (*VERBS, SEE, CLOSED, REFUSED)
"""Of events: a command that was taken, or what was seen."""
ROW: Final = 5
"""Numbers of an event: its kind, then word and number of the thing and of the place."""
NUMBERS: Final = 40
"""Numbers of things from 1; a higher one counts as this one. 0 stands for none."""
_GOAL_WORDS: Final = "a and at clean cool examine find heat hot in it look on put some the them two under with"
_KIND_NUMBERS: Final = {kind: number for number, kind in enumerate(KINDS)}
_LISTED: Final = re.compile(r"\ban? (\S+ \d+)")
_SEEN: Final = re.compile(
    r"(?:On the (?P<on>\S+ \d+), you see|The (?P<in>\S+ \d+) is open\. In it, you see|You are carrying:) "
    r"(?P<list>.*?)\."
)
_SHUT: Final = re.compile(r"The (\S+ \d+) is closed\.")


class Event(NamedTuple):
    """Something done, or seen; where it names nothing the name is empty."""

    kind: str
    thing: str = ""
    place: str = ""


def sights(observation: str) -> list[Event]:
    """What an observation shows: one event a thing, one for a place that holds nothing, one for a closed door.

    >>> sights("You arrive at shelf 2. On the shelf 2, you see a pen 1, and a mug 3.")
    [Event(kind='see', thing='pen 1', place='shelf 2'), Event(kind='see', thing='mug 3', place='shelf 2')]
    """
    events = [Event(CLOSED, place=place) for place in _SHUT.findall(observation)]
    for found in _SEEN.finditer(observation):
        place = found["on"] or found["in"] or ""
        things = _LISTED.findall(found["list"]) or [""]
        events += [Event(SEE, thing, place) for thing in things]
    return events


def deed(command: str, observation: str) -> Event:
    """A command that was taken, and whether anything came of it."""
    verb, thing, place = read_command(command)
    return Event(REFUSED if observation == NOTHING_HAPPENS else verb, thing, place)


def known_words() -> Vocabulary:
    """Words of the goals, kinds of places in the training games and kinds of things seen there."""
    places = known_places()
    things = (thing for place in places.values() for thing in place["holds"])
    return Vocabulary(sorted({*_GOAL_WORDS.split(), *places, *things}))


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A state of an episode, in numbers.

    Axes: G words of the goal, E events since the last command, A admissible commands.
    """

    goal: Integers
    """(G,)"""
    events: Integers
    """(E, ROW)"""
    commands: Integers
    """(A, ROW)"""
    counts: Integers
    """(A,): how often each was taken in this episode."""


class History:
    """Follows one episode. A state that is shown twice, with nothing done in between, is the same moment."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._rows: dict[Event, tuple[int, ...]] = {}
        self._taken: Counter[str] = Counter()
        self._last: str | None = None

    def see(self, observation: str, info: Info) -> Moment:
        """The state as it is shown."""
        page = info.get("page", observation)
        commands = info.get("admissible_actions") or []
        events = sights(page) if self._last is None else [deed(self._last, page), *sights(page)]
        words = re.findall("[a-z]+", info.get("goal", "").lower())
        return Moment(
            goal=np.array([self._vocabulary.number(word) for word in words], np.int32),
            events=self._table(events),
            commands=self._table(Event(*read_command(command)) for command in commands),
            counts=np.array([self._taken[command] for command in commands], np.int32),
        )

    def did(self, command: str) -> None:
        """Somebody took a command in the state that was shown last."""
        self._last = command
        self._taken[command] += 1

    def _table(self, events: Iterable[Event]) -> Integers:
        return np.array([self._row(event) for event in events], np.int32).reshape(-1, ROW)

    def _row(self, event: Event) -> tuple[int, ...]:
        row = self._rows.get(event)
        if row is None:
            kind, *names = event
            row = self._rows[event] = (_KIND_NUMBERS[kind], *(part for name in names for part in self._name(name)))
        return row

    def _name(self, name: str) -> tuple[int, int]:
        word, _, number = name.rpartition(" ")
        return self._vocabulary.number(word), min(int(number), NUMBERS) if number.isdecimal() else 0
