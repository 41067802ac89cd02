"""Reads a game from `game.tw-pddl`, of either release."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, TASK_PREFIX, Wording, reworded
from llm_gym.errors import BadRecord

_OPENING = "You open the {r.name}. #examineReceptacle.feedback#"
_SENTENCES: Mapping[Wording, tuple[str, ...]] = {
    CURRENT: ("You arrive at {r.name}. #examineReceptacle", "You move the {o.name} to the {r.name}.", _OPENING),
    ORIGINAL: ("You arrive at {lend.name}. #examineReceptacle", "You put the {o.name} in/on the {r.name}.", _OPENING),
}
"""What the grammar of a game says on arriving, on putting something down and on opening."""
_GOAL = re.compile(re.escape(TASK_PREFIX) + r'((?:[^"\\]|\\.)*)"')
_UNSUPPORTED = ("movable", "Sliced")


@dataclass(frozen=True, slots=True)
class GameFile:
    """What a `game.tw-pddl` holds.

    Attributes:
        solvable: None where the file does not say.
    """

    where: str
    grammar: str
    problem: str
    solvable: bool | None
    walkthrough: tuple[str, ...] | None

    @classmethod
    def parse(cls, content: bytes, where: str) -> GameFile:
        """Read the file.

        Raises:
            BadRecord: it is no JSON, or a part is missing or of the wrong type.
        """
        try:
            data = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            raise BadRecord(f"{where} is no JSON: {error}.") from error
        if not isinstance(data, dict):
            raise BadRecord(f"{where} holds no JSON object.")
        solvable, walkthrough = data.get("solvable"), data.get("walkthrough")
        if not isinstance(solvable, bool | None):
            raise BadRecord(f"{where}: solvable is true or false, not {solvable!r:.50}.")
        if walkthrough is not None and not _is_list_of_texts(walkthrough):
            raise BadRecord(f"{where}: walkthrough is a list of commands, not {walkthrough!r:.50}.")
        commands = None if walkthrough is None else tuple(reworded(command, CURRENT) for command in walkthrough)
        return cls(where, _text(data, "grammar", where), _text(data, "pddl_problem", where), solvable, commands)

    def wording(self) -> Wording:
        """The wording of its grammar.

        Raises:
            BadRecord: it is neither of the two that the releases have, so that the game would say other things.
        """
        for wording, sentences in _SENTENCES.items():
            if all(sentence in self.grammar for sentence in sentences):
                return wording
        raise BadRecord(f"{self.where}: its grammar words things as neither release 2.1.1 nor 2.1.3 does.")

    def goal(self) -> str:
        """The sentence after "Your task is to: "."""
        found = _GOAL.search(self.grammar)
        if found is None:
            raise BadRecord(f"{self.where}: its grammar says nothing after {TASK_PREFIX!r}.")
        try:
            goal: str = orjson.loads(f'"{found[1]}"')
        except orjson.JSONDecodeError as error:
            raise BadRecord(f"{self.where}: its goal {found[1]!r:.80} is no JSON text.") from error
        return goal

    def game(self, task_id: str, split: str, annotations: tuple[str, ...] = ()) -> Game:
        """The game.

        Raises:
            BadRecord: the grammar or the problem breaks the format; the message names the file.
        """
        self.wording()
        try:
            problem = Problem.parse(self.problem)
        except BadRecord as error:
            raise BadRecord(f"{self.where}: {error}") from error
        return Game(task_id, split, self.goal(), problem, self.walkthrough, annotations, self.solvable is True)


def read_game(content: bytes, where: str, task_id: str, split: str) -> Game:
    """A game from the bytes of its file; `where` names the file in messages.

    Raises:
        BadRecord: the file breaks the format.
    """
    return GameFile.parse(content, where).game(task_id, split)


def reason_to_leave_out(task_id: str, file: GameFile) -> str | None:
    """Why a game belongs to no panel, as the original has it; None: it does."""
    for word in _UNSUPPORTED:
        if word in task_id:
            return f"{word} in its name"
    if file.solvable is None:
        return "not said to be solvable"
    return None if file.solvable else "not solvable"


def _text(data: Mapping[str, Any], key: str, where: str) -> str:
    value = data.get(key)
    if not isinstance(value, str):
        raise BadRecord(f"{where}: {key} is {'missing' if value is None else 'no text'}.")
    return value


def _is_list_of_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
