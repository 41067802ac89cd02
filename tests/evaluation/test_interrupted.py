"""Runs that are killed, interrupted or run out of disk, in processes of their own."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest

from llm_gym.evaluation import Evaluation, evaluate

SCRIPT = """
import sys
import gymnasium as gym
import llm_gym
from llm_gym.evaluation import evaluate

if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    from odd_policies import {policy}
    {before}
    how = dict(jobs=int(sys.argv[3]), concurrency=int(sys.argv[4]))
    evaluate({policy}(), gym.make("llm_gym/Corridor-v0"), 40, trials=2, out=sys.argv[2], **how)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "run_it.py"
    path.write_text(SCRIPT.format(policy="Slow", before=""))
    return path


def _start(script: Path, tmp_path: Path, jobs: int, concurrency: int = 1) -> subprocess.Popen[str]:
    folders = [str(tmp_path / "importable"), str(tmp_path / "run")]
    command = [sys.executable, str(script), *folders, str(jobs), str(concurrency)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)


def _wait_for_rows(folder: Path, rows: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        file = folder / "episodes.jsonl"
        if file.exists() and file.read_bytes().count(b"\n") >= rows:
            return
        time.sleep(0.005)
    raise AssertionError("the run did not begin")


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _alive(group: int) -> list[str]:
    """Processes of the group that still run, two seconds later at most (zombies are their new parent's business)."""
    for _ in range(100):
        stats = [path.read_text().rpartition(")") for path in Path("/proc").glob("[0-9]*/stat") if path.exists()]
        alive = [name for name, _, rest in stats if rest.split()[2] == str(group) and rest.split()[0] != "Z"]
        if not alive:
            return []
        time.sleep(0.02)
    return alive


def _expected(odd_policies: ModuleType, tmp_path: Path) -> bytes:
    evaluate(odd_policies.Slow(), gym.make("llm_gym/Corridor-v0"), 40, trials=2, out=tmp_path / "whole")
    return (tmp_path / "whole" / "episodes.jsonl").read_bytes()


@pytest.mark.parametrize(("jobs", "concurrency"), [(1, 1), (2, 1), (1, 4), (2, 2)])
def test_a_killed_run_resumes_to_the_same_bytes(
    script: Path, odd_policies: ModuleType, tmp_path: Path, jobs: int, concurrency: int
) -> None:
    expected = _expected(odd_policies, tmp_path)
    for _ in range(2):
        process = _start(script, tmp_path, jobs, concurrency)
        _wait_for_rows(tmp_path / "run", 1)
        time.sleep(random.uniform(0, 0.3))
        process.kill()
        process.communicate()
        assert _alive(process.pid) == []
    partial = Evaluation.load(tmp_path / "run")
    assert not partial.complete
    assert f"Not finished: {len(partial.rows)} of 40 attempts" in str(partial)
    evaluate(odd_policies.Slow(), gym.make("llm_gym/Corridor-v0"), 40, trials=2, jobs=2, out=tmp_path / "run")
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == expected
    assert _names(tmp_path / "run") == _names(tmp_path / "whole")


@pytest.mark.parametrize(("jobs", "concurrency"), [(1, 1), (2, 1), (1, 4), (2, 2)])
def test_ctrl_c_stops_cleanly_and_the_folder_resumes(
    script: Path, odd_policies: ModuleType, tmp_path: Path, jobs: int, concurrency: int
) -> None:
    expected = _expected(odd_policies, tmp_path)
    process = _start(script, tmp_path, jobs, concurrency)
    _wait_for_rows(tmp_path / "run", 3)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to every process of the group
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert _alive(process.pid) == []
    assert ".lock" not in _names(tmp_path / "run")
    evaluate(odd_policies.Slow(), gym.make("llm_gym/Corridor-v0"), 40, trials=2, out=tmp_path / "run")
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == expected


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_waits_for_no_network(odd_policies: ModuleType, tmp_path: Path, jobs: int) -> None:
    script = tmp_path / "run_it.py"
    script.write_text(SCRIPT.format(policy="Stuck", before=""))
    process = _start(script, tmp_path, jobs, 4)
    _wait_for_rows(tmp_path / "run", 3)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)  # the network would take 100 s
    assert process.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1
    assert _alive(process.pid) == []
    assert len(Evaluation.load(tmp_path / "run").rows) == 3


@pytest.mark.parametrize("delay", [0.3, 0.6, 0.9, 1.2])
def test_ctrl_c_while_processes_start_leaves_one_traceback(
    script: Path, odd_policies: ModuleType, tmp_path: Path, delay: float
) -> None:
    process = _start(script, tmp_path, 2)
    time.sleep(delay)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode in (-signal.SIGINT, 1, 0), errors  # 1: during the imports of the interpreter itself
    assert errors.count("KeyboardInterrupt\n") <= 1, errors
    assert _alive(process.pid) == []


def test_a_full_disk_is_one_sentence_and_loses_nothing(odd_policies: ModuleType, tmp_path: Path) -> None:
    expected = _expected(odd_policies, tmp_path)
    script = tmp_path / "run_it.py"
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))"
    script.write_text(SCRIPT.format(policy="Slow", before=limit))
    _, errors = _start(script, tmp_path, 1).communicate(timeout=60)
    assert "RunFolderError" in errors
    assert "cannot be written: File too large. What is finished is kept; run again to resume." in errors
    content = (tmp_path / "run" / "episodes.jsonl").read_bytes()
    assert 0 < len(content) <= 6000
    assert content.endswith(b"\n")
    evaluate(odd_policies.Slow(), gym.make("llm_gym/Corridor-v0"), 40, trials=2, out=tmp_path / "run")
    assert (tmp_path / "run" / "episodes.jsonl").read_bytes() == expected


def test_a_script_without_a_main_guard_is_told_about_it(odd_policies: ModuleType, tmp_path: Path) -> None:
    script = tmp_path / "run_it.py"
    script.write_text(SCRIPT.format(policy="Slow", before="").replace('if __name__ == "__main__":', "if True:"))
    _, errors = _start(script, tmp_path, 2).communicate(timeout=60)
    assert "A process ended while it was starting (exit code 1)" in errors
    assert "needs `if __name__ == '__main__':`" in errors


def test_an_unwritable_folder_is_one_sentence(tmp_path: Path) -> None:
    code = "import gymnasium, llm_gym; from llm_gym.policies import RandomPolicy; "
    code += "RandomPolicy().evaluate(gymnasium.make('llm_gym/Corridor-v0'), 2, out='/proc/run')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "RunFolderError: /proc/run cannot be written: No such file or directory." in done.stderr
