"""The command line `llm-gym`. One line of the table and one file make a command; the file is imported when it runs."""

from __future__ import annotations

import importlib
import inspect
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import gymnasium as gym
import tyro
from rich.table import Table

import llm_gym
from llm_gym.cli.terminal import FAILED, INTERRUPTED, OK, WRONG, Terminal
from llm_gym.errors import LLMGymError, UnknownName


class Command(Protocol):
    """A dataclass whose fields are the arguments of a command, and whose docstring is its help."""

    def run(self, terminal: Terminal) -> int:
        """Do it; returns the exit code. Errors on purpose pass through: `main` tells them in one sentence."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A command in the table."""

    target: str
    """`"module:Class"` of the command."""
    summary: str


COMMANDS: Mapping[str, Entry] = {
    "list": Entry("llm_gym.cli.listing:List", "Show environments, policies and wrappers, with their keywords."),
    "doctor": Entry("llm_gym.cli.doctor:Doctor", "Check what works on this machine, and what would add the rest."),
    "play": Entry("llm_gym.cli.play:Play", "Play one task in the terminal, or watch a policy play it."),
    "build": Entry("llm_gym.cli.build:Build", "Build a shop or households from official files, or invent them."),
    "download": Entry("llm_gym.cli.download:Download", "Fetch the official games of ALFWorld, ready to be played."),
    "evaluate": Entry("llm_gym.cli.evaluate:Evaluate", "Let a policy play many tasks and measure it."),
    "compare": Entry("llm_gym.cli.compare:Compare", "Compare two runs task by task."),
    "report": Entry("llm_gym.cli.report:Report", "Put runs into one table."),
    "demos": Entry("llm_gym.cli.demos:Demos", "Record, import and inspect demonstrations, which experts learn from."),
    "experiment": Entry("llm_gym.cli.experiment:RunExperiment", "Play a table of a paper, beside the published one."),
}

_EXAMPLES = (
    "llm-gym play WebShop-v1",
    "llm-gym evaluate WebShop-v1 --policy rule -n 50 --out runs/rule",
    "llm-gym evaluate WebShop-v1 --policy random -n 50 --out runs/random",
    "llm-gym compare runs/rule runs/random",
)


def main(argv: Sequence[str] | None = None, terminal: Terminal | None = None) -> int:
    """Run a command.

    Args:
        argv: the words after `llm-gym`; None takes them from the process.
        terminal: where it writes; None is the process's own.

    Returns:
        The exit code: 0, 1 (done, but something failed), 2 (could not be done), 130 (interrupted).
    """
    words = sys.argv[1:] if argv is None else list(argv)
    terminal = terminal or Terminal.of_process(_called(words))
    try:
        return _run(words, terminal)
    except KeyboardInterrupt:
        terminal.note("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:  # `llm-gym … | head` has seen enough; the exit must not flush into the closed pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (LLMGymError, gym.error.Error, OSError) as error:
        terminal.problem(str(error))
        return WRONG


def _run(words: list[str], terminal: Terminal) -> int:
    match words:
        case [] | ["-h" | "--help" | "help"]:
            _help(terminal)
            return OK
        case ["-V" | "--version"]:
            terminal.say(f"llm-gym {llm_gym.__version__}")
            return OK
        case [name, *rest] if name in COMMANDS:
            command = _parsed(name, rest)
            return command if isinstance(command, int) else command.run(terminal)
    raise UnknownName("command", words[0], COMMANDS)


def _parsed(name: str, words: list[str]) -> Command | int:
    """The command with its arguments, or the exit code when help or a complaint was printed instead."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    off = (tyro.conf.FlagCreatePairsOff,)
    try:
        command: Command = tyro.cli(
            kind, prog=f"llm-gym {name}", description=inspect.getdoc(kind), args=words, config=off
        )
    except SystemExit as exit_:  # tyro has said what is wrong, or shown the help
        return exit_.code if isinstance(exit_.code, int) else WRONG
    return command


def _help(terminal: Terminal) -> None:
    terminal.say("usage: llm-gym COMMAND …    (llm-gym COMMAND --help tells more)\n")
    terminal.say(f"{llm_gym.__doc__}".strip().partition("\n")[0] + "\n")
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 2))
    for name, entry in COMMANDS.items():
        table.add_row(name, entry.summary)
    terminal.show(table)
    terminal.say("\nExamples:")
    for example in _EXAMPLES:
        terminal.say(f"  $ {example}")


def _called(words: Sequence[str]) -> str:
    """The command line of this process, to be typed again."""
    as_module = Path(sys.argv[0]).name == "__main__.py"
    return shlex.join([*(["python", "-m", "llm_gym"] if as_module else ["llm-gym"]), *words])
