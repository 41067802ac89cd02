"""The bar of an evaluation: how many attempts are finished, how many of them succeeded, how long the rest takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from llm_gym.cli.terminal import Terminal
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.statistics import Interval, clustered_wilson, wilson
from llm_gym.evaluation.store import PLAN, read_records


class Tally:
    """The attempts that are finished, as their rows arrive.

    Args:
        trials: at most so many rows make an attempt.
    """

    def __init__(self, trials: int) -> None:
        self._trials = trials
        self._tasks: list[str] = []
        self._successes: list[bool] = []

    def __len__(self) -> int:
        return len(self._successes)

    def hear(self, row: Row) -> bool:
        """Take a row; returns whether it ends an attempt."""
        if not ends_attempt(row, self._trials):
            return False
        self._tasks.append(row["task_id"])
        self._successes.append(row["success"])
        return True

    def told(self) -> str:
        """`success 42 % (29 to 56)`, with the 95 % interval; nothing before the first attempt."""
        count = len(self._successes)  # first: the bar draws in a thread of its own, while rows arrive
        if not count:
            return ""
        successes = self._successes[:count]
        interval = self._interval(successes)
        return f"success {sum(successes) / count:.0%} ({100 * interval.low:.0f} to {100 * interval.high:.0f})"

    def _interval(self, successes: list[bool]) -> Interval:
        """With one attempt a task the short formula: a bar that is drawn ten times a second cannot sort 100,000."""
        tasks = self._tasks[: len(successes)]
        if len(set(tasks)) == len(tasks):
            return wilson(sum(successes), len(successes))
        return clustered_wilson(successes, tasks)


def ends_attempt(row: Row, trials: int) -> bool:
    return bool(row["success"]) or row["trial"] == trials - 1 or row["ended_by"] == "error"


def finished_before(folder: Path | None, trials: int) -> int:
    """Attempts that a run folder holds already and that will not be played again."""
    if folder is None or not (folder / PLAN).exists():
        return 0
    rows = read_records(folder).episodes
    return sum(ends_attempt(row, trials) and row["ended_by"] != "error" for row in rows)


@contextmanager
def shown_progress(
    terminal: Terminal, tally: Tally, total: int, present: int, *, drawn: bool = True
) -> Iterator[Callable[[Row], object]]:
    """What `evaluate` calls with every row. Draws a bar if somebody watches.

    Args:
        terminal: the bar is drawn on its error stream.
        tally: takes the rows.
        total: attempts of the plan.
        present: the first rows tell of so many attempts that are finished already. They say nothing about the speed.
        drawn: False draws no bar whoever watches.
    """
    if not (drawn and terminal.interactive):
        yield tally.hear
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), _Success(tally))
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=terminal.err) as bar:
        task = bar.add_task("tasks", total=total, completed=present)

        def hear(row: Row) -> None:
            if tally.hear(row) and len(tally) > present:
                bar.update(task, completed=len(tally))

        yield hear


class _Success(ProgressColumn):
    def __init__(self, tally: Tally) -> None:
        super().__init__()
        self._tally = tally

    def render(self, task: Task) -> Text:
        return Text(self._tally.told())
