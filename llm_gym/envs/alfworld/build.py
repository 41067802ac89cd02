"""Builds a game store from a folder, an archive or a single game."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from llm_gym.envs.alfworld.annotations import Annotations, read_annotations
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.reading import GameFile, reason_to_leave_out
from llm_gym.envs.alfworld.sources import GAME_FILE, NO_SPLIT, archives_in, find_files, name_of
from llm_gym.envs.alfworld.store import GameStore, write_store
from llm_gym.errors import BadRecord, MissingData

Progress = Callable[[int], None]
"""Called with the number of games read."""


def no_progress(done: int) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Tally:
    """What became of the files."""

    read: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)
    wordings: set[str] = field(default_factory=set)


def build_store(
    source: Path,
    target: Path,
    *,
    annotations: Path | None = None,
    skip_bad: bool = False,
    progress: Progress = no_progress,
) -> GameStore:
    """Build the store of the games in `source` at `target`, which appears only when all is done.

    Games that the original leaves out are left out and counted; a single file is taken whatever it says.

    Args:
        source: the folder, the archive or the file.
        target: folder of the store.
        annotations: a folder or an archive of `traj_data.json`; None: those that lie beside games in a folder.
        skip_bad: count games that break the format and leave them out, instead of stopping at the first.
        progress: called after each game.

    Raises:
        MissingData: there is no source, or no game in it. BadRecord: a game breaks the format; the message names it.
        InvalidSetting: `target` exists already.
    """
    source = source.expanduser().resolve()
    tally, meta = Tally(), dict[str, Any]()
    beside = source.parent if source.name == GAME_FILE else source
    goals = read_annotations(annotations or beside) if annotations or beside.is_dir() else {}

    def games() -> Iterator[Game]:
        yield from _games(source, goals, skip_bad, tally, progress)
        if tally.read == len(tally.bad) + tally.left_out.total():
            raise _no_games(source, tally)
        meta.update(_about(source, tally))

    return write_store(target, games(), name=name_of(source), about=meta)


def _games(source: Path, annotations: Annotations, skip_bad: bool, tally: Tally, progress: Progress) -> Iterator[Game]:
    for found in find_files(source, GAME_FILE):
        tally.read += 1
        try:
            file = GameFile.parse(found.content, found.where)
            reason = None if source.name == GAME_FILE else reason_to_leave_out(found.task_id, file)
            if reason is not None:
                tally.left_out[reason] += 1
                continue
            game = file.game(found.task_id, found.split, annotations.get((found.split, found.task_id), ()))
        except BadRecord as error:
            if not skip_bad:
                raise BadRecord(f"{error} Mend it or leave damaged games out (--skip-bad).") from error
            tally.bad.append(str(error))
            continue
        tally.wordings.add(file.wording().name)
        yield replace(game, split=NO_SPLIT) if source.name == GAME_FILE else game
        progress(tally.read)


def _about(source: Path, tally: Tally) -> dict[str, Any]:
    return {
        "source": source.name,
        "wording": "mixed" if len(tally.wordings) > 1 else next(iter(tally.wordings)),
        "files_read": tally.read,
        "left_out": dict(sorted(tally.left_out.items())),
        "bad_games": tally.bad,
    }


def _no_games(source: Path, tally: Tally) -> MissingData:
    if tally.read:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in tally.left_out.items())
        return MissingData(f"{source} holds {tally.read:,} games, but none to play: {reasons or 'all are damaged'}.")
    archives = archives_in(source) if source.is_dir() else []
    hint = f" Give one of its archives instead, such as {archives[0]}." if archives else ""
    return MissingData(f"0 games: no {GAME_FILE} is in {source} or in a folder below it.{hint}")
