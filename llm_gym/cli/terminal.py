"""Where a command writes, and how it was called."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from rich.console import Console, RenderableType
from rich.text import Text

from llm_gym.evaluation.tables import printable

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130
"""Exit codes: done; done, but something failed; could not be done; stopped with Ctrl-C."""

_WIDTH = 110
"""Characters of a line where no terminal has a say."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Results go to `out`; progress, remarks and problems go to `err`, so that a pipe carries results only.

    Pages and messages may hold anybody's text: control characters, which a terminal would obey, are shown as spaces.
    """

    out: Console
    err: Console
    command: str = "llm-gym"
    """The words that started this process, ready to be typed again."""
    ask: Callable[[str], str] = input
    """Puts a question to a person; raises EOFError when there will be no more answers."""

    @classmethod
    def of_process(cls, command: str) -> Terminal:
        """Standard output and standard error."""
        return cls(_console(sys.stdout), _console(sys.stderr), command)

    @property
    def interactive(self) -> bool:
        """Whether somebody watches: only then are there bars."""
        return self.out.is_terminal and self.err.is_terminal

    def say(self, text: str) -> None:
        """Text as it is: no markup, and lines as long as they are."""
        self.out.print(Text(_harmless(text)), soft_wrap=True)

    def show(self, renderable: RenderableType) -> None:
        """A table or the like."""
        self.out.print(renderable)

    def write(self, text: str) -> None:
        """Text for another program, byte for byte."""
        self.out.file.write(text)
        self.out.file.flush()

    def note(self, text: str) -> None:
        """A remark beside the result."""
        self.err.print(Text(_harmless(text)), soft_wrap=True)

    def problem(self, text: str) -> None:
        """Why something cannot be done."""
        self.err.print(Text.assemble(("error: ", "bold red"), _harmless(text)), soft_wrap=True)


def _harmless(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))


def _console(stream: IO[str]) -> Console:
    if isinstance(stream, io.TextIOWrapper):  # a page may hold what the terminal's encoding cannot show
        stream.reconfigure(errors="replace")
    return Console(file=stream, width=None if stream.isatty() else _WIDTH)
