"""What does not change in a game: which things there are, what they are called and what can be done with them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from llm_gym.envs.alfworld.names import display_names
from llm_gym.envs.alfworld.problem import Expression, Fact, Problem
from llm_gym.envs.alfworld.state import State, Things
from llm_gym.errors import BadRecord

_SINKS = ("sinkbasintype", "sinktype")
_BLADES = ("knifetype", "butterknifetype")
_KINDS = ("object", "receptacle", "location")


@dataclass(frozen=True, slots=True, eq=False)
class House:
    """A problem made ready to be played. Objects, receptacles and locations are numbered in the order of their ids.

    Attributes:
        object_names, receptacle_names, location_names: as the text shows them, by number.
        object_types, receptacle_types: as the problem names them (`appletype`); "" where it names none.
        place: location of each receptacle.
        receptacles_at: receptacles of each location, ascending.
        accepts: the object types that each receptacle may hold.
        inner: what lies in each object that holds others (a bowl); None of an object that does not.
        sinks, microwaves, fridges: receptacles that clean, heat and cool.
        blades: objects that slice.
    """

    object_names: tuple[str, ...]
    receptacle_names: tuple[str, ...]
    location_names: tuple[str, ...]
    object_types: tuple[str, ...]
    receptacle_types: tuple[str, ...]
    place: tuple[int, ...]
    receptacles_at: tuple[tuple[int, ...], ...]
    accepts: tuple[frozenset[str], ...]
    inner: tuple[tuple[int, ...] | None, ...]
    openable: Things
    sinks: Things
    microwaves: Things
    fridges: Things
    pickupable: Things
    cleanable: Things
    heatable: Things
    coolable: Things
    toggleable: Things
    sliceable: Things
    blades: Things
    goal: Expression
    initial: State

    @classmethod
    def of(cls, problem: Problem) -> House:
        """Make a problem ready to be played.

        Raises:
            BadRecord: it begins nowhere or at two places, holds two objects, or has a receptacle without a location;
                or one thing is of two kinds or types.
        """
        return _Builder(problem).house()

    def can_hold(self, receptacle: int, thing: int) -> bool:
        return self.object_types[thing] in self.accepts[receptacle]

    def is_shut(self, receptacle: int, state: State) -> bool:
        return receptacle in self.openable and receptacle not in state.opened

    def has(self, state: State) -> bool:
        """Whether a state may be one of this house: of as many places, and with the same things somewhere."""
        sizes = len(state.contents) == len(self.place) and state.location < len(self.location_names)
        return sizes and _things_in(state) == _things_in(self.initial)


class _Builder:
    """Numbers instead of ids."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.by_predicate: dict[str, list[Fact]] = defaultdict(list)
        for fact in sorted(problem.facts):
            self.by_predicate[fact[0]].append(fact)
        kinds: dict[str, list[str]] = {kind: [] for kind in _KINDS}
        in_facts = {name for fact in problem.facts for name in fact[1:]}
        for name, kind in problem.kinds().items():
            if kind in kinds and name in in_facts:
                kinds[kind].append(name)
        self.ids = {kind: sorted(names) for kind, names in kinds.items()}
        self.number = {name: number for names in self.ids.values() for number, name in enumerate(names)}
        self.shown = display_names(name for names in self.ids.values() for name in names)

    def house(self) -> House:
        receptacle_types = self._values("receptacletype", "receptacle")
        object_types = self._values("objecttype", "object")
        place = self._places()
        accepted: dict[str, set[str]] = defaultdict(set)
        for _, receptacle_type, object_type in self.by_predicate["cancontain"]:
            accepted[receptacle_type].add(object_type)
        sets = {name: frozenset(types) for name, types in accepted.items()}
        return House(
            object_names=self._names("object"),
            receptacle_names=self._names("receptacle"),
            location_names=self._names("location"),
            object_types=object_types,
            receptacle_types=receptacle_types,
            place=place,
            receptacles_at=tuple(
                tuple(number for number, at in enumerate(place) if at == location)
                for location in range(len(self.ids["location"]))
            ),
            accepts=tuple(sets.get(name, frozenset()) for name in receptacle_types),
            inner=self._inner(),
            openable=self._things("openable"),
            sinks=_of_types(receptacle_types, *_SINKS),
            microwaves=_of_types(receptacle_types, "microwavetype"),
            fridges=_of_types(receptacle_types, "fridgetype"),
            pickupable=self._things("pickupable"),
            cleanable=self._things("cleanable"),
            heatable=self._things("heatable"),
            coolable=self._things("coolable"),
            toggleable=self._things("toggleable"),
            sliceable=self._things("sliceable"),
            blades=_of_types(object_types, *_BLADES),
            goal=self.problem.goal,
            initial=self._initial(),
        )

    def _initial(self) -> State:
        contents: list[list[int]] = [[] for _ in self.ids["receptacle"]]
        for thing, receptacle in self._pairs("inreceptacle"):
            contents[receptacle].append(thing)
        begins = [self.number[location] for _, _, location in self.by_predicate["atlocation"]]
        if len(begins) != 1:
            raise BadRecord(f"The agent of a problem begins at one location, not at {len(begins)}.")
        held = [self.number[thing] for _, _, thing in self.by_predicate["holds"]]
        if len(held) > 1:
            raise BadRecord(f"The agent of a problem holds one object at most, not {len(held)}.")
        return State(
            location=begins[0],
            held=held[0] if held else None,
            contents=tuple(tuple(sorted(things)) for things in contents),
            at=frozenset(self._pairs("objectatlocation")),
            taken=frozenset(),
            opened=self._things("opened"),
            hot=self._things("ishot"),
            cool=self._things("iscool"),
            clean=self._things("isclean"),
            sliced=self._things("issliced"),
            toggled=self._things("istoggled"),
        )

    def _names(self, kind: str) -> tuple[str, ...]:
        return tuple(self.shown[name] for name in self.ids[kind])

    def _things(self, predicate: str) -> Things:
        return frozenset(self.number[fact[1]] for fact in self.by_predicate[predicate])

    def _pairs(self, predicate: str) -> list[tuple[int, int]]:
        return [(self.number[fact[1]], self.number[fact[2]]) for fact in self.by_predicate[predicate]]

    def _values(self, predicate: str, kind: str) -> tuple[str, ...]:
        values: dict[str, str] = {}
        for _, name, value in self.by_predicate[predicate]:
            if values.setdefault(name, value) != value:
                raise BadRecord(f"{predicate} of {name} of a problem is both {values[name]} and {value}.")
        return tuple(values.get(name, "") for name in self.ids[kind])

    def _places(self) -> tuple[int, ...]:
        places = self._values("receptacleatlocation", "receptacle")
        if "" in places:
            raise BadRecord(f"Receptacle {self.ids['receptacle'][places.index('')]} of a problem is at no location.")
        return tuple(self.number[place] for place in places)

    def _inner(self) -> tuple[tuple[int, ...] | None, ...]:
        holders = self._things("isreceptacleobject")
        inside: dict[int, list[int]] = defaultdict(list)
        for thing, holder in self._pairs("inreceptacleobject"):
            inside[holder].append(thing)
        return tuple(
            tuple(sorted(inside[number])) if number in holders else None for number in range(len(self.ids["object"]))
        )


def _things_in(state: State) -> set[int | None]:
    return {state.held, None}.union(*state.contents)


def _of_types(types: tuple[str, ...], *wanted: str) -> Things:
    return frozenset(number for number, name in enumerate(types) if name in wanted)
