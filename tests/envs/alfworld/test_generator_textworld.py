"""Invented games load in TextWorld and are won there, with the same words."""

from __future__ import annotations

import pytest

from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.engines.textworld import TextWorldEngine
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.envs.alfworld.wording import CURRENT

pytestmark = [pytest.mark.textworld, pytest.mark.usefixtures("_textworld_packages")]


@pytest.mark.parametrize("task_type", TASK_TYPES)
def test_a_game_of_each_type_is_won_with_the_same_words(task_type: str) -> None:
    store = open_games("embedded")
    games = (store.game("valid_unseen", entry.task_id) for entry in store.entries("valid_unseen"))
    game = min((game for game in games if game.task_type == task_type), key=lambda game: len(game.problem.facts))
    native, textworld = NativeEngine(), TextWorldEngine()
    replies = [(native.begin(game, game.goal, CURRENT), textworld.begin(game, game.goal, CURRENT))]
    replies += [(native.respond(command), textworld.respond(command)) for command in game.walkthrough or ()]
    textworld.close()
    for mine, theirs in replies:
        assert mine == theirs
    assert [theirs.won for _, theirs in replies] == [False] * (len(replies) - 1) + [True]
