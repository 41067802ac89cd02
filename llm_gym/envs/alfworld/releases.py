"""The public releases of the official games, and how their games are known by their bytes."""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from llm_gym.data import write_atomically
from llm_gym.envs.alfworld.reading import GameFile, reason_to_leave_out
from llm_gym.envs.alfworld.sources import GAME_FILE, Found, find_files
from llm_gym.errors import BadRecord, DataMismatch

Digests = Mapping[str, str]
"""`<split>/<task id>` → the first 16 hexadecimal digits of the SHA-256 of the game's file."""

_DIGITS = 16
_NAMED = 3
_PUBLISHED = "https://github.com/alfworld/alfworld/releases/download"


@dataclass(frozen=True, slots=True)
class Release:
    """A release of the official games.

    Attributes:
        name: its version.
        folder: of the store built from it, below the folder of official data.
        games: address of the archive of `game.tw-pddl` files; `digests` says what must be in it.
        annotations: address of the archive of `traj_data.json` files, with the goals in people's words.
        annotations_sha256: what that archive must be.
        digests: file with the digests of the games.
    """

    name: str
    folder: str
    games: str
    annotations: str
    annotations_sha256: str
    digests: Path

    def mirrored(self, base: str) -> Release:
        """The same archives, under their own names below another address."""
        base = base.rstrip("/")
        games, annotations = archive_name(self.games), archive_name(self.annotations)
        return replace(self, games=f"{base}/{games}", annotations=f"{base}/{annotations}")


def _official(name: str, folder: str, games: str) -> Release:
    return Release(
        name,
        folder,
        games=f"{_PUBLISHED}/{games}",
        annotations=f"{_PUBLISHED}/0.2.2/json_2.1.1_json.zip",
        annotations_sha256="25171f16e20ad7b048c47275c45b0babf3aa1cbab29cec97387922350a9844bc",
        digests=Path(__file__).parent / f"digests-{name}.txt.xz",
    )


RELEASES: Final[Mapping[str, Release]] = {
    "2.1.3": _official("2.1.3", "official", "0.4.2/json_2.1.3_tw-pddl.zip"),
    "2.1.1": _official("2.1.1", "official-2.1.1", "0.2.2/json_2.1.1_tw-pddl.zip"),
}
"""2.1.3 has the current wording, 2.1.1 that of the papers. The annotations are the same."""


def archive_name(url: str) -> str:
    """The last part of an address."""
    return url.rpartition("/")[2]


def listed(archive: Path, file_name: str, digests: Digests) -> Iterator[Found]:
    """The files of this name in an archive that belong to games of the list; others are passed over."""
    return (found for found in find_files(archive, file_name) if _key(found) in digests)


def verify(archive: Path, digests: Digests, tell: Callable[[int, int], None]) -> int:
    """Compare every game of an archive with the list.

    Args:
        archive: of `game.tw-pddl` files.
        digests: the list.
        tell: called with the number of games read, and of those in the list.

    Returns:
        How many games are in the archive and not in the list, such as those that cannot be solved.

    Raises:
        DataMismatch: a game of the list is missing or differs. DataError: the archive is damaged.
    """
    missing, differing, unlisted = set(digests), list[str](), set[str]()
    for found in find_files(archive, GAME_FILE):
        key = _key(found)
        if key not in digests:
            unlisted.add(key)
            continue
        missing.discard(key)
        if _digest(found.content) != digests[key]:
            differing.append(key)
        tell(len(digests) - len(missing), len(digests))
    complaints = [
        f"{len(keys):,} of {len(digests):,} {what} ({', '.join(sorted(keys)[:_NAMED])}{', …' * (len(keys) > _NAMED)})"
        for what, keys in (("differ", differing), ("are missing", missing))
        if keys
    ]
    if complaints:
        complaints += [f"{len(unlisted):,} are none of its games"] * bool(unlisted)
        raise DataMismatch(f"{archive.name} does not hold the games of the release: {'; '.join(complaints)}.")
    return len(unlisted)


def read_digests(path: Path) -> Digests:
    """The list in a file that `write_digests` has made.

    Raises:
        BadRecord: it is damaged.
    """
    try:
        lines = lzma.decompress(path.read_bytes()).decode().splitlines()
        return {key: digest for digest, key in (line.split(" ") for line in lines)}
    except (lzma.LZMAError, ValueError) as error:
        raise BadRecord(f"{path} is no list of digests: {error}. Install llm-gym again.") from error


def write_digests(source: Path, target: Path) -> int:
    """List the games of a source that belong to a panel: `<digest> <split>/<task id>` in every line, sorted, as .xz.

    The lists in this folder were made with it, from the archives of the releases:

        write_digests(Path("json_2.1.3_tw-pddl.zip"), Path("digests-2.1.3.txt.xz"))

    Returns:
        How many games are listed.
    """
    lines = sorted(
        (_key(found), _digest(found.content))
        for found in find_files(source, GAME_FILE)
        if reason_to_leave_out(found.task_id, GameFile.parse(found.content, found.where)) is None
    )
    text = "".join(f"{digest} {key}\n" for key, digest in lines)
    write_atomically(target, lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    return len(lines)


def _key(found: Found) -> str:
    return f"{found.split}/{found.task_id}"


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
