"""The log of a training: one JSON object a line, of an update or of a look at the held-out examples."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_gym.data import write_atomically
from llm_gym.errors import BadRecord

LOG = "log.jsonl"
STEP, SECONDS, HELD_OUT = "step", "seconds", "held_out"
Row = Mapping[str, Any]


class Log:
    """Appends rows to `log.jsonl`; what was logged beyond the step that a training goes on from is taken out.

    Args:
        folder: of the training.
        step: the update that the training goes on from.
    """

    def __init__(self, folder: Path, step: int) -> None:
        self.path = folder / LOG
        self.rows = [row for row in read_log(folder) if row[STEP] <= step]
        write_atomically(self.path, "".join(map(_line, self.rows)).encode())
        self._before = float(self.rows[-1][SECONDS]) if self.rows else 0.0
        self._began = time.monotonic()

    @property
    def seconds(self) -> float:
        """Of training, those before a kill included."""
        return self._before + time.monotonic() - self._began

    def write(self, step: int, values: Mapping[str, Any]) -> None:
        row = {STEP: step, SECONDS: round(self.seconds, 1), **values}
        self.rows.append(row)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(_line(row))


def read_log(folder: Path) -> list[Row]:
    """The rows of a training's log; a last line that a kill cut off is left out. Empty where there is none.

    Raises:
        BadRecord: another line is no row.
    """
    path = folder / LOG
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True) if path.exists() else []
    rows: list[Row] = []
    for number, line in enumerate(lines, start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            if number == len(lines) and not line.endswith("\n"):
                break
            raise BadRecord(f"{path}, line {number} is no JSON: {error}") from error
        if not isinstance(row, dict) or not isinstance(row.get(STEP), int) or not isinstance(row.get(SECONDS), float):
            raise BadRecord(f"{path}, line {number} is no row of a training's log.")
        rows.append(row)
    return rows


def _line(row: Row) -> str:
    return json.dumps(row) + "\n"
