"""What is usual in a household: the tables in `data/`, measured on the 3,553 official training games.

How many receptacles of which kind a room has, which objects there are, where they lie and what can be done with them,
and what the tasks ask for. No layout is carried over: rooms are drawn from these numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

ROOM_KINDS = ("kitchen", "livingroom", "bedroom", "bathroom")
Weights = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ReceptacleTable:
    """One kind of receptacle in one kind of room.

    Attributes:
        counts: how many a room has, with the number of official rooms that have so many.
        heights: above the floor, in centimetres.
        openable: share that can be opened; it differs from one cabinet to the next.
        paired: share that is reached from the same location as another of its kind.
        beside: share that is reached from the same location as one of another kind.
    """

    counts: Mapping[int, float]
    heights: tuple[int, ...]
    openable: float
    paired: float
    beside: Weights


@dataclass(frozen=True, slots=True)
class ObjectTable:
    """One kind of object in one kind of room.

    Attributes:
        rooms: share of the rooms that have any.
        counts: how many a game has there, in percent of the games.
        nowhere: share that lies at a location, but in no receptacle.
        places: chance, per mille, that one object lies in one given receptacle of a kind.
        also: receptacle → another kind of receptacle, and how often an object in the first lies in that one too.
    """

    rooms: float
    counts: Mapping[int, float]
    nowhere: float
    places: Weights
    also: Mapping[str, Weights]


@dataclass(frozen=True, slots=True)
class RoomTable:
    """One kind of room; `nested` is the share of its games with an object in another object, a fork in a mug."""

    receptacles: Mapping[str, ReceptacleTable]
    objects: Mapping[str, ObjectTable]
    nested: float


@dataclass(frozen=True, slots=True)
class TaskTable:
    """One type of task.

    Attributes:
        copies: how many objects of the wanted kind the game has.
        rooms: kind of room → number of games.
        objects, targets: by kind of room, number of games that ask for them.
    """

    copies: Mapping[int, float]
    rooms: Weights
    objects: Mapping[str, Weights]
    targets: Mapping[str, Weights]


@dataclass(frozen=True, slots=True)
class Tables:
    """All of them.

    Attributes:
        flags: predicate → kinds of object of which it holds.
        contains: kind of receptacle → kinds of object that may be put there.
        inside: kind of object → kinds that may lie in it.
        cool_in_fridge: share of coolable objects in a fridge that are cool from the start.
        wanted_behind_door: odds that an object of the kind that the task asks for is in something that opens, for odds
            of one of any other object.
    """

    rooms: Mapping[str, RoomTable]
    tasks: Mapping[str, TaskTable]
    flags: Mapping[str, frozenset[str]]
    contains: Mapping[str, frozenset[str]]
    inside: Mapping[str, Weights]
    cool_in_fridge: float
    wanted_behind_door: float


@cache
def tables() -> Tables:
    """The tables of the package, read once."""
    things = _read("things")
    return Tables(
        rooms={kind: _room(_read(kind)) for kind in ROOM_KINDS},
        tasks={task_type: _task(raw) for task_type, raw in _read("tasks").items()},
        flags={flag: frozenset(kinds) for flag, kinds in things["flags"].items()},
        contains={receptacle: frozenset(kinds) for receptacle, kinds in things["contains"].items()},
        inside=things["inside"],
        cool_in_fridge=things["cool in a fridge"],
        wanted_behind_door=things["wanted behind a door"],
    )


def _read(name: str) -> Any:
    return json.loads((resources.files(__package__) / "data" / f"{name}.json").read_text(encoding="utf-8"))


def _room(raw: Mapping[str, Any]) -> RoomTable:
    receptacles = {
        kind: ReceptacleTable(
            _counts(row["counts"]),
            tuple(row["heights"]),
            row.get("openable", 0.0),
            row.get("paired", 0.0),
            row.get("beside", {}),
        )
        for kind, row in raw["receptacles"].items()
    }
    objects = {
        kind: ObjectTable(
            row["rooms"], _counts(row["counts"]), row.get("nowhere", 0.0), row.get("places", {}), row.get("also", {})
        )
        for kind, row in raw["objects"].items()
    }
    return RoomTable(receptacles, objects, raw["nested"])


def _task(raw: Mapping[str, Any]) -> TaskTable:
    kinds = raw["rooms"]
    return TaskTable(
        _counts(raw["copies"]),
        kinds,
        {kind: raw[kind]["objects"] for kind in kinds},
        {kind: raw[kind]["targets"] for kind in kinds},
    )


def _counts(raw: Mapping[str, float]) -> Mapping[int, float]:
    return {int(count): weight for count, weight in raw.items()}
