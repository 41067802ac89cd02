"""The shell sequences of the README are the truth: `evaluate` is run here, `tests` by .ci/run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
RATE = re.compile(r"^\s*success\s+(?:0|1)\.\d{3}\s+(?:0|1)\.\d{3} to (?:0|1)\.\d{3}\s+\d+\s*$", re.MULTILINE)
"""The line of a result with a success rate, its interval and n."""


def sequence(name: str, blocks: Any) -> list[str]:
    """The lines of a named block, without comments."""
    found = [block for block in blocks(PROJECT / "README.md") if block.marked("block") == name]
    assert len(found) == 1, f"README.md must have exactly one block marked <!-- block: {name} -->, it has {len(found)}"
    lines = found[0].text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.lstrip().startswith("#")]


def checkout(target: Path) -> None:
    """Copy what git would hand out; of a source tree without git, all but hidden folders and caches."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        shutil.copytree(
            PROJECT, target, ignore=shutil.ignore_patterns("__pycache__", ".venv", ".*_cache", ".hypothesis")
        )
        return
    for name in filter(None, listed.stdout.split("\0")):
        if (PROJECT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target / name)


def bare_environment() -> dict[str, str]:
    """This process's environment without what makes its own Python and its data known."""
    hidden = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "LLM_GYM_DATA", "PYTEST_ADDOPTS"}
    kept = {key: value for key, value in os.environ.items() if key not in hidden and not key.startswith("PYTEST")}
    own = {Path(sys.prefix) / "bin", Path(sys.executable).parent}
    folders = [folder for folder in kept.get("PATH", "").split(os.pathsep) if Path(folder) not in own]
    return kept | {"PATH": os.pathsep.join([*folders, str(Path(sys.base_prefix) / "bin")])}


@pytest.mark.timeout(900)
def test_the_block_evaluate_prints_a_success_rate_with_its_interval_on_a_fresh_checkout(
    tmp_path: Path, blocks: Any
) -> None:
    script = "\n".join(sequence("evaluate", blocks))
    checkout(tmp_path / "llm-gym")
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=tmp_path / "llm-gym",
        env=bare_environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert RATE.search(done.stdout), f"no success rate with an interval in:\n{done.stdout}"
    assert sys.prefix not in done.stdout + done.stderr


def test_the_block_tests_installs_extras_that_exist_and_ends_with_pytest(blocks: Any) -> None:
    lines = sequence("tests", blocks)
    assert "pytest" in shlex.split(lines[-1])[0], f"the last line should call pytest: {lines[-1]}"
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = [
        name
        for line in lines
        if "install" in line
        for group in re.findall(r"\[([\w,-]+)\]", line)
        for name in group.split(",")
    ]
    assert named, "no line of the block installs an extra"
    assert [name for name in named if name not in extras] == []
