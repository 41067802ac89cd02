"""Rows, plans and odd policies for the tests of the evaluation."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.evaluation.plan import Plan

Row = dict[str, Any]

ODD_POLICIES = '''
"""Policies that misbehave at chosen tasks; a module of its own, so that spawned processes can import it."""

import os, signal, sys, threading, time

from llm_gym.core import Decision, Usage
from llm_gym.errors import MissingDependency
from llm_gym.policies.base import Policy


class Reader(Policy):
    """Reads the goal and walks there; subclasses misbehave at task `corridor-3`."""

    name = "reader"

    def act(self, observation, info):
        target = int(info["goal"].split()[-1].rstrip("."))
        room = int(info["page"].split("You are in room ")[1].split()[0])
        if info["task_id"] == "corridor-3":
            self.misbehave()
        return Decision("open" if room == target else "left" if room > target else "right")

    def misbehave(self):
        pass


class Raises(Reader):
    name = "raises"

    def misbehave(self):
        raise RuntimeError("no idea")


class Dies(Reader):
    name = "dies"

    def misbehave(self):
        os._exit(3)


class Killed(Reader):
    name = "killed"

    def misbehave(self):
        os.kill(os.getpid(), signal.SIGKILL)


class Exits(Reader):
    name = "exits"

    def misbehave(self):
        sys.exit("bye")


class Lacks(Reader):
    name = "lacks"

    def misbehave(self):
        raise MissingDependency("torch", "torch")


class Unpicklable(Reader):
    name = "unpicklable"

    def __init__(self):
        self.function = lambda: None


class UnmadeElsewhere(Reader):
    name = "unmade"

    def __init__(self):
        self.weights = "far away"

    def __setstate__(self, state):
        raise OSError("no model here")


class Slow(Reader):
    name = "slow"

    def act(self, observation, info):
        time.sleep(0.01)
        return super().act(observation, info)


class Signs(Slow):
    """Writes down which process and thread it is in."""

    name = "signs"

    def act(self, observation, info):
        decision = super().act(observation, info)
        return Decision(decision.action, rationale=f"{os.getpid()} {threading.get_ident()}")


class Stuck(Reader):
    """Waits for a network that does not answer, from corridor-3 on."""

    name = "stuck"

    def act(self, observation, info):
        if int(info["task_id"].split("-")[1]) >= 3:
            time.sleep(100)
        return super().act(observation, info)


FOUR = threading.Barrier(4, timeout=60)


class Together(Reader):
    """Begins an episode only when three others begin one as well. Notes who plays where."""

    name = "together"
    worlds = {}

    def watch(self, world):
        self.begun = False
        self.worlds.setdefault(threading.get_ident(), set()).add((id(self), id(world)))

    def act(self, observation, info):
        if not self.begun:
            self.begun = True
            FOUR.wait()
        return super().act(observation, info)


class Learner(Policy):
    """Opens at once in trial 0; in later trials reads."""

    name = "learner"

    def __init__(self):
        self.trial, self.reader = 0, Reader()

    def reset(self, seed=None, trial=0):
        self.trial = trial

    def act(self, observation, info):
        return self.reader.act(observation, info) if self.trial else Decision("open")


class Odd(Policy):
    """Writes what JSON or UTF-8 cannot hold, then stops."""

    name = "odd"

    def act(self, observation, info):
        return Decision(None, rationale="half \\\\ud800 pair", usage=Usage(3, 4, None))
'''


@pytest.fixture
def odd_policies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module of misbehaving policies, importable here and in spawned processes."""
    folder = tmp_path / "importable"
    folder.mkdir()
    (folder / "odd_policies.py").write_text(ODD_POLICIES.replace("\\\\ud800", "\\ud800"))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delitem(importlib.sys.modules, "odd_policies", raising=False)  # type: ignore[attr-defined]
    return importlib.import_module("odd_policies")


@pytest.fixture
def corridor() -> gym.Env[str, str]:
    return gym.make("llm_gym/Corridor-v0")


@pytest.fixture
def row() -> Callable[..., Row]:
    """A row of `episodes.jsonl` with the fields that a test cares about."""

    def make(task: str = "a", success: bool = False, **fields: Any) -> Row:
        return {
            "task_id": task,
            "repeat": 0,
            "trial": 0,
            "policy": "p",
            "category": "",
            "success": success,
            "score": 100.0 * success,
            "return": float(success),
            "steps": 1,
            "invalid_actions": 0,
            "ended_by": "task",
            "error": None,
            "metrics": {},
            "trajectory": [],
            **fields,
        }

    return make


@pytest.fixture
def plan() -> Callable[..., Plan]:
    def make(name: str = "p", **fields: Any) -> Plan:
        settings: dict[str, Any] = {
            "environment": {"id": "E-v0", "kwargs": {}, "max_episode_steps": 10, "wrappers": []},
            "description": {"split": "test", "products": 1000},
            "panel": {"name": "test", "digest": "d" * 16, "size": 500},
            "policy": {"name": name, "class": "m:P", "settings": {}},
            "n": 3,
            **fields,
        }
        return Plan(**settings)

    return make
