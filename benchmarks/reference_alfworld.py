"""The original ALFWorld: TextWorld, unchanged, playing the files of a release as `alfworld` wraps it."""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
import re
import sys
import tarfile
import tempfile
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from unittest import mock

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.wording import TASK_PREFIX


@dataclass(frozen=True)
class OfficialGame:
    """One `game.tw-pddl`, as it is in a release."""

    task_id: str
    split: str
    content: bytes

    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.content)
        return data

    def game(self) -> Game:
        """The same, as our engines take it."""
        data = self.data()
        sentence = re.search(re.escape(TASK_PREFIX) + '([^"]*)"', data["grammar"])
        assert sentence is not None, self.task_id
        walkthrough = data.get("walkthrough")
        return Game(
            self.task_id,
            self.split,
            sentence[1],
            Problem.parse(data["pddl_problem"]),
            walkthrough=None if walkthrough is None else tuple(walkthrough),
            solvable=data.get("solvable", False),
        )


def official_games(release: Path, wanted: Collection[str] | None = None) -> Iterator[OfficialGame]:
    """The games of a release's archive, or those of them whose task id is wanted."""
    with tarfile.open(release) as archive:
        for member in archive:
            split, task, trial, name = ("", "", "", *PurePosixPath(member.name).parts)[-4:]
            if name == "game.tw-pddl" and (wanted is None or f"{task}/{trial}" in wanted):
                file = archive.extractfile(member)
                assert file is not None, member.name
                yield OfficialGame(f"{task}/{trial}", split, file.read())


@dataclass(frozen=True)
class Said:
    """What the original says: a reply with its score and whether it is over."""

    text: str
    admissible: list[str]
    won: bool
    score: int
    done: bool


class ReferenceWorld:
    """Plays any number of games, one after the other, in one `PddlEnv`."""

    def __init__(self) -> None:
        import textworld

        asked = textworld.EnvInfos(won=True, admissible_commands=True, extras=["gamefile"])
        infos, demangler = _wrappers()
        self._env = infos(demangler(textworld.envs.PddlEnv(asked), shuffle=False))

    def begin(self, game: OfficialGame) -> Said:
        with _arguments_kept():
            self._env.load(game.data())
            state = self._env.reset()
        return _said(state, 0, False)

    def respond(self, command: str) -> Said:
        state, score, done = self._env.step(command)
        return _said(state, score, done)


def _said(state: Any, score: int, done: bool) -> Said:
    return Said(state["feedback"], list(state["admissible_commands"]), state["won"], score, done)


def _wrappers() -> tuple[Any, Any]:
    """AlfredInfos and AlfredDemangler; the import makes a folder for data, and it shall not be in the home."""
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(os.environ, ALFWORLD_DATA=folder),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        from alfworld.agents.environment.alfred_tw_env import AlfredDemangler, AlfredInfos
    return AlfredInfos, AlfredDemangler


@contextlib.contextmanager
def _arguments_kept() -> Iterator[None]:
    """Loading a game overwrites them."""
    kept = sys.argv
    try:
        yield
    finally:
        sys.argv = kept


@contextlib.contextmanager
def hurried() -> Iterator[None]:
    """TextWorld without work that cannot change what it says, several times faster.

    What was parsed is remembered, a context is copied one level deep, and a game is translated once instead of four
    times: loading and resetting do the same, and the second translation of each is for a planner that nobody asks.
    """
    import fast_downward
    import textworld.logic
    from textworld.envs.pddl import textgen

    parsed = _remembering(textgen._parse_and_convert)
    translated = functools.lru_cache(maxsize=1)(fast_downward.pddl2sas)
    with (
        mock.patch.object(textgen, "_parse_and_convert", lambda *text, **kind: copy.deepcopy(parsed(*text, **kind))),
        mock.patch.object(
            textgen, "deepcopy", lambda whole: dict(whole) if type(whole) is dict else copy.deepcopy(whole)
        ),
        mock.patch.object(textworld.logic, "_parse_and_convert", _remembering(textworld.logic._parse_and_convert)),
        mock.patch.object(fast_downward, "pddl2sas", lambda domain, problem, **_: translated(domain, problem)),
    ):
        yield


def _remembering(function: Any) -> Any:
    return functools.lru_cache(maxsize=10_000)(function)
