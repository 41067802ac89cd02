"""The command line as a process of its own: exit codes, streams, Ctrl-C."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-W", "error", "-m", "llm_gym"]


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=120, cwd=cwd, check=False)


def test_help(tmp_path):
    done = run("--help", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "evaluate" in done.stdout


def test_a_wrong_name(tmp_path):
    done = run("evaluate", "Corridor-v1", "--policy", "random", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: Unknown environment 'Corridor-v1'. Did you mean 'Corridor-v0'?\n"


def test_answers_come_from_standard_input(tmp_path):
    command = [*COMMAND, "play", "Corridor-v0", "--task", "corridor-3"]
    done = subprocess.run(
        command, input="open\n", capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True
    )
    assert "No success: score 0.0 of 100 in 1 steps, ended by the task." in done.stdout


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_any_encoding_of_the_terminal_will_do(tmp_path, encoding):
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    command = [*COMMAND, "evaluate", "Corridor-v0", "--policy", "oracle", "-n", "3"]
    done = subprocess.run(command, capture_output=True, timeout=120, cwd=tmp_path, env=environment, check=True)
    assert b"oracle on llm_gym/Corridor-v0" in done.stdout
    assert done.stderr == b""


def test_a_pipe_that_closes_early_is_no_traceback(tmp_path):
    with subprocess.Popen(
        [*COMMAND, "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    ) as process:
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()
        assert process.wait(timeout=120) == 1


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_leaves_a_folder_that_the_told_command_completes(tmp_path, my_module, jobs):
    words = ["evaluate", "Corridor-v0", "--policy", f"{my_module}:Opener", "--policy-set", "seconds=0.02"]
    words += ["-n", "150", "--jobs", str(jobs), "--out", "the run"]
    err = interrupted(words, tmp_path / "the run" / "episodes.jsonl", tmp_path)
    said, advice, command = err.splitlines()
    assert said.startswith("Interrupted: ")
    assert " of 150 attempts are finished, success " in said
    assert advice == "the run keeps them. To go on:"
    resumed = shlex.split(command)
    assert resumed == ["python", "-m", "llm_gym", *words]
    finished = (tmp_path / "the run" / "episodes.jsonl").read_bytes().count(b"\n")
    assert 0 < finished < 150

    done = run(*resumed[3:], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "150 of 200 tasks" in done.stdout
    assert run(*words[:-1], "at once", cwd=tmp_path).returncode == 0
    whole = [(tmp_path / name / "episodes.jsonl").read_bytes() for name in ("the run", "at once")]
    assert whole[0] == whole[1]


def interrupted(words: list[str], until: Path, cwd: Path) -> str:
    """Start a command, press Ctrl-C when the file has lines; returns what it said on standard error."""
    with subprocess.Popen(
        [*COMMAND, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        start_new_session=True,
        restore_signals=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not (until.exists() and until.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to the whole group
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert not out
    return err
