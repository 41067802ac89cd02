"""The official product files, read as a stream: memory does not grow with them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from llm_gym.data import sha256_of
from llm_gym.envs.webshop.json_stream import Damaged, list_elements, object_items
from llm_gym.envs.webshop.product import RecordError
from llm_gym.errors import BadRecord, MissingData

_ENCODING = "utf-8-sig"  # some editors put a byte order mark before the text
_SUFFIXES = ("", "_1000", "_100", "_100000")


@dataclass(frozen=True, slots=True)
class OfficialFiles:
    """Where the official files of one world are."""

    products: Path
    mined: Path | None
    """Attributes and synthetic instructions; without it every product has the attribute DUMMY_ATTR."""
    human: Path | None
    """Human instructions."""
    settings: Path | None
    """Name and splits of an invented catalogue."""

    @classmethod
    def find(cls, folder: Path) -> OfficialFiles:
        """The files of a folder, under the names of the original release; the full world before the small ones.

        Raises:
            MissingData: the folder or its product file is not there.
        """
        if not folder.is_dir():
            raise MissingData(f"{folder} is not a folder.")
        for suffix in _SUFFIXES:
            products = folder / f"items_shuffle{suffix}.json"
            if products.is_file():
                mined = _existing(folder, f"items_ins_v2{suffix}.json", "items_ins_v2.json")
                human = _existing(folder, f"items_human_ins{suffix}.json", "items_human_ins.json")
                return cls(products, mined, human, _existing(folder, "catalogue.json"))
        raise MissingData(f"{folder} holds neither items_shuffle.json nor items_shuffle_1000.json.")

    def digests(self) -> dict[str, str]:
        """SHA-256 of each file, by file name."""
        paths = (self.products, self.mined, self.human, self.settings)
        return {path.name: sha256_of(path) for path in paths if path is not None}


def _existing(folder: Path, *names: str) -> Path | None:
    return next((folder / name for name in names if (folder / name).is_file()), None)


def stream_rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Number (from 1) and value of each element of a JSON list.

    Raises:
        BadRecord: the file ends early or is no JSON list; the message says after which record.
    """
    number = 0
    with path.open(encoding=_ENCODING) as file:
        try:
            for number, row in enumerate(list_elements(file), start=1):
                yield number, row
        except Damaged as error:
            raise BadRecord(f"{path}: damaged or cut off after record {number:,} ({error}).") from error


class Lookup:
    """A JSON object of many entries as a table on disk, so that 1.2 million entries cost no memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.found = 0

    def get(self, key: str) -> Any:
        """The entry, or None."""
        row = self._connection.execute("SELECT value FROM entries WHERE key = ?", (_key(key),)).fetchone()
        if row is None:
            return None
        self.found += 1
        return json.loads(row[0])

    def __len__(self) -> int:
        return int(self._connection.execute("SELECT count(*) FROM entries").fetchone()[0])


@contextmanager
def lookup(path: Path | None, table: Path) -> Iterator[Lookup]:
    """The entries of a JSON object, by key; a key that occurs twice has its last value. None: no entries.

    Args:
        path: the JSON file.
        table: where the table is kept for as long as the context lasts.

    Raises:
        BadRecord: the file ends early or is no JSON object.
    """
    with closing(sqlite3.connect(table, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("CREATE TABLE entries (key BLOB PRIMARY KEY, value TEXT)")
        if path is not None:
            connection.execute("BEGIN")
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", _entries(path))
            connection.execute("COMMIT")
        yield Lookup(connection)
    table.unlink()


def _entries(path: Path) -> Iterator[tuple[bytes, str]]:
    number = 0
    with path.open(encoding=_ENCODING) as file:
        try:
            for number, (key, value) in enumerate(object_items(file), start=1):  # noqa: B007
                yield _key(key), json.dumps(value)
        except Damaged as error:
            raise BadRecord(f"{path}: damaged or cut off after entry {number:,} ({error}).") from error


def _key(text: str) -> bytes:
    """A key as the table holds it; half a surrogate pair, which JSON can write, is a key like any other."""
    return text.encode("utf-8", "surrogatepass")


def read_settings(path: Path | None) -> dict[str, Any]:
    """The `catalogue.json` of an invented catalogue; empty for the official files."""
    if path is None:
        return {}
    try:
        settings = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{path}: not JSON ({error}).") from error
    if not isinstance(settings, dict):
        raise BadRecord(f"{path}: should be an object.")
    return settings


def mined_entry(value: Any) -> dict[str, Any] | None:
    """An entry of the attribute file, checked to be an object."""
    if value is not None and not isinstance(value, dict):
        raise RecordError(f"its entry in the attribute file should be an object, is {type(value).__name__}")
    return value
