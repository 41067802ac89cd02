"""Invents a room: its furniture along the walls, what never moves, and which kinds of object belong there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from llm_gym.envs.alfworld.generator.dice import Dice
from llm_gym.envs.alfworld.generator.geometry import STRIDE, Spot, Square, Stand
from llm_gym.envs.alfworld.generator.identities import Identities, location_id
from llm_gym.envs.alfworld.generator.tables import ObjectTable, RoomTable, tables

_PART_OF = {"SinkBasin": "Sink", "BathtubBasin": "Bathtub"}
"""Receptacles that are a part of an object; the object is in no receptacle."""
_ON_THE_WALL = 160
"""Height of a fixture that is in no receptacle: a mirror, a window, a light switch."""
_FREE_STANDS = 12
_CROWD = 4
"""As many receptacles, and no more, are reached from one location."""


@dataclass(frozen=True, slots=True, eq=False)
class Receptacle:
    """One piece of furniture; several may share a location."""

    identity: str
    kind: str
    spot: Spot
    location: str
    openable: bool


@dataclass(frozen=True, slots=True)
class Thing:
    """One object; `holders` are the ids of the receptacles where it lies: none, one, or two."""

    identity: str
    kind: str
    holders: tuple[str, ...]
    location: str


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """What all games of a room share.

    Attributes:
        name: its kind and a number, `kitchen07`.
        fixtures: what nobody can move.
        residents: kinds of object that are found there, in one place today and in another tomorrow.
        floor: locations that face no receptacle, each with the point before it.
    """

    name: str
    kind: str
    receptacles: tuple[Receptacle, ...]
    fixtures: tuple[Thing, ...]
    residents: tuple[str, ...]
    floor: Mapping[str, Spot]


def make_rooms(kind: str, first: int, count: int, dice: Dice) -> list[Room]:
    """Rooms of one kind, numbered from `first`. Together they have what is usual, though each is another."""
    table = tables().rooms[kind]
    furniture = {name: dice.spread(row.counts, count) for name, row in table.receptacles.items()}
    present = {name: dice.spread({True: row.rooms, False: 1 - row.rooms}, count) for name, row in table.objects.items()}
    return [
        _Builder(
            kind,
            {name: drawn[number] for name, drawn in furniture.items()},
            [name for name, drawn in present.items() if drawn[number]],
            dice,
        ).room(f"{kind}{first + number:02}")
        for number in range(count)
    ]


def lamps_in(room: Room) -> set[str]:
    """Kinds of lamp that stand on something: others cannot be turned on."""
    return {thing.kind for thing in room.fixtures if thing.holders} & tables().flags["toggleable"]


def places_for(table: ObjectTable, receptacles: tuple[Receptacle, ...]) -> dict[Receptacle, float]:
    """How likely an object of a kind lies in each receptacle; those where it never lies are left out."""
    return {place: table.places[place.kind] for place in receptacles if place.kind in table.places}


class _Builder:
    def __init__(self, kind: str, furniture: Mapping[str, int], present: Sequence[str], dice: Dice) -> None:
        self.kind, self.furniture, self.present, self.dice = kind, furniture, present, dice
        self.table: RoomTable = tables().rooms[kind]
        self.identities = Identities()

    def room(self, name: str) -> Room:
        rows = self.table.objects
        residents = [kind for kind in self.present if kind in tables().flags["pickupable"]]
        fixed = [
            kind for kind in self.present if kind not in residents for _ in range(self.dice.weighted(rows[kind].counts))
        ]
        groups = self._groups()
        square = Square.with_stands(len(groups) + len(fixed), self.dice)
        stands = square.stands()
        receptacles, parts = self._furnished(groups, stands)
        fixtures = [*parts, *(self._fixture(kind, next(stands), receptacles) for kind in fixed)]
        free = square.away_from_walls(_FREE_STANDS, self.dice)
        floor = {location_id(stand, 0): stand.before(0, 0) for stand in free}
        return Room(name, self.kind, receptacles, tuple(fixtures), tuple(residents), floor)

    def _groups(self) -> list[list[str]]:
        """Kinds of receptacle, together where they share a location."""
        groups: dict[str, list[list[str]]] = defaultdict(list)
        for kind, row in self.table.receptacles.items():
            left = self.furniture[kind]
            while left > 0:
                # A share s of the receptacles is in pairs when each next one begins a pair with chance s / (2 - s).
                size = 2 if left > 1 and self.dice.chance(row.paired / (2 - row.paired)) else 1
                groups[kind].append([kind] * size)
                left -= size
        for kind, row in self.table.receptacles.items():
            for other, share in row.beside.items():
                hosts = [group for group in groups[other] if len(group) < _CROWD]
                if hosts and groups[kind] and self.dice.chance(share):
                    self.dice.pick(hosts).extend(groups[kind].pop())
        return self.dice.shuffled([group for each in groups.values() for group in each])

    def _furnished(
        self, groups: list[list[str]], stands: Iterator[Stand]
    ) -> tuple[tuple[Receptacle, ...], list[Thing]]:
        receptacles: list[Receptacle] = []
        parts: list[Thing] = []
        for group in groups:
            stand = next(stands)
            height = self.dice.pick(self.table.receptacles[group[0]].heights)
            location = location_id(stand, height)
            for place, kind in enumerate(group):
                row = self.table.receptacles[kind]
                spot = stand.before(place * STRIDE, self.dice.pick(row.heights))
                whole = _PART_OF.get(kind)
                identity = self.identities.take(whole or kind, spot)
                if whole is not None:
                    parts.append(Thing(identity, whole, (), location))
                    identity = f"{identity}_bar_{kind.lower()}"
                receptacles.append(Receptacle(identity, kind, spot, location, self.dice.chance(row.openable)))
        return tuple(receptacles), parts

    def _fixture(self, kind: str, stand: Stand, receptacles: tuple[Receptacle, ...]) -> Thing:
        row = self.table.objects[kind]
        places = places_for(row, receptacles)
        if not places or self.dice.chance(row.nowhere):
            identity = self.identities.take(kind, stand.before(0, _ON_THE_WALL))
            return Thing(identity, kind, (), location_id(stand, _ON_THE_WALL))
        place = self.dice.weighted(places)
        identity = self.identities.take(kind, place.spot._replace(y=place.spot.y + 10))
        return Thing(identity, kind, (place.identity,), place.location)
