"""Where games come from: a folder, an archive or one file, read file by file, with nothing unpacked to the disk."""

from __future__ import annotations

import hashlib
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from llm_gym.data import sha256_of
from llm_gym.envs.alfworld.game import SPLITS
from llm_gym.errors import BadRecord, DataError, MissingData

GAME_FILE = "game.tw-pddl"
ANNOTATION_FILE = "traj_data.json"
NO_SPLIT = "game"
"""The split of games that lie below no folder named after one."""
MAX_FILE_BYTES = 16 * 2**20
"""The largest file of a release has a seventieth of it; a bigger one is no game."""
_ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".zip")
_DAMAGED = (tarfile.TarError, zipfile.BadZipFile, lzma.LZMAError, zlib.error, EOFError, OSError)
_REFUSED = (NotImplementedError, RuntimeError)
"""Of `zipfile`: a compression that Python does not know, a password."""


class Found(NamedTuple):
    """A file of a source: `where` names it to a person, the folders above it are its split and its task id."""

    split: str
    task_id: str
    where: str
    content: bytes


def find_files(source: Path, name: str) -> Iterator[Found]:
    """All files of a source that have this name, in a fixed order for a folder and in its own order for an archive.

    The split is the last folder of the path that is named after one, the task id what stands below it.

    Raises:
        MissingData: there is no such source. BadRecord: a file is far too big. DataError: the archive is damaged.
    """
    source = source.expanduser().resolve()
    if source.is_dir():
        return _of_folder(source, name)
    if not source.is_file():
        raise MissingData(f"There is nothing at {source}. Give a folder, an archive or a {GAME_FILE}.")
    if is_archive(source):
        return _of_archive(source, name)
    if source.name == name:
        return iter([_read(source)])
    raise DataError(f"{source} is no source of games: neither a {GAME_FILE} nor an archive ({', '.join(_ARCHIVES)}).")


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(_ARCHIVES)


def archives_in(folder: Path) -> list[Path]:
    """Archives that lie in a folder, for a message to somebody who gave the folder instead of one of them."""
    return sorted(path for path in folder.iterdir() if path.is_file() and is_archive(path))


def name_of(source: Path) -> str:
    """What to call the games of a source: the name of a folder, or of an archive without its ending.

    >>> name_of(Path("worlds/games_v2.1.3.tar.xz")), name_of(Path("pick_two-Pen/trial_1/game.tw-pddl"))
    ('games_v2.1.3', 'trial_1')
    """
    if source.name == GAME_FILE:
        return source.parent.name
    endings = (ending for ending in sorted(_ARCHIVES, key=len, reverse=True) if source.name.lower().endswith(ending))
    return source.name.removesuffix(source.name[-len(ending) :]) if (ending := next(endings, "")) else source.name


def fingerprint(source: Path) -> str:
    """What changes when a source does: of an archive its bytes; of a folder names, sizes and times of its files."""
    source = source.expanduser().resolve()
    if source.is_file():
        return sha256_of(source)
    sha = hashlib.sha256(str(source).encode(errors="surrogateescape"))
    for name in (GAME_FILE, ANNOTATION_FILE):
        for path in _paths(source, name):
            status = path.stat()
            sha.update(f"{path}\0{status.st_size}\0{status.st_mtime_ns}\n".encode(errors="surrogateescape"))
    return sha.hexdigest()


def place_of(folders: tuple[str, ...]) -> tuple[str, str]:
    """Split and task id of a file from the folders above it.

    >>> place_of(("json_2.1.1", "valid_seen", "pick_two-Pen", "trial_1"))
    ('valid_seen', 'pick_two-Pen/trial_1')
    >>> place_of(("somewhere", "pick_two-Pen", "trial_1"))
    ('game', 'pick_two-Pen/trial_1')
    """
    named = [number for number, folder in enumerate(folders) if folder in SPLITS]
    below = folders[named[-1] + 1 :] if named else ()
    if below:
        return folders[named[-1]], "/".join(below)
    return NO_SPLIT, "/".join(folders[-2:])


def _of_folder(folder: Path, name: str) -> Iterator[Found]:
    return (_read(path) for path in _paths(folder, name))


def _paths(folder: Path, name: str) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        if name in files:
            yield Path(parent, name)


def _read(path: Path) -> Found:
    if path.stat().st_size > MAX_FILE_BYTES:
        raise _too_big(str(path))
    return Found(*place_of(path.parts[1:-1]), str(path), path.read_bytes())


def _of_archive(path: Path, name: str) -> Iterator[Found]:
    try:
        yield from _of_zip(path, name) if path.suffix.lower() == ".zip" else _of_tar(path, name)
    except _DAMAGED as error:
        reason = str(error).partition("\n")[0].rstrip(".:") or type(error).__name__
        raise DataError(f"{path} is damaged: {reason}. Get it again.") from error
    except _REFUSED as error:
        raise DataError(f"{path} cannot be read: {error}. Unpack it and give the folder.") from error


def _of_tar(path: Path, name: str) -> Iterator[Found]:
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isreg() and PurePosixPath(member.name).name == name:
                where = f"{path}: {member.name}"
                if member.size > MAX_FILE_BYTES:
                    raise _too_big(where)
                content = archive.extractfile(member)
                assert content is not None, "a regular file has content"
                yield Found(*_place_in(path, member.name), where, content.read())
        _read_to_the_end(archive)


def _read_to_the_end(archive: tarfile.TarFile) -> None:
    """Only there is the checksum of what was decompressed."""
    assert archive.fileobj is not None, "it is open"
    while archive.fileobj.read(2**20):
        pass


def _of_zip(path: Path, name: str) -> Iterator[Found]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if PurePosixPath(member.filename).name == name and not member.is_dir():
                where = f"{path}: {member.filename}"
                with archive.open(member) as file:
                    content = file.read(MAX_FILE_BYTES + 1)
                if len(content) > MAX_FILE_BYTES:
                    raise _too_big(where)
                yield Found(*_place_in(path, member.filename), where, content)


def _place_in(archive: Path, member: str) -> tuple[str, str]:
    """A member's path is only a name here: it opens nothing."""
    folders = tuple(part for part in PurePosixPath(member).parts[:-1] if part not in ("/", ".", ".."))
    return place_of(folders or (name_of(archive),))


def _too_big(where: str) -> BadRecord:
    return BadRecord(f"{where} is larger than {MAX_FILE_BYTES:,} bytes, which no game is.")
