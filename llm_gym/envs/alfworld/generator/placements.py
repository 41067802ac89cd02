"""Puts the movable things of a game into a room, and writes down what is true at its beginning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from llm_gym.envs.alfworld.generator.dice import Dice
from llm_gym.envs.alfworld.generator.geometry import Spot
from llm_gym.envs.alfworld.generator.goals import Wish
from llm_gym.envs.alfworld.generator.identities import Identities
from llm_gym.envs.alfworld.generator.rooms import Receptacle, Room, Thing, places_for
from llm_gym.envs.alfworld.generator.tables import Weights, tables
from llm_gym.envs.alfworld.problem import AGENT, Fact

_APART = 5
"""Centimetres between things in one receptacle, which lie in rows of `_ROW`."""
_ROW = 5


def initial_facts(room: Room, wish: Wish, dice: Dice) -> frozenset[Fact]:
    """All that is true at the beginning of one game of a room."""
    things = _Placer(room, wish, dice).things()
    return frozenset(
        [
            *_of_receptacles(room.receptacles),
            *_of_things(things),
            *_allowed(room, things),
            *_cool(room, things, dice),
            *_nested(room, things, dice),
            ("atlocation", AGENT, dice.pick(list(room.floor))),
        ]
    )


def may_lie(room: Room, kind: str, wish: Wish) -> dict[Receptacle, float]:
    """The receptacles where an object of a kind may lie at the beginning, with their weights."""
    places = places_for(tables().rooms[room.kind].objects[kind], room.receptacles)
    if kind != wish.object:
        return places
    behind_door = tables().wanted_behind_door
    return {
        place: weight * behind_door if place.openable else weight
        for place, weight in places.items()
        if not (wish.spares_target and place.kind == wish.target)
    }


class _Placer:
    def __init__(self, room: Room, wish: Wish, dice: Dice) -> None:
        self.room, self.wish, self.dice = room, wish, dice
        self.rows = tables().rooms[room.kind].objects
        self.identities = Identities(frozenset(thing.identity for thing in room.fixtures))
        self.filled: Counter[Receptacle] = Counter()

    def things(self) -> list[Thing]:
        kinds = [kind for kind in self.room.residents for _ in range(self._count(kind))]
        return [*self.room.fixtures, *map(self._placed, self.dice.shuffled(kinds))]

    def _count(self, kind: str) -> int:
        usual = self.rows[kind].counts
        if kind != self.wish.object:
            return self.dice.weighted(usual)
        copies = tables().tasks[self.wish.task_type].copies
        fitting = {count: weight for count, weight in copies.items() if count <= max(usual)}
        return self.dice.weighted(fitting) if fitting else min(copies)

    def _placed(self, kind: str) -> Thing:
        row = self.rows[kind]
        places = may_lie(self.room, kind, self.wish)
        if not places or self.dice.chance(row.nowhere):
            location = self.dice.pick(list(self.room.floor))
            return Thing(self.identities.take(kind, self.room.floor[location]), kind, (), location)
        place = self.dice.weighted(places)
        identity = self.identities.take(kind, self._next_spot(place))
        second = self._second(kind, place, row.also.get(place.kind, {}))
        holders = (place,) if second is None else (place, second)
        return Thing(identity, kind, tuple(holder.identity for holder in holders), place.location)

    def _next_spot(self, place: Receptacle) -> Spot:
        row, column = divmod(self.filled[place], _ROW)
        self.filled[place] += 1
        x, y, z = place.spot
        return Spot(x + column * _APART, y + 10, z + row * _APART)

    def _second(self, kind: str, first: Receptacle, also: Weights) -> Receptacle | None:
        """The receptacle where the object lies as well: a mug in the coffee machine is on the countertop below."""
        for other, share in also.items():
            near = [place for place in self.room.receptacles if place.kind == other and place != first]
            banned = kind == self.wish.object and self.wish.spares_target and other == self.wish.target
            if near and not banned and self.dice.chance(share):
                return min(near, key=lambda place: (_distance(place.spot, first.spot), place.identity))
        return None


def _distance(one: Spot, other: Spot) -> int:
    return sum((a - b) ** 2 for a, b in zip(one, other, strict=True))


def _of_receptacles(receptacles: Sequence[Receptacle]) -> Iterator[Fact]:
    for place in receptacles:
        yield "receptacletype", place.identity, f"{place.kind.lower()}type"
        yield "receptacleatlocation", place.identity, place.location
        if place.openable:
            yield "openable", place.identity


def _of_things(things: Sequence[Thing]) -> Iterator[Fact]:
    for thing in things:
        yield "objecttype", thing.identity, f"{thing.kind.lower()}type"
        yield "objectatlocation", thing.identity, thing.location
        for holder in thing.holders:
            yield "inreceptacle", thing.identity, holder
        for flag, kinds in tables().flags.items():
            if thing.kind in kinds:
                yield flag.lower(), thing.identity


def _allowed(room: Room, things: Sequence[Thing]) -> Iterator[Fact]:
    """Which kinds may be put where, of the kinds that are there."""
    kinds = {thing.kind for thing in things}
    for place in {receptacle.kind for receptacle in room.receptacles}:
        for kind in tables().contains.get(place, frozenset()) & kinds:
            yield "cancontain", f"{place.lower()}type", f"{kind.lower()}type"


def _cool(room: Room, things: Sequence[Thing], dice: Dice) -> Iterator[Fact]:
    fridges = {place.identity for place in room.receptacles if place.kind == "Fridge"}
    coolable = tables().flags["coolable"]
    for thing in things:
        if thing.kind in coolable and fridges.intersection(thing.holders) and dice.chance(tables().cool_in_fridge):
            yield "iscool", thing.identity


def _nested(room: Room, things: Sequence[Thing], dice: Dice) -> Iterator[Fact]:
    """In some games one object lies in another that is in the same receptacle."""
    pairs: dict[tuple[str, str], float] = {}
    for holder in things:
        for kind, weight in tables().inside.get(holder.kind, {}).items():
            for inner in things:
                if inner.kind == kind and inner != holder and set(inner.holders) & set(holder.holders):
                    pairs[inner.identity, holder.identity] = weight
    if pairs and dice.chance(tables().rooms[room.kind].nested):
        yield "inreceptacleobject", *dice.weighted(pairs)
