"""The game store: thousands of games in a few files, each read on its own in a fraction of a millisecond.

meta.json    format, name, digest, counts, where the games come from
index.bin    what can be listed without reading a game: ids, task types, where each record ends; compressed JSON
records.bin  the houses, then the games; one compressed JSON record each

What a game says of its house is the same in many games and stands in one record for all of them.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from llm_gym.data import new_folder
from llm_gym.envs.alfworld.game import SPLITS, Game
from llm_gym.envs.alfworld.packing import Packed, fixed_part, ids_of, nested, pack, unpack
from llm_gym.envs.alfworld.problem import Fact, Problem
from llm_gym.envs.alfworld.scenes import SCENE_SPLITS, in_scenes, stored_split
from llm_gym.errors import BadRecord, DataError, DataMismatch, MissingData, UnknownName

FORMAT = "alfworld-games-1"
_META, _INDEX, _RECORDS = "meta.json", "index.bin", "records.bin"
_META_KEYS = ("name", "digest", "games")
_SAMPLES = 8
"""So many records, evenly spread, are the dictionary that all are compressed with."""
_MAX_BYTES = 64 * 2**20
_UNREADABLE = (zlib.error, orjson.JSONDecodeError, ValueError, IndexError, KeyError, TypeError)


class Entry(NamedTuple):
    """What a list of games shows of one."""

    task_id: str
    task_type: str
    annotations: int


class _House(NamedTuple):
    """What the games of a house have in common, and the ids in it."""

    facts: frozenset[Fact]
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Index:
    """index.bin."""

    splits: dict[str, list[Entry]]
    houses: list[int]
    """The house of each game."""
    house_sizes: list[int]
    game_sizes: list[int]
    house_samples: bytes
    game_samples: bytes

    def to_bytes(self) -> bytes:
        columns = {split: list(zip(*entries, strict=True)) for split, entries in self.splits.items()}
        samples = self.house_samples.decode(), self.game_samples.decode()
        content = columns, self.houses, self.house_sizes, self.game_sizes, *samples
        return zlib.compress(orjson.dumps(content), 9)

    @classmethod
    def from_bytes(cls, content: bytes) -> _Index:
        splits, houses, house_sizes, game_sizes, *samples = orjson.loads(_inflated(content, b""))
        entries = {split: [Entry(*row) for row in zip(*columns, strict=True)] for split, columns in splits.items()}
        if not sum(map(len, entries.values())) == len(houses) == len(game_sizes):
            raise ValueError("its lists differ in length")
        return cls(entries, houses, house_sizes, game_sizes, *(sample.encode() for sample in samples))


class GameStore:
    """A folder of games. Reading is safe from many threads and processes; nothing is ever written."""

    def __init__(self, folder: Path, meta: dict[str, Any], index: _Index, records: bytes) -> None:
        self.folder = folder
        self.meta = meta
        self.name: str = meta["name"]
        self.digest: str = meta["digest"]
        self._index = index
        self._records = records
        self._ends = [0, *accumulate([*index.house_sizes, *index.game_sizes])]
        places = ((split, entry.task_id) for split, entries in index.splits.items() for entry in entries)
        self._positions = {place: position for position, place in enumerate(places)}
        self._house = lru_cache(maxsize=None)(self._read_house)
        self._in_scenes = lru_cache(maxsize=None)(self._read_scenes)

    @classmethod
    def open(cls, folder: Path) -> GameStore:
        """Open a built store, in milliseconds.

        Raises:
            MissingData: there is no store. DataMismatch: it has another format. DataError: it is damaged.
        """
        try:
            meta = orjson.loads((folder / _META).read_bytes())
            if meta["format"] != FORMAT:
                raise DataMismatch(
                    f"{folder} has store format {meta['format']!r:.30}, this version reads {FORMAT!r}. Build it again."
                )
            missing = [key for key in _META_KEYS if key not in meta]
            if missing:
                raise ValueError(f"{missing[0]} is missing in {_META}")
            store = cls(
                folder, meta, _Index.from_bytes((folder / _INDEX).read_bytes()), (folder / _RECORDS).read_bytes()
            )
            if store._ends[-1] != len(store._records):
                raise ValueError(f"{_RECORDS} has {len(store._records):,} bytes instead of {store._ends[-1]:,}")
        except FileNotFoundError as error:
            raise MissingData(f"{folder} holds no game store (no {Path(error.filename).name}).") from error
        except _UNREADABLE as error:
            raise DataError(f"The game store {folder} is damaged: {error}. Build it again.") from error
        return store

    @property
    def splits(self) -> Mapping[str, int]:
        """The splits that hold a game, and how many."""
        return {split: len(entries) for split, entries in self._index.splits.items()}

    def entries(self, split: str) -> Sequence[Entry]:
        """The games of a split, or of one of `SCENE_SPLITS`, sorted by id; empty when there are none.

        Raises:
            InvalidSetting, MissingData: the rooms of this store cannot be divided.
        """
        return self._in_scenes(split) if split in SCENE_SPLITS else self._index.splits.get(split, ())

    def game(self, split: str, task_id: str) -> Game:
        """A game, read from its record. `game.split` is the one in which it is stored.

        Raises:
            UnknownName: the split holds no such game. DataError: the record is damaged.
        """
        split, named = stored_split(split), split
        position = self._positions.get((split, task_id))
        if position is None:
            raise UnknownName(f"game of {named!r}", task_id, [entry.task_id for entry in self.entries(named)])
        house = self._index.houses[position]
        record = self._record(len(self._index.house_sizes) + position, self._index.game_samples, task_id)
        try:
            return _game(record, split, task_id, self._house(house))
        except _UNREADABLE as error:
            raise self._damaged(task_id, error) from error

    def _read_scenes(self, split: str) -> Sequence[Entry]:
        entries = self.entries(stored_split(split))
        chosen = in_scenes(split, [entry.task_id for entry in entries])
        return [entry for entry in entries if entry.task_id in chosen]

    def _read_house(self, number: int) -> _House:
        if not 0 <= number < len(self._index.house_sizes):
            raise ValueError(f"it has no house {number}")
        return _house(self._record(number, self._index.house_samples, f"house {number}"))

    def _record(self, number: int, samples: bytes, what: str) -> Any:
        try:
            return orjson.loads(_inflated(self._records[self._ends[number] : self._ends[number + 1]], samples))
        except _UNREADABLE as error:
            raise self._damaged(what, error) from error

    def _damaged(self, what: str, error: Exception) -> DataError:
        return DataError(f"The game store {self.folder} is damaged ({what}: {error}). Build it again.")


def is_store(folder: Path) -> bool:
    """Whether a store is there, maybe a damaged one."""
    return (folder / _META).is_file()


def write_store(folder: Path, games: Iterable[Game], *, name: str, about: Mapping[str, Any]) -> GameStore:
    """Write the store of these games; `folder` appears only when all is done.

    Args:
        folder: must not exist yet.
        games: in any order.
        name: of the store.
        about: further keys of `meta.json`; read after the last game, so that they may be counted meanwhile.

    Raises:
        InvalidSetting: there is something at `folder` already. BadRecord: a game comes twice, or cannot be written.
        MissingData: there is no game.
    """
    with new_folder(folder) as workshop:
        writer = _Writer()
        for game in games:
            writer.add(game)
        writer.save(workshop, name, about)
    return GameStore.open(folder)


class _Written(NamedTuple):
    entry: Entry
    record: bytes
    house: bytes
    digest: bytes


class _Writer:
    """Games as records, not compressed yet; about two kilobytes each."""

    def __init__(self) -> None:
        self.houses: dict[frozenset[Fact], tuple[bytes, _House]] = {}
        self.games: dict[tuple[str, str], _Written] = {}
        """Split and id → what is written of it."""

    def add(self, game: Game) -> None:
        place = game.split, game.task_id
        if place in self.games:
            raise BadRecord(f"There are two games {game.task_id} in split {game.split}.")
        fixed = fixed_part(game.problem.facts)
        if fixed not in self.houses:
            house = orjson.dumps(tuple(pack(fixed)))
            self.houses[fixed] = house, _house(orjson.loads(house))
        house, read_back = self.houses[fixed]
        record = _record_of(game, fixed, read_back.ids)
        readable = game.task_id.isprintable() and "#" not in game.task_id
        if not readable or _game(orjson.loads(record), *place, read_back) != game:
            raise BadRecord(
                f"Game {game.task_id!r:.200} cannot be stored: a name holds a blank, a # or a character that cannot be "
                "printed."
            )
        entry = Entry(game.task_id, game.task_type, len(game.annotations))
        self.games[place] = _Written(entry, record, house, digest_of(game))

    def save(self, folder: Path, name: str, about: Mapping[str, Any]) -> None:
        if not self.games:
            raise MissingData(f"There is no game to put into a store ({name}).")
        places = sorted(self.games, key=_place_order)
        games = [self.games[place] for place in places]
        entries: dict[str, list[Entry]] = {}
        for (split, _), game in zip(places, games, strict=True):
            entries.setdefault(split, []).append(game.entry)
        houses, records = sorted({game.house for game in games}), [game.record for game in games]
        number = {house: position for position, house in enumerate(houses)}
        house_samples, game_samples = _samples(houses), _samples(records)
        packed_houses = [_deflated(house, house_samples) for house in houses]
        packed_games = [_deflated(record, game_samples) for record in records]
        index = _Index(
            splits=entries,
            houses=[number[game.house] for game in games],
            house_sizes=list(map(len, packed_houses)),
            game_sizes=list(map(len, packed_games)),
            house_samples=house_samples,
            game_samples=game_samples,
        )
        meta = {
            "format": FORMAT,
            "name": name,
            "digest": hashlib.sha256(b"".join(game.digest for game in games)).hexdigest()[:16],
            "games": {split: Counter(entry.task_type for entry in listed) for split, listed in entries.items()},
            "annotated": sum(game.entry.annotations > 0 for game in games),
            **about,
        }
        (folder / _INDEX).write_bytes(index.to_bytes())
        (folder / _RECORDS).write_bytes(b"".join([*packed_houses, *packed_games]))
        (folder / _META).write_bytes(orjson.dumps(meta, option=orjson.OPT_INDENT_2))


def digest_of(game: Game) -> bytes:
    """SHA-256 of all that a game holds, as JSON; that of a store is the digest of those of its games in order."""
    problem = game.problem
    world = problem.name, sorted(problem.facts), problem.goal
    told = game.goal, game.walkthrough, game.annotations, game.solvable
    return hashlib.sha256(orjson.dumps((game.split, game.task_id, *world, *told))).digest()


def _record_of(game: Game, house: frozenset[Fact], ids: Sequence[str]) -> bytes:
    problem = game.problem
    own = pack(problem.facts - house, ids)
    content = (problem.name, problem.goal, game.goal, game.walkthrough, game.annotations, game.solvable, *own)
    return orjson.dumps(content)


def _house(record: Any) -> _House:
    facts = unpack(Packed(*record))
    return _House(facts, ids_of(facts))


def _game(record: Any, split: str, task_id: str, house: _House) -> Game:
    name, expression, goal, walkthrough, annotations, solvable, *own = record
    problem = Problem(name, house.facts | unpack(Packed(*own), house.ids), nested(expression))
    commands = None if walkthrough is None else tuple(walkthrough)
    return Game(task_id, split, goal, problem, commands, tuple(annotations), solvable)


def _place_order(place: tuple[str, str]) -> tuple[int, str, str]:
    split, task_id = place
    return SPLITS.index(split) if split in SPLITS else len(SPLITS), split, task_id


def _samples(records: Sequence[bytes]) -> bytes:
    """Records that share much with the others, the nearest at hand last."""
    return b"".join(records[:: max(1, len(records) // _SAMPLES)][:_SAMPLES])[-32_000:]


def _deflated(content: bytes, samples: bytes) -> bytes:
    packer = zlib.compressobj(9, zdict=samples)
    return packer.compress(content) + packer.flush()


def _inflated(content: bytes, samples: bytes) -> bytes:
    unpacker = zlib.decompressobj(zdict=samples)
    inflated = unpacker.decompress(content, _MAX_BYTES)
    if not unpacker.eof:
        raise ValueError("a record ends too early or is too long")
    return inflated
