"""Bars for work that has stages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from llm_gym.cli.terminal import Terminal

DRAWN_EACH = 200
"""A bar moves once for so many things: a million of them would spend seconds on drawing."""

Tell = Callable[[str, int, int | None], None]
"""Stage, number done, number in all (None: not known)."""


@contextmanager
def shown(terminal: Terminal) -> Iterator[Tell]:
    """A bar for each stage, if somebody watches."""
    if not terminal.interactive:
        yield lambda stage, done, total: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal.err) as bar:
        stages: dict[str, TaskID] = {}

        def tell(stage: str, done: int, total: int | None) -> None:
            if stage not in stages:
                for earlier in stages.values():
                    bar.stop_task(earlier)
                stages[stage] = bar.add_task(stage)
            bar.update(stages[stage], completed=done, total=total)

        yield tell
