"""Importing the package costs next to nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = [
    *("torch", "transformers", "flask", "textworld", "alfworld", "spacy", "jinja2", "pyserini", "jnius", "numba"),
    *("scipy", "matplotlib", "ray", "openai", "rich", "tyro", "rapidfuzz"),
]
"""What only those wait for who use it."""


def modules_after(statement: str) -> set[str]:
    """Names of all modules a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport sys\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.fixture(scope="module")
def extra_modules() -> set[str]:
    """What `import llm_gym` loads beyond Gymnasium."""
    return modules_after("import llm_gym") - modules_after("import gymnasium")


@pytest.mark.parametrize("module", HEAVY)
def test_importing_the_package_does_not_load(extra_modules: set[str], module: str) -> None:
    assert module not in extra_modules


def test_importing_the_package_loads_no_environment_and_no_policy(extra_modules: set[str]) -> None:
    ours = {name for name in extra_modules if name.startswith("llm_gym.envs.") or name.startswith("llm_gym.policies.")}
    assert ours <= {"llm_gym.policies.base"}


def test_importing_the_package_says_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", "import llm_gym"], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_shop_is_opened_without_the_packages_of_its_extras() -> None:
    loaded = modules_after("import gymnasium, llm_gym; gymnasium.make('llm_gym/WebShop-v1')")
    assert not loaded & {"torch", "spacy", "pyserini", "jnius", "numba", "scipy"}
