"""A run folder: the plan, and the episodes as they are finished.

- `plan.json`: what is played; written first
- `episodes.jsonl`: one row an episode, in panel order once the run is finished
- `failures.jsonl`: the traceback of every episode that ended by an exception
- `timings.jsonl`: wall seconds of every episode
- `report.md`: the metrics as a person reads them, written when the run is finished
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path

from llm_gym.data import write_atomically
from llm_gym.errors import BadRecord, MissingData, PlanMismatch, RunFolderError
from llm_gym.evaluation.access import LOCK_NAME, locked, writing
from llm_gym.evaluation.attempts import complete
from llm_gym.evaluation.plan import Plan
from llm_gym.evaluation.records import (
    EPISODE,
    FAILURE,
    TIMING,
    Attempt,
    Played,
    Records,
    Row,
    attempt_of,
    key_of,
    latest,
    lines,
    read_rows,
    refuse_duplicates,
)

logger = logging.getLogger(__name__)

PLAN, EPISODES, FAILURES, TIMINGS = "plan.json", "episodes.jsonl", "failures.jsonl", "timings.jsonl"
REPORT = "report.md"


class RunFolder:
    """A run folder that this process may write. Made by `opened`."""

    def __init__(self, path: Path, plan: Plan, attempts: Sequence[Attempt]) -> None:
        self.path, self.plan = path, plan
        self._positions = {attempt: position for position, attempt in enumerate(attempts)}

    def records(self) -> Records:
        """What is finished, in panel order: whole attempts without an error. All others have to be played (again).

        Raises:
            BadRecord: a row is malformed, or of a task that the plan does not play.
        """
        found = read_records(self.path)
        attempts: dict[Attempt, list[Row]] = {}
        for number, row in enumerate(found.episodes, start=1):
            attempts.setdefault(attempt_of(row), []).append(row)
            if attempt_of(row) not in self._positions:
                place = f"{self.path / EPISODES}, line {number}"
                raise BadRecord(f"{place}: the plan has no task {row['task_id']!r}, repeat {row['repeat']}.")
        kept = {attempt for attempt, rows in attempts.items() if complete(rows, self.plan.trials)}
        return self._sorted(found, kept)

    def keep_only(self, finished: Records) -> None:
        """Rewrite the files without what will be played again and without half lines, so that rows can be appended."""
        with writing(self.path):
            write_records(self.path, finished)

    def append(self, attempt: Sequence[Played]) -> None:
        """Add a finished attempt. Its episodes are written last: they are what makes it count at resume.

        Raises:
            RunFolderError: the disk is full or the like; everything appended before is still there.
        """
        failures = lines(played.failure() for played in attempt if played.traceback is not None)
        with writing(self.path):
            _append(self.path / FAILURES, failures)
            _append(self.path / TIMINGS, lines(played.timing() for played in attempt))
            _append(self.path / EPISODES, lines(played.row for played in attempt))

    def finish(self) -> Records:
        """Bring the rows into panel order, each file in one step; returns all of them."""
        found = read_records(self.path)
        records = self._sorted(found, set(self._positions))
        with writing(self.path):
            write_records(self.path, records)
        return records

    def write_report(self, text: str) -> None:
        """Put the metrics beside the rows, for people."""
        with writing(self.path):
            write_atomically(self.path / REPORT, f"```\n{text.rstrip()}\n```\n".encode())

    def _sorted(self, records: Records, kept: set[Attempt]) -> Records:
        """Rows of the kept attempts in panel order; failures and timings only where the episode still says so."""
        episodes = [row for row in records.episodes if attempt_of(row) in kept]
        errors = {key_of(row) for row in episodes if row["ended_by"] == "error"}
        every = {key_of(row) for row in episodes}
        return Records(
            self._in_order(episodes),
            self._in_order([row for row in latest(records.failures) if key_of(row) in errors]),
            self._in_order([row for row in latest(records.timings) if key_of(row) in every]),
        )

    def _in_order(self, rows: list[Row]) -> tuple[Row, ...]:
        return tuple(sorted(rows, key=lambda row: (self._positions[attempt_of(row)], row["trial"])))


@contextmanager
def opened(path: Path, plan: Plan, attempts: Sequence[Attempt]) -> Iterator[RunFolder]:
    """Make or enter a run folder, locked against other processes until the block ends.

    Args:
        path: an empty or missing folder, or one with the same plan.
        plan: what is played.
        attempts: every unit of work, in panel order.

    Raises:
        PlanMismatch: the folder holds another plan's results.
        RunFolderError: it holds foreign files, is no folder, cannot be written or is being written by another process.
    """
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    with locked(path):
        claim(path, plan)
        _remove_parts(path)
        yield RunFolder(path, plan, attempts)


def finished(path: Path, plan: Plan, attempts: Sequence[Attempt]) -> Records | None:
    """The records of a folder in which nothing is left to do, or None; writes nothing, so it may be read-only."""
    if not (path / PLAN).exists() or read_plan(path).fingerprint != plan.fingerprint:
        return None
    records = RunFolder(path, plan, attempts).records()
    whole = {attempt_of(row) for row in records.episodes} == set(attempts)
    return records if whole and lines(records.episodes) == _content(path / EPISODES) else None


def claim(path: Path, plan: Plan) -> None:
    """Write the plan into an empty folder, or check that the one there is the same.

    Raises:
        PlanMismatch: it is another plan; the message shows the difference.
        RunFolderError: the folder has files but no plan, so they are not ours to mix with.
    """
    if not (path / PLAN).exists():
        foreign = sorted(entry.name for entry in path.iterdir() if not _ours(entry.name))
        if foreign:
            raise RunFolderError(
                f"{path} holds files but no {PLAN} ({', '.join(foreign[:3])}). Choose an empty folder."
            )
        with writing(path):
            write_atomically(path / PLAN, plan.to_bytes())
        return
    present = read_plan(path)
    if present.fingerprint != plan.fingerprint:
        shown = "\n".join(f"  {line}" for line in present.difference(plan))
        raise PlanMismatch(f"{path} holds the results of another plan. There → now:\n{shown}\nChoose another folder.")
    if present.llm_gym_version != plan.llm_gym_version:
        logger.warning(
            "%s was begun with llm_gym %s and goes on with %s", path, present.llm_gym_version, plan.llm_gym_version
        )


def read_plan(path: Path) -> Plan:
    """The plan of a run folder.

    Raises:
        MissingData: there is none.
        BadRecord: it is malformed.
    """
    try:
        content = (path / PLAN).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise MissingData(f"{path} is no run folder: it has no {PLAN}.") from None
    except OSError as error:
        raise RunFolderError(f"{path / PLAN} cannot be read: {error.strerror or error}.") from None
    return Plan.from_bytes(content, str(path / PLAN))


def read_records(path: Path) -> Records:
    """All rows of a run folder as they lie there; reads JSON and executes nothing.

    Raises:
        BadRecord: a row is malformed or there twice; the message names file and line.
    """
    try:
        episodes = read_rows(path / EPISODES, EPISODE)
        failures, timings = read_rows(path / FAILURES, FAILURE), read_rows(path / TIMINGS, TIMING)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror or error}.") from None
    refuse_duplicates(episodes, path / EPISODES)
    return Records(tuple(episodes), tuple(failures), tuple(timings))


def write_records(path: Path, records: Records) -> None:
    """Replace the three files, each only when its content changes."""
    for name, rows in ((FAILURES, records.failures), (TIMINGS, records.timings), (EPISODES, records.episodes)):
        content = lines(rows)
        if _content(path / name) != content:
            write_atomically(path / name, content)


def save(path: Path, plan: Plan, records: Records) -> None:
    """Write a whole run folder at once; the same plan is overwritten, anything else refused as by `opened`."""
    with opened(path, plan, ()), writing(path):
        write_records(path, records)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def _ours(name: str) -> bool:
    """What a kill before the plan was written may leave."""
    return name == LOCK_NAME or fnmatch(name, f".{PLAN}.*.part")


def _remove_parts(path: Path) -> None:
    """Remove what a kill in the middle of an atomic write left; under the lock it is nobody's."""
    with writing(path):
        for name in (PLAN, EPISODES, FAILURES, TIMINGS, REPORT):
            for part in path.glob(f".{name}.*.part"):
                part.unlink()


def _append(path: Path, content: bytes) -> None:
    """Write straight to the file, without a buffer; what cannot be written wholly is taken back."""
    if not content and path.exists():
        return
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        before = os.fstat(handle).st_size
        rest = memoryview(content)
        try:
            while rest:
                rest = rest[os.write(handle, rest) :]
        except OSError:
            os.ftruncate(handle, before)
            raise
    finally:
        os.close(handle)
