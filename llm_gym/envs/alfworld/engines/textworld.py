"""The official engine: TextWorld, with the rules and the grammar that come with the package `alfworld`."""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from llm_gym.envs.alfworld.engines.alfred import domain, grammar
from llm_gym.envs.alfworld.engines.base import Reply
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.names import display_names
from llm_gym.envs.alfworld.wording import Wording
from llm_gym.errors import BadRecord
from llm_gym.extras import require

_EXTRA: Final = "alfworld"
_PLAYING: Final = threading.Lock()
"""Held whenever TextWorld works: its parsers are shared, and loading a game sets sys.argv and swaps sys.stdout."""
_IDLE: Final[list[Any]] = []
"""Worlds that no engine uses now. Each keeps a library mapped until the process ends, so none is ever thrown away."""
_UNREACHABLE: Final = "val1"
"""What TextWorld looks for in vain among the things of a game whose goal cannot be met."""


class TextWorldEngine:
    """Plays games in a `textworld.envs.PddlEnv`, which it borrows from those that no other engine uses.

    Engines may play in different threads: they take turns.
    """

    def __init__(self) -> None:
        require("fast_downward", _EXTRA)
        require("textworld", _EXTRA)
        self._world: Any = None
        self._give_back: Callable[[], object] = lambda: None
        self._game: Game | None = None

    def begin(self, game: Game, goal: str, wording: Wording) -> Reply:
        self._game = None
        with _contained(game):
            if self._world is None:
                self._world = _IDLE.pop() if _IDLE else _new_world()
                self._give_back = weakref.finalize(self, _IDLE.append, self._world)
            state = _loaded(self._world, game, wording)
        self._game = game
        return _reply(state, state["feedback"] + goal)

    def respond(self, command: str) -> Reply:
        """The answer to any text; only one that is an admissible command is more than compared with those."""
        if self._game is None:
            raise BadRecord("No game is being played: the last one could not begin.")
        with _contained(self._game):
            state, _, _ = self._world.step(command)
        return _reply(state, state["feedback"])

    def close(self) -> None:
        self._give_back()
        self._world, self._game = None, None


def _reply(state: Any, text: str) -> Reply:
    return Reply(text, list(state["admissible_commands"]), bool(state["won"]))


def _new_world() -> Any:
    textworld = require("textworld", _EXTRA)
    return require("textworld.envs.pddl", _EXTRA).PddlEnv(textworld.EnvInfos(won=True, admissible_commands=True))


def _loaded(world: Any, game: Game, wording: Wording) -> Any:
    """The first state of a game, with things called as `alfworld` calls them."""
    world.load({"pddl_domain": domain(wording), "grammar": grammar(wording), "pddl_problem": game.problem.to_pddl()})
    things = world._entity_infos
    names = display_names(things)
    for identity, thing in things.items():
        thing.name = names[identity]
    return world.reset()


@contextmanager
def _contained(game: Game) -> Iterator[None]:
    """One engine at a time, and what TextWorld does to the process is undone; what it raises names the game."""
    with _PLAYING:
        kept = sys.argv, sys.stdout
        try:
            yield
        except (Exception, SystemExit) as error:
            raise BadRecord(f"TextWorld cannot play game {game.task_id}: {_reason(error)}.") from error
        finally:
            sys.argv, sys.stdout = kept


def _reason(error: BaseException) -> str:
    if isinstance(error, KeyError) and error.args == (_UNREACHABLE,):
        return "its goal can never be met"
    return f"{type(error).__name__} {error}".strip()
