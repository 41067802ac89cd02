"""The engine: which commands it follows, what it refuses, and that nothing is shared that should not be."""

from __future__ import annotations

import gc
import re
import sys
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.engines.native import NativeEngine, house_of
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.moves import moves
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.sentences import command
from llm_gym.envs.alfworld.wording import CURRENT, NOTHING_HAPPENS, ORIGINAL, Wording
from llm_gym.errors import BadRecord

Make = Callable[..., Any]
both_wordings = pytest.mark.parametrize("wording", [CURRENT, ORIGINAL], ids=["current", "original"])


@pytest.fixture
def game(player: Make, kitchen: Problem) -> Any:
    """With apple 1 in the hand, at the countertop."""
    game = player(kitchen)
    game.do("go to countertop 1", "take apple 1 from countertop 1")
    return game


# -- commands are exact --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "\n",
        "Look",
        "LOOK",
        "look.",
        "look!",
        "l",
        "i",
        "x countertop 1",
        "look around",
        "inventory 1",
        "go to  fridge 1",
        "go  to fridge 1",
        "go to\tfridge 1",
        "go to\nfridge 1",
        "go to fridge",
        "go to fridge 01",
        "go to fridge 1.",
        "go to fridge 1 1",
        "go to Fridge 1",
        "go to the fridge 1",
        "go to a fridge 1",
        "go fridge 1",
        "goto fridge 1",
        "walk to fridge 1",
        "go to fridge 2",
        "go to fridge 1, look",
        "go to fridge 1\nlook",
        "go to loc 4",
        "go to fridge\u00a01",
        "go to fridge １",
        "go to fridge 1\u200b",
        "go to fridge 1\0",
        "\0",
        "\ud800",
        "открыть",
        "put apple 1 in/on countertop 1",
        "put apple 1 in countertop 1",
        "put apple 1 on countertop 1",
        "drop apple 1",
        "move apple 1 to the countertop 1",
        "move apple 1 in/on countertop 1",
        "insert apple 1 into countertop 1",
        "take egg 1",
        "toggle desklamp 1",
        "slice apple 1",
        "eat apple 1",
        "examine egg 1",
        "help me",
        "{0}",
        "%s",
        "move {object} to {receptacle}",
        "look" * 25_000,
        "go to " + "fridge " * 14_000 + "1",
    ],
    ids=lambda text: ascii(text[:40]),
)
def test_only_the_very_words_are_followed(game: Any, text: str) -> None:
    state, admissible, won = game.engine.state, game.reply.admissible, game.won
    assert game.type(text) == "Nothing happens."
    assert game.engine.state is state
    assert (game.reply.admissible, game.won) == (admissible, won)


@pytest.mark.parametrize(
    "text", [" look", "look ", "\tlook\n", "\r\nlook\r\n", "\u00a0look\u2003", " " * 50_000 + "look"]
)
def test_blanks_around_a_command_are_of_no_matter(game: Any, text: str) -> None:
    assert game.type(text) == "You are facing the countertop 1. Next to it, you see nothing."


def test_each_wording_knows_only_its_own_verb(player: Make, kitchen: Problem) -> None:
    words = {CURRENT: "move apple 1 to countertop 1", ORIGINAL: "put apple 1 in/on countertop 1"}
    for wording, other in ((CURRENT, ORIGINAL), (ORIGINAL, CURRENT)):
        game = player(kitchen, wording)
        game.do("go to countertop 1", "take apple 1 from countertop 1")
        assert game.type(words[other]) == "Nothing happens."
        assert game.type(words[wording]).startswith("You ")


def test_ten_thousand_long_commands_take_no_time(game: Any) -> None:
    text = "go to fridge 1 " * 7_000
    begin = time.process_time()
    for _ in range(200):
        game.type(text)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize(
    ("steps", "command"),
    [
        (["go to cabinet 1"], "go to cabinet 2"),  # it is at the same place
        (["go to fridge 1"], "go to fridge 1"),
        (["go to countertop 1", "take egg 1 from countertop 1"], "take apple 1 from countertop 1"),  # full hands
        (["go to fridge 1"], "take lettuce 1 from fridge 1"),  # closed
        (["go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1"], "move apple 1 to fridge 1"),
        (
            ["go to stoveburner 1", "take pan 1 from stoveburner 1", "go to fridge 1", "open fridge 1"],
            "move pan 1 to fridge 1",
        ),
        (["go to countertop 1"], "take houseplant 1 from countertop 1"),  # it is not to be picked up
        (["go to countertop 1"], "examine apple 1"),  # it is not in the hand
        (["go to cabinet 2", "open cabinet 2"], "examine desklamp 1"),
        (["go to cabinet 2", "open cabinet 2"], "open cabinet 2"),
        (["go to cabinet 2"], "close cabinet 2"),
        (["go to countertop 1"], "open countertop 1"),
        (["go to countertop 1"], "open fridge 1"),
        (["go to countertop 1"], "examine fridge 1"),
        (["go to countertop 1"], "use desklamp 1"),
        (["go to sinkbasin 1"], "clean potato 1 with sinkbasin 1"),  # it lies there, but is not in the hand
        (["go to countertop 1", "take egg 1 from countertop 1", "go to fridge 1"], "heat egg 1 with fridge 1"),
        (["go to countertop 1", "take knife 1 from countertop 1", "go to fridge 1"], "cool knife 1 with fridge 1"),
        (["go to countertop 1", "take egg 1 from countertop 1"], "slice apple 1 with egg 1"),
        (["go to countertop 1"], "slice apple 1 with knife 1"),
        (["go to countertop 1", "take knife 1 from countertop 1"], "slice egg 1 with knife 1"),
        (["go to countertop 1", "take knife 1 from countertop 1"], "slice lettuce 1 with knife 1"),
        (["go to countertop 1", "take knife 1 from countertop 1"], "take knife 1 from countertop 1"),
        (["go to countertop 1", "take knife 1 from countertop 1"], "move egg 1 to countertop 1"),
        (["go to sinkbasin 1"], "go to sink 1"),  # an object
        ([], "go to loc 1"),
        ([], "examine cabinet 1"),
    ],
)
def test_what_is_not_possible_does_nothing(player: Make, kitchen: Problem, steps: list[str], command: str) -> None:
    game = player(kitchen)
    game.do(*steps)
    state = game.engine.state
    assert not game.can(command)
    assert game.type(command) == "Nothing happens."
    assert game.engine.state is state


@both_wordings
@given(data=st.data())
def test_the_admissible_commands_are_the_moves_in_words_wherever_one_wanders(
    houses: Make, player: Make, wording: Wording, data: st.DataObject
) -> None:
    game = player(data.draw(houses()), wording)
    engine = game.engine
    for _ in range(data.draw(st.integers(0, 12))):
        admissible = game.reply.admissible
        words = {command(engine.house, move, wording) for move in moves(engine.house, engine.state)}
        assert admissible == sorted(words | ({"help"} if wording is CURRENT else set()))
        assert game.type(data.draw(st.text(max_size=30)).strip("abcdefghijklmnopqrstuvwxyz")) == NOTHING_HAPPENS
        assert game.do(data.draw(st.sampled_from(admissible))) != NOTHING_HAPPENS


def test_the_help_that_is_longest_of_all_changes_nothing(game: Any) -> None:
    state = game.engine.state
    game.do("help")
    assert game.engine.state is state


# -- going back ----------------------------------------------------------------------------------------------------


def test_restoring_says_what_look_says(game: Any) -> None:
    engine, state = game.engine, game.engine.state
    game.do("go to cabinet 1", "open cabinet 2")
    reply = engine.restore(state)
    assert reply.text == "You are facing the countertop 1. Next to it, you see nothing."
    assert "move apple 1 to countertop 1" in reply.admissible
    assert engine.respond("inventory").text == "You are carrying: a apple 1."


@given(data=st.data())
def test_a_restored_state_answers_as_it_did(houses: Make, player: Make, data: st.DataObject) -> None:
    game = player(data.draw(houses()))
    engine = game.engine
    seen = []
    for _ in range(data.draw(st.integers(1, 8))):
        chosen = data.draw(st.sampled_from(game.reply.admissible))
        state = engine.state
        game.do(chosen)
        seen.append((state, chosen, game.reply))
    for state, chosen, reply in data.draw(st.permutations(seen)):
        engine.restore(deepcopy(state))
        assert engine.respond(chosen) == reply


def test_restoring_tells_whether_the_goal_is_met_there(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "cup_bar_1").flag("cup_bar_1", "pickupable").fits("shelf", "cup")
    game = player(house.problem("(exists (?o - object ?a - agent) (holds ?a ?o))"))
    before = game.engine.state
    game.do("go to shelf 1", "take cup 1 from shelf 1")
    after = game.engine.state
    assert game.won
    assert not game.engine.restore(before).won
    assert game.engine.restore(after).won


# -- engines do not disturb each other -----------------------------------------------------------------------------


def test_one_engine_plays_one_game_after_another(player: Make, kitchen: Problem, sketch: Make) -> None:
    game = player(kitchen)
    game.do("go to fridge 1", "open fridge 1")
    other = Game("other/trial", "train", "look.", sketch().receptacle("shelf_bar_1", 1).problem())
    reply = game.engine.begin(other, other.goal, ORIGINAL)
    assert reply.admissible == ["go to shelf 1", "inventory", "look"]
    assert game.type("go to fridge 1") == "Nothing happens."
    fresh = game.engine.begin(Game("task/trial", "train", "do it.", kitchen), "do it.", CURRENT)
    assert fresh == player(kitchen).reply


def test_a_game_that_cannot_be_played_leaves_the_engine_with_the_one_before(game: Any, sketch: Make) -> None:
    state = game.engine.state
    with pytest.raises(BadRecord, match="Game bad/trial: The agent of a problem begins at one location"):
        game.engine.begin(Game("bad/trial", "train", "x.", sketch(start=None).problem()), "x.", ORIGINAL)
    assert game.engine.state is state
    assert game.type("move apple 1 to countertop 1") == "You move the apple 1 to the countertop 1."


ODD_WORDS = st.sampled_from(["(", ")", "and", "not", "exists", "forall", "=", "-", "?o", "?r", "object", "receptacle"])


@given(data=st.data())
def test_a_damaged_game_is_refused_with_a_sentence_or_played(player: Make, sketch: Make, data: st.DataObject) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "cup_bar_1").flag("cup_bar_1", "pickupable").fits("shelf", "cup")
    goal = "(exists (?r - receptacle ?o - object) (and (objectType ?o CupType) (not (isHot ?o)) (inReceptacle ?o ?r)))"
    words = re.findall(r"\(:?|\)|[^\s()]+", house.problem(goal).to_pddl())
    begin = words.index("(:", words.index("init") + 1)  # the goal: most of what can go wrong is there
    for _ in range(data.draw(st.integers(1, 4))):
        first, last = data.draw(st.integers(begin, len(words) - 1)), data.draw(st.integers(0, len(words) - 1))
        change = data.draw(st.sampled_from(["copy", "cut", "swap", "insert"]))
        if change == "copy":
            words[first] = words[last]
        elif change == "cut":
            del words[first]
        elif change == "swap":
            words[first], words[last] = words[last], words[first]
        else:
            words.insert(first, data.draw(ODD_WORDS))
    try:
        game = player(Problem.parse(" ".join(words).replace("(: ", "(:")))
    except BadRecord:
        return
    for possible in game.reply.admissible:
        game.type(possible)


def test_the_caller_may_change_the_list_of_commands(game: Any) -> None:
    listed = list(game.reply.admissible)
    game.reply.admissible.clear()
    assert game.engine.respond("nonsense").admissible == listed
    assert game.engine.respond("look").admissible == listed


def test_two_players_of_one_game_in_two_threads_do_not_disturb_each_other(player: Make, kitchen: Problem) -> None:
    plans = [
        [
            "go to countertop 1",
            "take apple 1 from countertop 1",
            "go to fridge 1",
            "open fridge 1",
            "move apple 1 to fridge 1",
        ],
        [
            "go to cabinet 2",
            "open cabinet 2",
            "take mug 1 from cabinet 2",
            "go to sinkbasin 1",
            "clean mug 1 with sinkbasin 1",
        ],
    ]

    def told(plan: list[str]) -> list[str]:
        game = player(kitchen)
        return [game.do(step) for step in plan] + game.reply.admissible

    alone = [told(plan) for plan in plans]
    different: list[Any] = []

    def play(number: int) -> None:
        for _ in range(100):
            try:
                if told(plans[number % 2]) != alone[number % 2]:
                    different.append(number)
            except AssertionError as error:
                different.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=play, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert different == []


def test_a_thousand_games_leave_nothing_behind(kitchen: Problem, sketch: Make) -> None:
    other = sketch().receptacle("shelf_bar_1", 1, "cup_bar_1").problem()
    games = [Game("a/1", "train", "x.", kitchen), Game("b/1", "train", "x.", other)]
    engine = NativeEngine()

    def play(count: int) -> None:
        for number in range(count):
            reply = engine.begin(games[number % 2], "x.", CURRENT)
            for step in reply.admissible:
                engine.respond(step)

    play(20)
    gc.collect()
    before = sys.getallocatedblocks()
    play(1000)
    gc.collect()
    assert sys.getallocatedblocks() - before < 1_000


def test_houses_are_shared_by_engines_and_forgotten_in_time(kitchen: Problem, sketch: Make) -> None:
    house, _ = house_of(kitchen)
    assert house_of(kitchen)[0] is house
    for number in range(100):
        house_of(sketch().receptacle(f"shelf_bar_{number}", 1).problem())
    assert house_of(kitchen)[0] is not house
