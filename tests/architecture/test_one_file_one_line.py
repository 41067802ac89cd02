"""A new environment, policy or wrapper is one file and one line, and the contract tests pick it up by itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import llm_gym
from llm_gym.data import DATA_VARIABLE

PROJECT = Path(__file__).parents[2]

LAMP = '''
"""A room with a lamp."""

from typing import Any

from llm_gym.envs.base import Outcome, TaskPanel, TextEnv


class Lamp(TextEnv):
    """Press the button as often as the task says, then leave."""

    def __init__(self, render_mode: str | None = None) -> None:
        super().__init__(TaskPanel("all", [f"lamp-{presses}" for presses in range(12)]), render_mode)
        self._wanted = self._pressed = 0

    def description(self) -> dict[str, Any]:
        return {"split": self.panel.name, "tasks": len(self.panel)}

    def solution(self) -> list[str]:
        return ["press"] * self._wanted + ["leave"]

    def _begin(self, task_id: str) -> Outcome:
        self._wanted, self._pressed = int(task_id.removeprefix("lamp-")), 0
        return self._outcome()

    def _respond(self, action: str) -> Outcome | str:
        if action not in ("press", "leave"):
            return f"You cannot {action[:20]!r} here."
        self._pressed += action == "press"
        return self._outcome(left=action == "leave")

    def _outcome(self, left: bool = False) -> Outcome:
        success = left and self._pressed == self._wanted
        goal = f"Press {self._wanted} times and leave."
        page = f"{goal} Pressed {self._pressed} times."
        info = {
            "task_id": self.task_id,
            "goal": goal,
            "admissible_actions": [] if left else ["press", "leave"],
            "success": success,
            "page": page,
            "category": "lamp",
            "metrics": {},
        }
        return Outcome(page, info, float(success), left)
'''
LAST = '''
"""A policy that takes the last action."""

from llm_gym.core import Decision, Info
from llm_gym.policies.base import Policy


class LastPolicy(Policy):
    """Takes the last admissible action."""

    name = "last"

    def act(self, observation: str, info: Info) -> Decision:
        return Decision((info.get("admissible_actions") or [None])[-1])
'''
SHOUT = '''
"""Observations in capital letters."""

from typing import Any

import gymnasium as gym
from gymnasium.utils import RecordConstructorArgs


class Shout(gym.ObservationWrapper[str, str, str], RecordConstructorArgs):
    """Shouts."""

    def __init__(self, env: gym.Env[str, str]) -> None:
        RecordConstructorArgs.__init__(self)
        gym.ObservationWrapper.__init__(self, env)

    def observation(self, observation: str) -> Any:
        return observation.upper()
'''


def add_line(table: Path, head: str, line: str) -> None:
    """Put one line under the head of a table."""
    text = table.read_text(encoding="utf-8")
    assert text.count(head) == 1
    table.write_text(text.replace(head, f"{head}\n    {line},"), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project with an environment, a policy and a wrapper more."""
    copy = tmp_path_factory.mktemp("project")
    skipped = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(Path(llm_gym.__file__).parent, copy / "llm_gym", ignore=skipped)
    shutil.copytree(PROJECT / "tests", copy / "tests", ignore=skipped)
    shutil.copy(PROJECT / "pyproject.toml", copy)
    package = copy / "llm_gym"
    (package / "envs" / "lamp.py").write_text(LAMP.lstrip(), encoding="utf-8")
    (package / "policies" / "last.py").write_text(LAST.lstrip(), encoding="utf-8")
    (package / "wrappers" / "shout.py").write_text(SHOUT.lstrip(), encoding="utf-8")
    add_line(
        package / "envs" / "__init__.py",
        "ENVIRONMENTS: dict[str, dict[str, Any]] = {",
        '"llm_gym/Lamp-v0": {"entry_point": "llm_gym.envs.lamp:Lamp", "max_episode_steps": 30}',
    )
    add_line(package / "policies" / "__init__.py", "POLICIES = {", '"last": "llm_gym.policies.last:LastPolicy"')
    add_line(package / "wrappers" / "__init__.py", "WRAPPERS = {", '"shout": "llm_gym.wrappers.shout:Shout"')
    return copy


def passed(project: Path, file: str, chosen: str) -> int:
    """How many contract tests of that name passed in the copy; the run must be free of failures."""
    unwanted = (DATA_VARIABLE, "PYTEST_ADDOPTS")
    environment = {key: value for key, value in os.environ.items() if key not in unwanted}
    environment |= {"PYTHONPATH": str(project), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rA", f"tests/{file}", "-k", chosen]
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return sum(line.startswith("PASSED") for line in done.stdout.splitlines())


def test_a_new_environment_is_one_file_and_one_line(project: Path) -> None:
    assert passed(project, "test_envs_contract.py", "Lamp") >= 20


def test_a_new_policy_is_one_file_and_one_line(project: Path) -> None:
    assert passed(project, "test_policies_contract.py", "last and not shop") >= 9


def test_a_new_wrapper_is_one_file_and_one_line(project: Path) -> None:
    assert passed(project, "test_wrappers_contract.py", "shout and not WebShop") >= 8
