"""The solution that the makers of a game wrote into it."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from llm_gym.core import Decision, Info
from llm_gym.envs.alfworld.env import ALFWorld
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import after, moves
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.wording import Wording
from llm_gym.errors import InvalidSetting
from llm_gym.policies.base import Policy


class WalkthroughPolicy(Policy):
    """Plays the walkthrough of an ALFWorld game, and says why it stops where that does not help.

    It goes on from any state that the walkthrough passes through, also when somebody else went there; away from them
    it stops. Only games of ALFWorld have walkthroughs, and not all.
    """

    name = "walkthrough"

    def __init__(self) -> None:
        self._world: gym.Env[str, str] | None = None
        self._game: Game | None = None
        self._next: dict[State, str] = {}
        """State that the walkthrough passes through → its command there."""

    def watch(self, world: gym.Env[str, str]) -> None:
        self._world = world

    def act(self, observation: str, info: Info) -> Decision:
        world = self._world
        if world is None:
            raise InvalidSetting("The walkthrough is the world's: call watch(env.unwrapped) before an episode.")
        if not isinstance(world, ALFWorld):
            return Decision(None, f"{type(world).__name__} has no walkthroughs.")
        if world.walkthrough is None:
            return Decision(None, "This game has no walkthrough.")
        if self._game is not world.game:
            self._game = world.game
            self._next = _by_state(world.house, world.walkthrough, world.wording)
        action = self._next.get(world.state)
        return Decision(action, "" if action else "The walkthrough has nothing to say about this state.")

    def __getstate__(self) -> dict[str, Any]:
        """World and game stay where they are: another process has its own."""
        return self.__dict__ | {"_world": None, "_game": None, "_next": {}}


def _by_state(house: House, walkthrough: list[str], wording: Wording) -> dict[State, str]:
    """The commands by the states they are for, up to one that is impossible; of a state passed twice the last one."""
    following: dict[State, str] = {}
    state = house.initial
    for action in walkthrough:
        move = next((move for move in moves(house, state) if command(house, move, wording) == action), None)
        if move is None:
            break
        following[state] = action
        state = after(house, state, move)
    return following
