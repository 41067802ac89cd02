"""A terminal whose two streams are kept, and runs of the command line in it."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import gymnasium as gym
import pytest
from rich.console import Console

from llm_gym.cli import main
from llm_gym.cli.terminal import Terminal


@dataclass(frozen=True)
class Ran:
    """What a command answered."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


def run_command(
    *words: str, watched: bool = False, answers: Iterable[str] = (), command: str = "llm-gym …", width: int = 110
) -> Ran:
    """Run a command in this process.

    Args:
        words: after `llm-gym`.
        watched: as if a person looked at both streams.
        answers: what that person types, then Ctrl-D.
        command: how the process was called.
        width: characters of a line.
    """
    out, err = io.StringIO(), io.StringIO()
    typed = iter(answers)

    def ask(question: str) -> str:
        out.write(question)
        try:
            return next(typed)
        except StopIteration:
            raise EOFError from None

    consoles = [Console(file=file, width=width, force_terminal=watched, color_system=None) for file in (out, err)]
    code = main(words, Terminal(consoles[0], consoles[1], command, ask))
    return Ran(code, out.getvalue(), err.getvalue())


@pytest.fixture
def run() -> Run:
    return run_command


MODULE = '''
import time

import gymnasium as gym

from llm_gym.core import Decision
from llm_gym.envs.base import Outcome
from llm_gym.envs.corridor import Corridor
from llm_gym.errors import BudgetExceeded
from llm_gym.policies import Policy


class Opener(Policy):
    """Opens the door where it stands, after a while."""

    name = "opener"

    def __init__(self, seconds: float = 0.0):
        self.seconds = seconds

    def act(self, observation, info):
        time.sleep(self.seconds)
        return Decision("open")


class Breaker(Policy):
    """Fails in the third task."""

    name = "breaker"

    def act(self, observation, info):
        if info["task_id"] == "corridor-2":
            raise KeyError("a drawer")
        return Decision(None)


class Stopper(Policy):
    """Is interrupted by a person in the fourth task."""

    name = "stopper"

    def act(self, observation, info):
        if info["task_id"] == "corridor-3":
            raise KeyboardInterrupt
        return Decision("open")


class Spender(Policy):
    """Has no money left in the fourth task, unless it is rich."""

    name = "spender"
    rich = False

    def act(self, observation, info):
        if info["task_id"] == "corridor-3" and not self.rich:
            raise BudgetExceeded("$1.00 of the $1.00 that were allowed are spent.")
        return Decision("open")


class Tower(Corridor):
    """A corridor of another name, with a keyword that has to be given."""

    def __init__(self, floors: int, render_mode=None):
        super().__init__(floors, 3, render_mode)


gym.register("Tower-v0", entry_point=Tower)


class Loud(gym.ObservationWrapper, gym.utils.RecordConstructorArgs):
    def __init__(self, env, mark: str = "!"):
        gym.utils.RecordConstructorArgs.__init__(self, mark=mark)
        gym.ObservationWrapper.__init__(self, env)
        self.mark = mark

    def observation(self, observation):
        return observation + self.mark
'''


@pytest.fixture
def my_module(tmp_path, monkeypatch):
    """A user's module in the current folder; its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mine_for_tests.py").write_text(MODULE)
    yield "mine_for_tests"
    sys.modules.pop("mine_for_tests", None)
    gym.registry.pop("Tower-v0", None)
