"""From the address of a release to a store of its games."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from llm_gym.download import download
from llm_gym.envs.alfworld.annotations import Annotations, descriptions
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.reading import GameFile
from llm_gym.envs.alfworld.releases import Digests, Release, archive_name, listed, read_digests, verify
from llm_gym.envs.alfworld.sources import ANNOTATION_FILE, GAME_FILE
from llm_gym.envs.alfworld.store import GameStore, write_store
from llm_gym.errors import DataError, InvalidSetting, MissingData

_MAX_ARCHIVE_BYTES = 250_000_000
"""The largest archive of a release has 72 million."""
_RELEASE, _ANNOTATED = "release", "annotated"
"""Keys of `meta.json`."""


class Stage(NamedTuple):
    """A part of the work, and what it is counted in."""

    name: str
    in_bytes: bool


Tell = Callable[[Stage, int, int | None], None]
"""How much is done, and of how much (None: not known)."""


def installed(release: Release, target: Path, *, annotations: bool) -> GameStore | None:
    """The store of a release at `target`; None when there is nothing.

    Raises:
        InvalidSetting: there is something else, or the goals in people's words are wanted and not in it.
    """
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return None
    try:
        store = GameStore.open(target)
    except MissingData:
        raise InvalidSetting(f"{target} exists already and holds no games. Choose another folder.") from None
    found = store.meta.get(_RELEASE)
    if found != release.name:
        what = f"release {found}" if found else f"the games {store.name}"
        raise InvalidSetting(f"{target} holds {what}, not release {release.name}. Choose another folder.")
    if annotations and not store.meta.get(_ANNOTATED):
        raise InvalidSetting(f"{target} was made without annotations. Remove it to get the games with them.")
    return store


def install(release: Release, target: Path, *, annotations: bool, keep: bool, tell: Tell) -> GameStore:
    """Fetch a release, compare its games with the list, and build their store at `target`.

    The archives lie in `<target>.download` meanwhile. A call that was stopped goes on there.

    Args:
        release: what is wanted.
        target: folder of the store; it appears only when all is done.
        annotations: fetch the goals in people's words, too.
        keep: leave the archives there.
        tell: called as the work goes on.

    Raises:
        InvalidSetting: there is something else at `target`. MissingData: an archive cannot be fetched.
        DataMismatch: an archive is not that of the release. It was removed, and nothing was installed.
    """
    store = installed(release, target, annotations=annotations)
    if store is not None:
        return store
    digests = read_digests(release.digests)
    archives = target.with_name(f"{target.name}.download")
    games = _fetched(release.games, archives, None, tell)
    with _removed_unless_right(games):
        unlisted = verify(games, digests, partial(tell, Stage("comparing the games", False)))
    goals = Annotations()
    if annotations:
        annotated = _fetched(release.annotations, archives, release.annotations_sha256, tell)
        goals = _annotations(annotated, digests, tell)
    meta: dict[str, Any] = {_RELEASE: release.name, "source": games.name, "files_read": len(digests) + unlisted}
    meta |= {"left_out": {"not in the list of the release": unlisted} if unlisted else {}, "bad_games": []}
    store = write_store(target, _games(games, digests, goals, meta, tell), name=f"official-{release.name}", about=meta)
    if not keep:
        _remove(archives, release)
    return store


def _fetched(url: str, folder: Path, sha256: str | None, tell: Tell) -> Path:
    name = archive_name(url)
    progress = partial(tell, Stage(name, True))
    return download(url, folder / name, sha256=sha256, max_bytes=_MAX_ARCHIVE_BYTES, progress=progress)


@contextlib.contextmanager
def _removed_unless_right(archive: Path) -> Iterator[None]:
    try:
        yield
    except DataError as error:
        archive.unlink()
        raise type(error)(f"{error} The archive was removed, and nothing was installed.") from error


def _annotations(archive: Path, digests: Digests, tell: Tell) -> Annotations:
    goals = Annotations()
    for found in listed(archive, ANNOTATION_FILE, digests):
        goals[found.split, found.task_id] = descriptions(found.content, found.where)
        tell(Stage("reading the annotations", False), len(goals), None)
    return goals


def _games(archive: Path, digests: Digests, goals: Annotations, meta: dict[str, Any], tell: Tell) -> Iterator[Game]:
    for done, found in enumerate(listed(archive, GAME_FILE, digests), start=1):
        file = GameFile.parse(found.content, found.where)
        meta["wording"] = file.wording().name  # that of a release is one
        yield file.game(found.task_id, found.split, goals.get((found.split, found.task_id), ()))
        tell(Stage("building the store", False), done, len(digests))


def _remove(archives: Path, release: Release) -> None:
    for url in (release.games, release.annotations):
        (archives / archive_name(url)).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # something of somebody else's is in it
        archives.rmdir()
