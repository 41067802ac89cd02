"""What an engine is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.wording import Wording


@dataclass(frozen=True, slots=True)
class Reply:
    """What the game says.

    Attributes:
        text: the observation; `NOTHING_HAPPENS` to a command that is not admissible.
        admissible: the commands that are possible now, in alphabetical order.
        won: whether the goal is met now.
    """

    text: str
    admissible: list[str]
    won: bool


class Engine(Protocol):
    """Plays one game at a time."""

    def begin(self, game: Game, goal: str, wording: Wording) -> Reply:
        """The first observation of a game, with these words for its goal.

        Raises:
            DataError: the game cannot be played here; the message says why.
        """

    def respond(self, command: str) -> Reply:
        """The answer to any text."""

    def close(self) -> None:
        """Give back what it holds. It can begin another game afterwards."""
