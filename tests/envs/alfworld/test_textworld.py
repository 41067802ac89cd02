"""The TextWorld engine: what it plays, and that nothing of it leaks into the process."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from llm_gym.envs.alfworld.engines import make_engine
from llm_gym.envs.alfworld.engines.alfred import domain, grammar
from llm_gym.envs.alfworld.engines.base import Reply
from llm_gym.envs.alfworld.engines.textworld import TextWorldEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import Expression
from llm_gym.envs.alfworld.wording import CURRENT, NOTHING_HAPPENS, ORIGINAL, Wording
from llm_gym.errors import DataError, DataMismatch, MissingDependency

pytestmark = [pytest.mark.textworld, pytest.mark.usefixtures("_textworld_packages")]

GOAL = """(exists (?r - receptacle ?o - object) (and
    (receptacleType ?r {receptacle}Type) (objectType ?o {thing}Type) (inReceptacle ?o ?r)))"""
WINNING = [
    *("go to cabinet 1", "open cabinet 1", "take mug 1 from cabinet 1"),
    *("go to fridge 1", "open fridge 1", "move mug 1 to fridge 1"),
]


@pytest.fixture
def games(sketch: Any, parse_goal: Callable[[str], Expression]) -> Callable[[str, str], Game]:
    """A small house with the task to put a thing into a receptacle."""
    house = (
        sketch()
        .receptacle("cabinet_bar_1", 1, "mug_bar_1", "openable")
        .receptacle("fridge_bar_1", 2, "egg_bar_1", "openable")
        .flag("mug_bar_1 egg_bar_1", "pickupable coolable")
        .fits("fridge", "mug egg")
        .problem()
    )

    def game(thing: str, receptacle: str) -> Game:
        problem = replace(house, goal=parse_goal(GOAL.format(thing=thing, receptacle=receptacle)))
        return Game(f"{thing}-{receptacle}/trial", "train", f"put some {thing} in {receptacle}.", problem)

    return game


@pytest.fixture
def game(games: Callable[[str, str], Game]) -> Game:
    return games("mug", "fridge")


@pytest.fixture
def hopeless(games: Callable[[str, str], Game]) -> Game:
    """There is no safe."""
    return games("mug", "safe")


def begin(engine: TextWorldEngine, game: Game, wording: Wording = CURRENT) -> Reply:
    return engine.begin(game, game.goal, wording)


def test_a_game_is_won_at_its_last_command(game: Game) -> None:
    engine = make_engine("textworld")
    replies = [engine.begin(game, game.goal, CURRENT), *(engine.respond(command) for command in WINNING)]
    assert [reply.won for reply in replies] == [False] * len(WINNING) + [True]
    assert replies[-1].text == "You move the mug 1 to the fridge 1."
    engine.close()


def test_a_second_game_begins_where_the_first_began(game: Game) -> None:
    engine = TextWorldEngine()
    first = begin(engine, game)
    for command in WINNING:
        engine.respond(command)
    assert begin(engine, game) == first
    engine.close()


@pytest.mark.parametrize(
    "goal",
    [
        "put {1/0} [{o.name | holds(a:agent, o:object)}] #intro# in it.",
        'put "a|b"; <c> # in\\n it',
        "café, mug № 1 … 杯.",
        "  two  blanks and a\ttab ",
        "",
    ],
)
def test_words_of_people_are_said_as_they_are(game: Game, goal: str) -> None:
    engine = TextWorldEngine()
    assert engine.begin(game, goal, CURRENT).text.partition("\n\nYour task is to: ")[2] == goal
    engine.close()


@pytest.mark.parametrize(
    "command",
    [
        "",
        " \t\n",
        "LOOK",
        "look\nlook",
        "l\u00f6\u00f6k",
        "\x00",
        "go to fridge  1",
        "{1/0}",
        "#intro#",
        "[{o.name | holds(a:agent, o:object)}]",
        "look" * 25_000,
    ],
)
def test_a_command_that_is_none_changes_nothing(game: Game, command: str) -> None:
    engine = TextWorldEngine()
    before = begin(engine, game)
    assert engine.respond(command) == Reply(NOTHING_HAPPENS, before.admissible, won=False)
    assert engine.respond("inventory").text == "You are not carrying anything."
    engine.close()


def test_loading_leaves_arguments_and_output_alone(
    game: Game, hopeless: Game, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, output = ["program", "--flag"], sys.stdout
    monkeypatch.setattr(sys, "argv", arguments)
    engine = TextWorldEngine()
    begin(engine, game)
    with pytest.raises(DataError):
        begin(engine, hopeless)
    assert sys.argv is arguments
    assert arguments == ["program", "--flag"]
    assert sys.stdout is output
    assert capfd.readouterr() == ("", "")
    engine.close()


def test_no_file_or_folder_is_left_behind(game: Game, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, temporary = tmp_path / "home", tmp_path / "temporary"
    home.mkdir(), temporary.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    engines = [TextWorldEngine(), TextWorldEngine()]  # the second cannot borrow the world of the first
    for engine in engines:
        begin(engine, game)
    assert [*home.iterdir(), *temporary.iterdir()] == []
    for engine in engines:
        engine.close()


@pytest.mark.parametrize("end", [TextWorldEngine.close, lambda engine: None], ids=["closed", "forgotten"])
def test_an_engine_takes_over_the_world_of_one_before(game: Game, end: Callable[[TextWorldEngine], None]) -> None:
    def play() -> None:
        engine = TextWorldEngine()
        begin(engine, game)
        end(engine)

    play()
    mapped = libraries()
    for _ in range(3):
        play()
    assert libraries() == mapped


def test_a_closed_engine_begins_again_and_closing_twice_is_allowed(game: Game) -> None:
    engine, other = TextWorldEngine(), TextWorldEngine()
    first = begin(engine, game)
    engine.close()
    engine.close()
    begin(other, game)
    assert begin(engine, game) == first
    engine.respond("go to fridge 1")
    assert "go to fridge 1" in other.respond("look").admissible
    engine.close(), other.close()


def test_thirty_games_need_no_more_memory_than_ten(game: Game) -> None:
    engine = TextWorldEngine()
    for _ in range(10):
        begin(engine, game)
    before = private_kib()
    for _ in range(20):
        begin(engine, game)
    assert private_kib() - before < 4 * 1024
    engine.close()


def test_threads_play_their_own_games(games: Callable[[str, str], Game]) -> None:
    plays = [
        (games("mug", "fridge"), CURRENT, WINNING),
        (games("egg", "fridge"), ORIGINAL, ["go to fridge 1", "open fridge 1", "take egg 1 from fridge 1"]),
    ]

    def play(number: int) -> list[Reply]:
        played, wording, commands = plays[number % 2]
        engine = TextWorldEngine()
        replies = [begin(engine, played, wording), *(engine.respond(command) for command in commands)]
        engine.close()
        return replies

    alone = [play(number) for number in range(2)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(play, range(4))) == alone * 2


def test_a_goal_that_cannot_be_met_is_named_and_the_next_game_plays(game: Game, hopeless: Game) -> None:
    engine = TextWorldEngine()
    with pytest.raises(DataError, match=r"TextWorld cannot play game mug-safe/trial: its goal can never be met\."):
        begin(engine, hopeless)
    with pytest.raises(DataError, match="could not begin"):
        engine.respond("look")
    assert begin(engine, game).text.endswith("put some mug in fridge.")
    engine.close()


def test_a_problem_that_the_translator_refuses_is_named(game: Game) -> None:
    broken = replace(game, problem=replace(game.problem, name="two words"))
    with pytest.raises(DataError, match=r"TextWorld cannot play game mug-fridge/trial: \w+"):
        begin(TextWorldEngine(), broken)


@pytest.mark.parametrize("module", ["fast_downward", "textworld"])
def test_a_missing_package_is_told_with_its_pip_line(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency, match=re.escape(f'"{module}" is not installed.')) as caught:
        TextWorldEngine()
    assert caught.value.extra == "alfworld"


def test_a_package_with_another_grammar_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm_gym.envs.alfworld.engines.alfred._packaged", lambda name: "grammar :: nothing")
    with pytest.raises(DataMismatch, match=r'pip install "alfworld==0\.4\.2"'):
        grammar.__wrapped__(CURRENT)
    with pytest.raises(DataMismatch, match="SinkType"):
        domain.__wrapped__(CURRENT)


def libraries() -> int:
    """Copies of the planner's library that are mapped into this process."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return len({line.split()[-2 if line.endswith("(deleted)") else -1] for line in maps if "libdownward" in line})


def private_kib() -> int:
    status = re.search(r"RssAnon:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert status is not None, "this measurement needs Linux"
    return int(status[1])
