"""The rows of a run folder: how they are written as lines of JSON, and checked when they are read."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from llm_gym.errors import BadRecord

logger = logging.getLogger(__name__)

Row = dict[str, Any]
"""One JSON object of `episodes.jsonl`, `failures.jsonl` or `timings.jsonl`."""

Key = tuple[str, int, int]
"""Task id, repeat, trial: what a row is about."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One unit of work: a task in one repeat, with all its trials."""

    task_id: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Played:
    """One finished episode on its way to the store."""

    row: Row
    """The row of `episodes.jsonl`."""
    seconds: float
    """Wall time; kept out of the row, so that the row is the same on any machine."""
    traceback: str | None
    """Set only when the episode ended by an exception."""
    last: bool
    """No further trial of this attempt follows."""

    def timing(self) -> Row:
        return {**_about(self.row), "seconds": self.seconds}

    def failure(self) -> Row:
        return {**_about(self.row), "error": self.row["error"], "traceback": self.traceback}


@dataclass(frozen=True, slots=True)
class Records:
    """All rows of a run."""

    episodes: tuple[Row, ...] = ()
    failures: tuple[Row, ...] = ()
    timings: tuple[Row, ...] = ()

    def of_tasks(self, task_ids: Set[str]) -> Records:
        """The rows of some tasks."""
        parts = (self.episodes, self.failures, self.timings)
        return Records(*(tuple(row for row in part if row["task_id"] in task_ids) for part in parts))


def _about(row: Row) -> Row:
    return {"task_id": row["task_id"], "repeat": row["repeat"], "trial": row["trial"]}


def key_of(row: Row) -> Key:
    return row["task_id"], row["repeat"], row["trial"]


def clusters_of(rows: Iterable[Row]) -> dict[str, str]:
    """Task → the cluster that its rows name; tasks without one are left out."""
    return {row["task_id"]: row["cluster"] for row in rows if row.get("cluster")}


def attempt_of(row: Row) -> Attempt:
    return Attempt(row["task_id"], row["repeat"])


def encoded(row: Row) -> bytes:
    """One line of JSON with its line feed; reading and writing it again gives the same bytes.

    Half of a surrogate pair, which a model may write, has no UTF-8 form and becomes U+FFFD.

    Raises:
        TypeError: a value has no JSON form.
    """
    options = orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS
    try:
        return orjson.dumps(row, option=options)
    except TypeError as error:
        if "surrogate" not in str(error):
            raise
        return orjson.dumps(_without_surrogates(row), option=options)


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in value]
    return value


def lines(rows: Iterable[Row]) -> bytes:
    return b"".join(encoded(row) for row in rows)


# -- reading -------------------------------------------------------------------------------------------------------


def _count(value: Any) -> bool:
    return type(value) is int and value >= 0


def _number(value: Any) -> bool:
    return type(value) in (int, float)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _metrics(value: Any) -> bool:
    return isinstance(value, dict) and all(item is None or type(item) in (bool, int, float) for item in value.values())


def _usage(value: Any) -> bool:
    """`[prompt tokens, completion tokens, cost or None]`."""
    return (
        isinstance(value, list)
        and len(value) == 3
        and _count(value[0])
        and _count(value[1])
        and (value[2] is None or _number(value[2]))
    )


def _opinions(value: Any) -> bool:
    """A list of `[action, confidence or None, source]`."""
    return isinstance(value, list) and all(
        isinstance(one, list)
        and len(one) == 3
        and _text(one[0])
        and (one[1] is None or _number(one[1]))
        and _text(one[2])
        for one in value
    )


def _trajectory(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(step, dict) and _usage(step.get("usage", [0, 0, None])) and _opinions(step.get("opinions", []))
        for step in value
    )


Schema = Mapping[str, Callable[[Any], bool]]

_ABOUT: Schema = {"task_id": _text, "repeat": _count, "trial": _count}
EPISODE: Schema = {
    **_ABOUT,
    "policy": _text,
    "category": _text,
    "success": lambda value: type(value) is bool,
    "score": _number,
    "return": _number,
    "steps": _count,
    "invalid_actions": _count,
    "ended_by": lambda value: value in ("task", "agent", "limit", "error"),
    "error": lambda value: value is None or _text(value),
    "metrics": _metrics,
    "trajectory": _trajectory,
}
OPTIONAL: Schema = {"cluster": _text}
"""Of any row, where it is there: rows that were written before it was recorded lack it."""
FAILURE: Schema = {**_ABOUT, "error": _text, "traceback": lambda value: value is None or _text(value)}
TIMING: Schema = {**_ABOUT, "seconds": _number}


def read_rows(path: Path, schema: Schema) -> list[Row]:
    """The rows of a file, checked; a file that is not there has none.

    A last line without a line feed is what a kill leaves: it is dropped, and the log says so.

    Raises:
        BadRecord: a line is no JSON object or lacks what the schema names; the message holds file and line.
        OSError: the file cannot be read.
    """
    if not path.exists():
        return []
    *whole, rest = path.read_bytes().split(b"\n")
    if rest:
        logger.warning("%s: the last line is only half written and was dropped (%d bytes)", path, len(rest))
    return [_checked(line, schema, f"{path}, line {number}") for number, line in enumerate(whole, start=1)]


def _checked(line: bytes, schema: Schema, place: str) -> Row:
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{place}: not JSON ({error}).") from None
    if not isinstance(row, dict):
        raise BadRecord(f"{place}: not a JSON object but {type(row).__name__}.")
    for name, accepts in {**schema, **OPTIONAL}.items():
        if name not in row:
            if name in OPTIONAL:
                continue
            raise BadRecord(f"{place}: {name!r} is missing.")
        if not accepts(row[name]):
            raise BadRecord(f"{place}: {name!r} cannot be {row[name]!r:.80}.")
    return row


def latest(rows: Iterable[Row]) -> list[Row]:
    """One row for each key, the last written; a resumed run plays failed attempts again."""
    return list({key_of(row): row for row in rows}.values())


def refuse_duplicates(rows: Iterable[Row], path: Path) -> None:
    """Raise BadRecord when two rows are about the same episode: it would be counted twice."""
    seen: dict[Key, int] = {}
    for number, row in enumerate(rows, start=1):
        if key_of(row) in seen:
            raise BadRecord(f"{path}, line {number}: the same episode as line {seen[key_of(row)]}.")
        seen[key_of(row)] = number
