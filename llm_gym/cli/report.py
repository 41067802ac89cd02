"""`llm-gym report`: runs as one table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, arg

from llm_gym.cli.terminal import OK, Terminal
from llm_gym.data import write_atomically
from llm_gym.evaluation.report import report


@dataclass(frozen=True)
class Report:
    """Put runs into one table.

    Each run is a row, in the order given, with the environment, the policy and every metric.

    Examples:
    $ llm-gym report runs/*
    $ llm-gym report runs/rule runs/random --format csv --out results.csv
    """

    folders: Annotated[Positional[tuple[Path, ...]], arg(metavar="DIR")]
    """Run folders of `llm-gym evaluate --out DIR`, finished or not."""
    format: Literal["markdown", "json", "csv"] = "markdown"
    """How the table is written; json and csv hold every fact and the bounds of every interval."""
    clustered: bool = False
    """Intervals that take the tasks of one cluster together, such as the goals of one product."""
    out: Annotated[Path | None, arg(metavar="FILE", help_behavior_hint="(default: the terminal)")] = None
    """Where to write; an older file is replaced."""

    def run(self, terminal: Terminal) -> int:
        text = report(self.folders, self.format, clustered=self.clustered)
        if self.out is None:
            terminal.write(text)
        else:
            write_atomically(self.out, text.encode())
            terminal.note(f"{len(self.folders)} runs are in {self.out}.")
        return OK
