"""How many games of which type each split has, and in which rooms they are played."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from llm_gym.envs.alfworld.generator.dice import Dice
from llm_gym.envs.alfworld.generator.goals import Wish
from llm_gym.envs.alfworld.generator.placements import may_lie
from llm_gym.envs.alfworld.generator.rooms import Room, lamps_in, make_rooms
from llm_gym.envs.alfworld.generator.tables import ROOM_KINDS, Weights, tables
from llm_gym.envs.alfworld.tasks import TASK_TYPES

T = TypeVar("T")

_TRAIN_ROOMS, _UNSEEN_ROOMS = 12, 4
"""Of each kind of room."""
_ATTEMPTS = 100
_SPLITS: Mapping[str, float] = {"train": 300, "valid_seen": 60, "valid_unseen": 134}
_TYPES: Mapping[str, Sequence[float]] = {
    "train": (790, 650, 459, 533, 308, 813),
    "valid_seen": (35, 27, 16, 25, 13, 24),
    "valid_unseen": (24, 31, 23, 21, 18, 17),
}
"""Numbers of official games, in the order of `TASK_TYPES`."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What to invent; equal settings give equal games.

    Attributes:
        games: of all splits together.
        seed: everything random hangs on it.
    """

    games: int = 494
    seed: int = 1

    def __post_init__(self) -> None:
        fewest = len(_SPLITS) * len(TASK_TYPES)
        if self.games < fewest:
            raise ValueError(f"games must be at least {fewest}, one of each type in each split; got {self.games}")

    @property
    def name(self) -> str:
        return f"invented-{self.games}-{self.seed}"


class Order(NamedTuple):
    """A game to be made; no other game of its room has its number."""

    split: str
    room: Room
    wish: Wish
    number: int


def orders(settings: Settings) -> Iterator[Order]:
    """All games of all splits. Those of `valid_unseen` are played in rooms that no other split has."""
    known = _rooms(settings.seed, 1, _TRAIN_ROOMS)
    unknown = _rooms(settings.seed, _TRAIN_ROOMS + 1, _UNSEEN_ROOMS)
    numbers: Counter[str] = Counter()
    for split, games in apportioned(settings.games, _SPLITS, len(TASK_TYPES)).items():
        rooms = unknown if split == "valid_unseen" else known
        played: Counter[str] = Counter()
        shares = dict(zip(TASK_TYPES, _TYPES[split], strict=True))
        for task_type, wanted in apportioned(games, shares, 1).items():
            dice = Dice(settings.seed, "plan", split, task_type)
            able = {room: found for room in rooms if (found := wishes(task_type, room))}
            for _ in range(wanted):
                room, wish = _next(task_type, able, played, dice)
                numbers[room.name] += 1
                played[room.name] += 1
                yield Order(split, room, wish, numbers[room.name])


def apportioned(total: int, shares: Mapping[T, float], fewest: int) -> dict[T, int]:
    """Whole numbers in proportion to the shares, each at least `fewest`, with `total` as their sum.

    >>> apportioned(60, {"a": 35, "b": 27, "c": 78}, 1)
    {'a': 15, 'b': 12, 'c': 33}
    """
    exact = {name: total * share / sum(shares.values()) for name, share in shares.items()}
    counts = {name: max(fewest, int(number)) for name, number in exact.items()}
    while (missing := total - sum(counts.values())) != 0:
        step = 1 if missing > 0 else -1
        free = [name for name, number in counts.items() if number + step >= fewest]
        counts[max(free, key=lambda name: step * (exact[name] - counts[name]))] += step
    return counts


def wishes(task_type: str, room: Room) -> dict[str, dict[str, float]]:
    """Object → target → weight: what a task may ask for in a room; empty where it cannot be set."""
    table = tables().tasks[task_type]
    targets = table.targets.get(room.kind, {})
    able = {kind: _targets(Wish(task_type, kind, ""), room, targets) for kind in room.residents}
    return {kind: able[kind] for kind in table.objects.get(room.kind, {}) if able.get(kind)}


def _targets(wish: Wish, room: Room, targets: Weights) -> dict[str, float]:
    if wish.task_type == "look_at_obj_in_light":
        there = lamps_in(room)
    else:
        kinds = {place.kind for place in room.receptacles}
        there = {kind for kind in kinds if wish.object in tables().contains.get(kind, ())}
    return {
        target: weight
        for target, weight in targets.items()
        if target in there and may_lie(room, wish.object, Wish(wish.task_type, wish.object, target))
    }


def _rooms(seed: int, first: int, number: int) -> list[Room]:
    """So many rooms of each kind, numbered from `first`; every type of task can be set in some of them."""
    for attempt in range(_ATTEMPTS):
        dice = Dice(seed, "rooms", first, attempt)
        rooms = [room for kind in ROOM_KINDS for room in make_rooms(kind, first, number, dice)]
        if all(any(wishes(task_type, room) for room in rooms) for task_type in TASK_TYPES):
            return rooms
    raise AssertionError("nearly every draw has a bedroom with a lamp on a table")


def _next(
    task_type: str, able: Mapping[Room, Mapping[str, Weights]], played: Mapping[str, int], dice: Dice
) -> tuple[Room, Wish]:
    """A task of this type, in the room of a drawn kind that has been played in least."""
    table = tables().tasks[task_type]
    kinds = {room.kind for room in able}
    kind = dice.weighted({kind: weight for kind, weight in table.rooms.items() if kind in kinds})
    room = min(dice.shuffled([room for room in able if room.kind == kind]), key=lambda room: played[room.name])
    thing = dice.weighted({thing: table.objects[kind][thing] for thing in able[room]})
    return room, Wish(task_type, thing, dice.weighted(able[room][thing]))
