"""Our own engine: the same text, commands and wins as TextWorld, without it."""

from __future__ import annotations

from functools import lru_cache

from llm_gym.envs.alfworld.engines.base import Reply
from llm_gym.envs.alfworld.formula import Condition, compiled
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import LOOK, Move, after, moves_here, ways
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.sentences import command, feedback, introduction
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.wording import CURRENT, NOTHING_HAPPENS, Wording
from llm_gym.errors import BadRecord

_CACHED_HOUSES = 32


class NativeEngine:
    """A state machine of the ALFRED actions.

    Attributes:
        house: what does not change in the present game.
        state: what does.
    """

    house: House
    state: State

    def __init__(self) -> None:
        self._wording = CURRENT
        self._possible: dict[str, Move] = {}

    def begin(self, game: Game, goal: str, wording: Wording) -> Reply:
        try:
            self.house, self._is_met = house_of(game.problem)
        except BadRecord as error:
            raise BadRecord(f"Game {game.task_id}: {error}") from None
        self._wording = wording
        self._commands = _Commands(self.house, wording)
        self._ways = sorted((self._commands[way], way) for way in ways(self.house))
        self.state = self.house.initial
        self._won = self._is_met(self.state)
        return self._reply(introduction(self.house, self.state, goal))

    def respond(self, command: str) -> Reply:
        text = command.strip()
        move = self._possible.get(text)
        if move is not None:
            self._move(after(self.house, self.state, move))
            return self._reply(feedback(self.house, self.state, move, self._wording))
        if text == "help" and self._wording.help is not None:
            return self._reply(self._wording.help)
        return self._reply(NOTHING_HAPPENS)

    def restore(self, state: State) -> Reply:
        """Go on from another state of the present game."""
        self._move(state)
        return self._reply(feedback(self.house, state, LOOK, self._wording))

    def close(self) -> None:
        """There is nothing to give back."""

    def _move(self, state: State) -> None:
        if state is not self.state:
            self.state, self._won = state, self._is_met(state)

    def _reply(self, text: str) -> Reply:
        state = self.state
        place = self.house.place
        self._possible = {words: way for words, way in self._ways if place[way.place] != state.location}
        self._possible |= {self._commands[move]: move for move in moves_here(self.house, state)}
        extra = [] if self._wording.help is None else ["help"]
        return Reply(text, sorted([*self._possible, *extra]), self._won)


class _Commands(dict[Move, str]):
    """The moves of a game as one types them, each worded once."""

    def __init__(self, house: House, wording: Wording) -> None:
        super().__init__()
        self._house, self._wording = house, wording

    def __missing__(self, move: Move) -> str:
        self[move] = words = command(self._house, move, self._wording)
        return words


@lru_cache(maxsize=_CACHED_HOUSES)
def house_of(problem: Problem) -> tuple[House, Condition]:
    """A problem ready to be played, and its goal; shared by all environments of the process."""
    house = House.of(problem)
    return house, compiled(house)
