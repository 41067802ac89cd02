"""Files of demonstrations: a header that says where they were made, then one line of JSON each.

A name that ends in `.gz` is compressed. Files are read as a stream and never hold more than data.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import gymnasium as gym
import orjson

import llm_gym
from llm_gym.data import atomic_path
from llm_gym.demonstrations.record import Demonstration
from llm_gym.envs.base import panel_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.evaluation.plan import described
from llm_gym.evaluation.records import encoded

FORMAT, VERSION = "llm_gym demonstrations", 1
_COMPRESSED = ".gz"
_COMPRESSION = 6


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a file."""

    environment: str = ""
    """Id; empty for demonstrations from elsewhere, as the official ones."""
    description: Mapping[str, Any] = field(default_factory=dict)
    """What the environment says about itself, digests of its data included."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """How they were made: who demonstrated, with which seed, which were kept."""

    @classmethod
    def of(cls, env: gym.Env[Any, Any], **origin: Any) -> Header:
        """The header of demonstrations that are made in this environment.

        Raises:
            InvalidSetting: it is no text environment.
        """
        panel_of(env)
        world: Any = env.unwrapped
        kind = type(world)
        identity = env.spec.id if env.spec else f"{kind.__module__}:{kind.__qualname__}"
        return cls(identity, described(world.description()), described(origin))

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "version": VERSION,
            "llm_gym_version": llm_gym.__version__,
            "environment": self.environment,
            "description": dict(self.description),
            "origin": dict(self.origin),
        }

    @classmethod
    def from_json(cls, row: object, where: str) -> Header:
        """The header of a first line.

        Raises:
            BadRecord: it is none, or one of another version.
        """
        if not isinstance(row, Mapping) or row.get("format") != FORMAT:
            raise BadRecord(f'{where}: no header. A file of demonstrations begins with {{"format": "{FORMAT}", …}}.')
        if row.get("version") != VERSION:
            raise BadRecord(f"{where}: format version {row.get('version')!r:.80}; this llm_gym reads {VERSION}.")
        environment, description, origin = row.get("environment"), row.get("description"), row.get("origin", {})
        if not isinstance(environment, str) or not isinstance(description, dict) or not isinstance(origin, dict):
            raise BadRecord(f'{where}: the header lacks "environment", "description" or "origin" as it is written.')
        return cls(environment, description, origin)


@dataclass(frozen=True, slots=True)
class Demonstrations:
    """A file of demonstrations. Each iteration reads it anew from its beginning, one line at a time."""

    path: Path
    header: Header

    def __iter__(self) -> Iterator[Demonstration]:
        """The demonstrations in the order of the file.

        Raises:
            BadRecord: a line is no demonstration, or cut off; the message names file and line.
        """
        for number, line in _lines(self.path):
            if number > 1:
                where = f"{self.path}, line {number}"
                yield Demonstration.from_json(_parsed(line, where), where)


def read_demonstrations(path: str | Path) -> Demonstrations:
    """Open a file: the header is read and checked at once, the demonstrations when they are iterated over.

    Raises:
        MissingData: there is no such file.
        BadRecord: it is empty, or its first line is no header of this version.
    """
    path = Path(path)
    first = next(_lines(path), None)
    if first is None:
        raise BadRecord(f"{path} is empty: it has not even a header.")
    where = f"{path}, line 1"
    return Demonstrations(path, Header.from_json(_parsed(first[1], where), where))


def write_demonstrations(path: str | Path, demonstrations: Iterable[Demonstration], header: Header) -> int:
    """Write a file, or leave the old one as it was when something fails on the way.

    Args:
        path: compressed if it ends in `.gz`. Equal demonstrations give equal bytes.
        demonstrations: taken one by one, so that they need not fit into memory.
        header: where and how they were made.

    Returns:
        How many were written.

    Raises:
        InvalidSetting: there is none to write.
        BadRecord: one of them could not be read back, such as one without a step.
    """
    path, count = Path(path), 0
    with atomic_path(path) as temporary, _written(temporary, compressed=_is_compressed(path)) as file:
        file.write(encoded(header.to_json()))
        for count, demonstration in enumerate(demonstrations, start=1):
            row = demonstration.to_json()
            Demonstration.from_json(row, f"{path}, demonstration {count} ({demonstration.task_id})")
            file.write(encoded(row))
        if not count:
            raise InvalidSetting(f"There is no demonstration to write to {path}: none was made, or none was kept.")
    return count


def check_world(header: Header, description: Mapping[str, Any], name: str = "These demonstrations") -> None:
    """See that demonstrations belong to the data of an environment, by the digests that both tell.

    Demonstrations that know no digest, as the official ones, belong anywhere.

    Args:
        header: of the demonstrations.
        description: of the environment, as its `description()` says.
        name: of the demonstrations, for the message.

    Raises:
        DataMismatch: they were made with other data.
    """
    for key, here in description.items():
        there = header.description.get(key)
        if key.endswith("digest") and there is not None and there != here:
            raise DataMismatch(
                f"{name} were made with other data: {key} {there} ({_data_name(header.description)}) there, "
                f"{here} ({_data_name(description)}) here. Choose the environment that they were made in, or make new "
                "ones in this one."
            )


def _data_name(description: Mapping[str, Any]) -> str:
    return str(description.get("catalogue") or description.get("games") or "without a name")


def _parsed(line: bytes, where: str) -> Any:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{where}: not JSON in UTF-8 ({error}).") from None


def _is_compressed(path: Path) -> bool:
    return path.suffix.lower() == _COMPRESSED


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number, from 1, and content of each line."""
    try:
        with gzip.open(path) if _is_compressed(path) else path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    raise BadRecord(f"{path}, line {number}: cut off, the file is not whole. Make or copy it again.")
                yield number, line
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise MissingData(f"{path} is no file. Demonstrations are written by `llm-gym demos record`.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BadRecord(f"{path} is damaged or cut off ({error}). Make or copy it again.") from None


@contextmanager
def _written(path: Path, *, compressed: bool) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        if not compressed:
            yield file
            return
        # No name and no time in it: equal content gives equal bytes.
        with gzip.GzipFile("", "wb", _COMPRESSION, file, mtime=0) as packed, io.BufferedWriter(packed) as buffer:
            yield buffer
