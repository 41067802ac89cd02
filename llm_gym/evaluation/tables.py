"""Tables as plain text, HTML and Markdown. Cells may come from anybody's files: none is taken as markup."""

from __future__ import annotations

import html
import io
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from llm_gym.evaluation.estimate import Estimate

WIDTH = 110
"""Characters of a line of text; a fixed number, so that a result looks the same in a log and in a terminal."""


@dataclass(frozen=True, slots=True)
class Table:
    """Columns and rows of text; the first column is a label, the others are numbers."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
        for position, column in enumerate(self.columns):
            table.add_column(Text(printable(column)), justify="right" if position else "left", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        file = io.StringIO()
        # Whatever the terminal or the notebook is: no colour, no width of its own, nothing shown by itself.
        Console(file=file, width=WIDTH, color_system=None, force_jupyter=False, legacy_windows=False).print(table)
        return "\n".join(line.rstrip() for line in file.getvalue().splitlines() if line.strip())

    def html(self) -> str:
        head = "".join(f"<th>{html.escape(column)}</th>" for column in self.columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(printable(cell))}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"

    def markdown(self) -> str:
        lines = [self.columns, ("---", *("--:" for _ in self.columns[1:])), *self.rows]
        return "\n".join("| " + " | ".join(_markdown_cell(cell) for cell in line) + " |" for line in lines)


def estimate_cells(estimate: Estimate, digits: int = 3) -> tuple[str, str, str]:
    """Value, interval and n as three cells."""
    if estimate.n == 0:
        return "–", "–", "0"
    unknown = estimate.low != estimate.low
    interval = "unknown" if unknown else f"{estimate.low:.{digits}f} to {estimate.high:.{digits}f}"
    return f"{estimate.value:.{digits}f}", interval, str(estimate.n)


def printable(text: str) -> str:
    """Text without control characters, which a terminal would obey."""
    return "".join(character if character.isprintable() else " " for character in text)


def _markdown_cell(cell: str) -> str:
    return html.escape(printable(cell), quote=False).replace("\\", "\\\\").replace("|", "\\|")
