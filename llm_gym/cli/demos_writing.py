"""What the commands that write demonstrations share: the bar, Ctrl-C, and what is told at the end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from tyro.conf import arg

from llm_gym.cli.terminal import FAILED, INTERRUPTED, OK, Terminal
from llm_gym.demonstrations.files import Header, write_demonstrations
from llm_gym.demonstrations.record import Demonstration
from llm_gym.demonstrations.recorder import Selection
from llm_gym.errors import InvalidSetting

OutFile = Annotated[Path, arg(metavar="FILE")]


@dataclass
class Writing:
    """A file of demonstrations while it is written.

    Args:
        out: the file; it must not be there yet, for somebody's demonstrations may be in it.
        total: episodes that there will be.
        terminal: the bar is drawn on its error stream, if somebody watches.
        drawn: False draws no bar whoever watches.

    Raises:
        InvalidSetting: the file is there already.
    """

    out: Path
    total: int
    terminal: Terminal
    drawn: bool = True
    played: int = 0
    kept: int = 0
    failures: int = 0
    first_failure: str = ""
    interrupted: bool = False

    def __post_init__(self) -> None:
        if self.out.exists():
            raise InvalidSetting(f"{self.out} exists already. Choose another name, or remove it.")

    def fail(self, error: str) -> None:
        """Count an episode that failed."""
        self.failures += 1
        self.first_failure = self.first_failure or error

    def write(self, episodes: Iterable[Demonstration | None], header: Header) -> int:
        """Write what is kept, a demonstration an episode or None, and tell what there is.

        Ctrl-C ends it early: the demonstrations that are finished are written. Returns the exit code.
        """
        try:
            write_demonstrations(self.out, self._counted(episodes), header)
        finally:
            if self.failures:
                self.terminal.note(f"{self.failures} of {self.played} episodes failed. The first: {self.first_failure}")
        if self.interrupted:
            self.terminal.note(f"Interrupted after {self.played} of {self.total} episodes.")
        self.terminal.say(f"{self.kept:,} demonstrations of {self.played:,} episodes are in {self.out}.")
        if self.interrupted:
            return INTERRUPTED
        return FAILED if self.failures else OK

    def _counted(self, episodes: Iterable[Demonstration | None]) -> Iterator[Demonstration]:
        with ExitStack() as stack:
            advance = self._bar(stack)
            try:
                for demonstration in episodes:
                    with _uninterrupted():
                        self.played += 1
                        self.kept += demonstration is not None
                        advance()
                        if demonstration is not None:
                            yield demonstration
            except KeyboardInterrupt:
                if not self.kept:
                    raise
                self.interrupted = True

    def _bar(self, stack: ExitStack) -> Callable[[], None]:
        if not (self.drawn and self.terminal.interactive):
            return lambda: None
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[kept]}"),
        )
        bar = Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=self.terminal.err)
        stack.enter_context(bar)
        task = bar.add_task("episodes", total=self.total, kept="")
        return lambda: bar.update(task, advance=1, kept=f"{self.kept} kept")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Ctrl-C waits for the end of the block: while an episode is counted and written it must not cost it."""
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def told(selection: Selection) -> str:
    """A selection in words, for a header."""
    parts = ["successful"] if selection.success else []
    parts += [] if selection.min_score is None else [f"score {selection.min_score:g} or more"]
    return ", ".join(parts) or "all"
