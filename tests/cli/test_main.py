"""The commands as a whole: help, version, names."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import pytest

import llm_gym
from llm_gym.cli import COMMANDS, main

HEAVY = ("torch", "transformers", "spacy", "numba", "jnius", "pyserini", "scipy", "llm_gym.envs.webshop.env")


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_names_every_command_with_its_summary(run, words):
    ran = run(*words)
    assert ran.code == 0
    assert not ran.err
    for name, entry in COMMANDS.items():
        assert f"  {name} " in ran.out
        assert entry.summary in ran.out
    assert "$ llm-gym evaluate" in ran.out


def test_version(run):
    assert run("--version").out == f"llm-gym {llm_gym.__version__}\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_begins_with_its_docstring_and_shows_how_it_is_typed(name, capsys):
    module, _, attribute = COMMANDS[name].target.partition(":")
    kind = getattr(importlib.import_module(module), attribute)
    assert inspect.getdoc(kind).partition("\n")[0] == COMMANDS[name].summary
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: llm-gym {name}" in shown
    assert COMMANDS[name].summary in shown
    if name != "doctor":
        assert f"$ llm-gym {name}" in shown


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom llm_gym.cli import main\nassert main(['--help']) == 0\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


def test_interruption_before_anything_began_is_no_traceback(run, monkeypatch):
    def interrupted(self, terminal):
        raise KeyboardInterrupt

    monkeypatch.setattr("llm_gym.cli.listing.List.run", interrupted)
    ran = run("list")
    assert (ran.code, ran.err) == (130, "Interrupted.\n")
