"""The planner in the official games: it wins all, and nothing shorter does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_gym.envs.alfworld.formula import compiled
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import after, moves
from llm_gym.envs.alfworld.planner import Planner
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.wording import CURRENT

pytestmark = pytest.mark.data


@pytest.fixture(scope="module")
def official(data_folder: Path) -> GameStore:
    return open_games(data_folder / "alfworld" / "games_v2.1.3_tw-pddl.tar.xz")


def test_the_plan_of_every_game_wins_and_is_no_longer_than_its_walkthrough(
    official: GameStore, player: Callable[..., Any]
) -> None:
    tasks = [(split, entry.task_id) for split in official.splits for entry in official.entries(split)]
    assert len(tasks) == 4027
    for split, task_id in tasks:
        game = official.game(split, task_id)
        playing = player(game.problem)
        house = playing.engine.house
        plan = Planner(house).plan(house.initial)
        assert plan is not None
        assert len(plan) <= len(game.walkthrough or ()), task_id
        for move in plan:
            assert not playing.won, task_id
            playing.do(command(house, move, CURRENT))
        assert playing.won, task_id


def test_wherever_somebody_wandered_no_shorter_plan_exists(official: GameStore) -> None:
    """No state that a few moves lead to is nearer to the goal than the planner says."""
    random = np.random.default_rng(3)
    split = "valid_unseen"
    for entry in official.entries(split)[::6]:
        house = House.of(official.game(split, entry.task_id).problem)
        planner, met, state = Planner(house), compiled(house), house.initial
        for _ in range(40):
            distance = planner.distance(state)
            assert distance is not None
            assert distance > 3 or distance == nearest(house, state, met, 3), entry.task_id
            best = planner.best_moves(state)
            assert all(planner.distance(after(house, state, move)) == distance - 1 for move in best)
            possible = [move for move in moves(house, state) if after(house, state, move) != state]
            heeded = best and random.random() < 0.5
            move = best[0] if heeded else possible[int(random.integers(len(possible)))]
            if planner.solvable(after(house, state, move)):
                state = after(house, state, move)


def nearest(house: House, state: State, met: Callable[[State], bool], most: int) -> int | None:
    """The fewest moves to the goal, by trying all."""
    reached = {state}
    for distance in range(most + 1):
        if any(map(met, reached)):
            return distance
        reached = {after(house, state, move) for state in reached for move in moves(house, state)}
    return None
