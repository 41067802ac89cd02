"""Makes the games: places the things of each, and keeps only those that can be won and are not won already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.generator.dice import Dice
from llm_gym.envs.alfworld.generator.placements import initial_facts
from llm_gym.envs.alfworld.generator.plan import Order, Settings, orders
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.store import GameStore, write_store
from llm_gym.envs.alfworld.wording import CURRENT

_SHORTEST = 3
"""Commands of the shortest official walkthrough."""
_ATTEMPTS = 100
Progress = Callable[[int], None]


def invented_games(settings: Settings) -> Iterator[Game]:
    """All games of all splits, with their walkthroughs."""
    for order in orders(settings):
        yield _game(order, settings.seed)


def build_invented(settings: Settings, target: Path, progress: Progress = lambda done: None) -> GameStore:
    """The store of the games, at `target`, which appears only when all is done.

    Raises:
        InvalidSetting: `target` exists already.
    """

    def games() -> Iterator[Game]:
        for done, game in enumerate(invented_games(settings), start=1):
            yield game
            progress(done)

    about = {"source": f"invented with seed {settings.seed}", "wording": CURRENT.name}
    return write_store(target, games(), name=settings.name, about=about)


def _game(order: Order, seed: int) -> Game:
    """The first attempt that is a fair game: most are."""
    room, wish = order.room, order.wish
    trial = f"trial_{room.name}_{order.number:03}"
    for attempt in range(_ATTEMPTS):
        dice = Dice(seed, "game", room.name, order.number, attempt)
        problem = Problem(f"plan_{trial}", initial_facts(room, wish, dice), wish.goal())
        house = House.of(problem)
        plan = Planner(house).plan(house.initial)
        if plan is not None and len(plan) >= _SHORTEST:
            walkthrough = tuple(command(house, move, CURRENT) for move in plan)
            folder = f"{wish.folder}-{room.name}"
            return Game(f"{folder}/{trial}", order.split, dice.pick(wish.sentences()), problem, walkthrough)
    raise AssertionError(f"{wish} cannot be set in {room.name}")
