"""The native engine says what the original says: in recorded games, in walkthroughs, and beside TextWorld itself."""

from __future__ import annotations

import importlib
import itertools
import json
import random
import sys
import tarfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import pytest

from llm_gym.envs.alfworld.engines import make_engine
from llm_gym.envs.alfworld.engines.alfred import domain, grammar
from llm_gym.envs.alfworld.engines.base import Engine, Reply
from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import Expression, Problem
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording, reworded
from llm_gym.errors import DataError

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
BOTH = pytest.mark.parametrize("wording", [CURRENT, ORIGINAL], ids=lambda wording: wording.name)

CRASHING = "look_at_obj_in_light-Laptop-None-FloorLamp-205/trial_T20190907_130015_600297"
"""Its only lamp is in no receptacle, so that it cannot be turned on; the release says that it is not solvable."""

HOT_APPLE_ON_COUNTER = """(exists (?r - receptacle ?o - object) (and (heatable ?o) (isHot ?o) (inReceptacle ?o ?r)
    (objectType ?o AppleType) (receptacleType ?r CounterTopType)))"""

KITCHEN_SCRIPT = """
look; inventory; help; examine cabinet 2; open cabinet 2; use desklamp 1
go to cabinet 2; go to cabinet 1; look; examine cabinet 2; examine cabinet 1; close cabinet 2; open cabinet 1
use desklamp 1; take mug 1 from cabinet 2; open cabinet 2; open cabinet 2; examine cabinet 2; use desklamp 1
take desklamp 1 from cabinet 2; examine desklamp 1; take mug 1 from cabinet 2; examine mug 1; examine desklamp 1
move mug 1 to cabinet 1; look; take mug 1 from cabinet 1; look; move mug 1 to cabinet 2; look; close cabinet 2
go to stoveburner 1; look; take pan 1 from stoveburner 1; examine stoveburner 2; take pan 1 from stoveburner 2
examine pan 1; move pan 1 to stoveburner 1; look; take pan 1 from stoveburner 2; inventory; move pan 1 to stoveburner 1
examine stoveburner 1; examine stoveburner 2; look; take pan 1 from stoveburner 1; move pan 1 to stoveburner 2; look
go to countertop 1; examine countertop 1; take houseplant 1 from countertop 1; take bowl 1 from countertop 1
examine bowl 1; take egg 1 from countertop 1; move bowl 1 to countertop 1; take egg 1 from countertop 1
go to sinkbasin 1; clean egg 1 with sinkbasin 1; examine egg 1; clean egg 1 with sinkbasin 1; move egg 1 to sinkbasin 1
go to countertop 1; move egg 1 to countertop 1; take knife 1 from countertop 1; slice apple 1 with knife 1
slice apple 1 with knife 1; slice egg 1 with knife 1; slice potato 1 with knife 1; examine knife 1
go to sinkbasin 1; slice potato 1 with knife 1
clean knife 1 with sinkbasin 1; examine knife 1; heat knife 1 with microwave 1; move knife 1 to sinkbasin 1
take potato 1 from sinkbasin 1; examine potato 1; clean potato 1 with sinkbasin 1; examine potato 1
go to microwave 1; look; heat potato 1 with microwave 1; examine potato 1; open microwave 1
heat potato 1 with microwave 1; move potato 1 to microwave 1; close microwave 1; open microwave 1
take potato 1 from microwave 1; go to fridge 1; cool potato 1 with fridge 1; examine potato 1; move potato 1 to fridge 1
open fridge 1; move potato 1 to fridge 1; take lettuce 1 from fridge 1; cool lettuce 1 with fridge 1; examine lettuce 1
go to microwave 1; heat lettuce 1 with microwave 1; examine lettuce 1; clean lettuce 1 with microwave 1
go to sinkbasin 1; clean lettuce 1 with sinkbasin 1; examine lettuce 1; go to fridge 1; cool lettuce 1 with fridge 1
examine lettuce 1; move lettuce 1 to fridge 1; examine fridge 1; close fridge 1; examine fridge 1
go to countertop 1; take apple 1 from countertop 1; examine apple 1; go to microwave 1; heat apple 1 with microwave 1
examine apple 1; go to fridge 1; cool apple 1 with fridge 1; examine apple 1; go to microwave 1
heat apple 1 with microwave 1; go to countertop 1; move apple 1 to countertop 1; dance; take apple 1 from countertop 1
move apple 1 to countertop 1; take apple 2 from countertop 1; examine apple 2; drop apple 2; inventory; look
"""
HEARD_IN_THE_KITCHEN = """
You are carrying: a pan 1.
You are facing the cabinet 2, and cabinet 1. Next to it, you see a mug 1.
You are facing the stoveburner 2, and stoveburner 1. Next to it, you see a pan 1.
On the cabinet 1, you see nothing.
The cabinet 2 is closed.
You turn on the desklamp 1.
This is a normal bowl 1. In it, you see a egg 1, and a fork 1.
This is a normal mug 1. In it, you see nothing.
You sliced the apple 1 with the knife 1.
This is a clean egg 1.
This is a sliced potato 1.
This is a clean sliced potato 1.
This is a hot and clean sliced potato 1.
This is a cool and clean sliced potato 1.
This is a cold lettuce 1.
This is a hot lettuce 1.
This is a hot and clean lettuce 1.
This is a cool and clean lettuce 1.
This is a hot sliced apple 1.
This is a cool sliced apple 1.
There's nothing special about apple 2.
Nothing happens.
"""
"""Every description there is, and the list of what lies beside a receptacle."""


@pytest.fixture(scope="session")
def parity() -> ModuleType:
    """The long comparison, of which a sample is made here."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        return importlib.import_module("alfworld_parity")
    finally:
        sys.path.remove(str(BENCHMARKS))


@pytest.fixture(scope="session")
def release(parity: ModuleType, data_folder: Path) -> Callable[..., Iterator[Any]]:
    """The games of a release, by its wording: all, or those with these task ids."""

    def games(wording: Wording, wanted: set[str] | None = None) -> Iterator[Any]:
        official: Iterator[Any] = parity.official_games(
            data_folder / "alfworld" / parity.RELEASES[wording.name], wanted
        )
        return official

    return games


# --- recorded games and walkthroughs ---


@pytest.mark.data
def test_every_recorded_game_is_reproduced(release: Callable[..., Iterator[Any]], data_folder: Path) -> None:
    """The recordings lack `You arrive at loc N. `; everything else of them was said by TextWorld."""
    recordings = dict(recorded(data_folder / "alfworld" / "gt_traj_train.tar.xz"))
    assert len(recordings) == 3_554
    engine, differing = NativeEngine(), []
    for official in release(ORIGINAL, set(recordings)):
        if official.split == "train":
            differing += differences(engine, official.game(), recordings.pop(official.task_id))
    assert differing == []
    assert recordings == {}


@pytest.mark.data
def test_every_walkthrough_wins_at_its_last_command(release: Callable[..., Iterator[Any]]) -> None:
    engine, played, failing = NativeEngine(), 0, []
    for official in release(CURRENT):
        game = official.game()
        commands = list(game.walkthrough)
        replies = [engine.begin(game, game.goal, CURRENT), *map(engine.respond, commands)]
        possible = [command in reply.admissible for command, reply in zip(commands, replies, strict=False)]
        if not all(possible) or [reply.won for reply in replies] != [False] * len(commands) + [True]:
            failing.append(game.task_id)
        played += 1
    assert failing == []
    assert played == 4_027


def recorded(archive: Path) -> Iterator[tuple[str, list[str]]]:
    """Task id → what was said, the world and the player in turn."""
    with tarfile.open(archive) as files:
        for member in files:
            if member.name.endswith("/gt_traj.json"):
                file = files.extractfile(member)
                assert file is not None
                task, trial = PurePosixPath(member.name).parts[-3:-1]
                yield f"{task}/{trial}", [turn["value"] for turn in json.load(file)]


def differences(engine: Engine, game: Game, said: list[str]) -> list[tuple[str, int, str]]:
    """What differs from a recording: the game, the number of the turn, and what is wrong with it."""
    differing = []
    reply = engine.begin(game, game.goal, ORIGINAL)
    for turn in range(0, len(said), 2):
        last = turn == len(said) - 1
        if turn:
            if said[turn - 1] not in reply.admissible:
                differing.append((game.task_id, turn, f"{said[turn - 1]} is not admissible"))
            reply = engine.respond(said[turn - 1])
        heard = reply.text.partition(". ")[2] if reply.text.startswith("You arrive at loc ") else reply.text
        if heard != said[turn]:
            differing.append((game.task_id, turn, heard))
        if reply.won is not last:
            differing.append((game.task_id, turn, f"won: {reply.won}"))
    return differing


# --- beside TextWorld ---


@pytest.mark.textworld
@pytest.mark.usefixtures("_textworld_packages")
@BOTH
def test_the_engines_say_the_same_in_a_kitchen(
    wording: Wording, kitchen: Problem, parse_goal: Callable[[str], Expression]
) -> None:
    goal = "put a hot apple in countertop."
    game = Game("kitchen/apple", "train", goal, replace(kitchen, goal=parse_goal(HOT_APPLE_ON_COUNTER)))
    commands = [reworded(one.strip(), wording) for one in KITCHEN_SCRIPT.strip().replace("\n", ";").split(";")]
    native, original = (played(make_engine(name), game, commands, wording) for name in ("native", "textworld"))
    assert [(turn, *pair) for turn, pair in enumerate(zip(native, original, strict=True)) if pair[0] != pair[1]] == []
    assert {reply.text for reply in native} >= set(HEARD_IN_THE_KITCHEN.strip().splitlines())
    changes = [reply.won for before, reply in itertools.pairwise(native) if reply.won != before.won]
    assert changes == [True, False, True]


def played(engine: Engine, game: Game, commands: list[str], wording: Wording) -> list[Reply]:
    replies = [engine.begin(game, game.goal, wording), *map(engine.respond, commands)]
    engine.close()
    return replies


@pytest.fixture(scope="session")
def sample(parity: ModuleType, release: Callable[..., Iterator[Any]]) -> list[Any]:
    """An evaluation game of each type of task and two training games, in both wordings."""
    chosen: dict[str, Any] = {}
    for official in release(CURRENT):
        kind = official.task_id.partition("-")[0]
        if official.split == "valid_unseen" and kind in TASK_TYPES:
            chosen.setdefault(kind, official)
        elif official.split == "train" and kind in ("pick_two_obj_and_place", "pick_cool_then_place_in_recep"):
            chosen.setdefault(f"train {kind}", official)
    assert len(chosen) == 8
    walkthroughs = {official.task_id: official.game().walkthrough for official in chosen.values()}
    held = {CURRENT: list(chosen.values()), ORIGINAL: list(release(ORIGINAL, set(walkthroughs)))}
    return [
        parity.Job(official, wording.name, walkthroughs[official.task_id])
        for wording, games in held.items()
        for official in games
    ]


@pytest.mark.data
@pytest.mark.textworld
@pytest.mark.usefixtures("_textworld_packages")
@pytest.mark.parametrize("engine", ["native", "textworld"])
def test_official_games_are_played_as_the_original_plays_them(
    engine: str, parity: ModuleType, sample: list[Any]
) -> None:
    jobs = sample if engine == "native" else random.Random(3).sample(sample, 4)
    args = parity.Args(engine=engine, steps=25, seed=7, hurry=True)
    outcomes = list(parity.compared(args, jobs))
    assert [outcome.differences for outcome in outcomes] == [[]] * len(jobs)
    assert all(outcome.wins for outcome in outcomes)


@pytest.mark.data
@pytest.mark.textworld
@pytest.mark.usefixtures("_textworld_packages")
def test_hurrying_textworld_does_not_change_what_it_says(parity: ModuleType, sample: list[Any]) -> None:
    jobs = [sample[0], sample[-1]]
    unhurried = said_by_textworld(parity, jobs)
    with parity.hurried():
        assert said_by_textworld(parity, jobs) == unhurried


def said_by_textworld(parity: ModuleType, jobs: list[Any]) -> list[Any]:
    """The walkthrough and ten commands at random."""
    world, said, dice = parity.ReferenceWorld(), [], random.Random(5)
    for job in jobs:
        said.append(world.begin(job.game))
        said += [world.respond(reworded(command, parity.WORDINGS[job.wording])) for command in job.walkthrough]
        for _ in range(10):
            said.append(world.respond(dice.choice(said[-1].admissible)))
    return said


@pytest.mark.data
@pytest.mark.textworld
@pytest.mark.usefixtures("_textworld_packages")
def test_a_game_that_crashes_the_original_is_named_by_one_engine_and_played_by_the_other(
    release: Callable[..., Iterator[Any]],
) -> None:
    [official] = release(ORIGINAL, {CRASHING})
    game = official.game()
    with pytest.raises(DataError, match=f"TextWorld cannot play game {CRASHING}: its goal can never be met"):
        make_engine("textworld").begin(game, game.goal, ORIGINAL)
    reply = make_engine("native").begin(game, game.goal, ORIGINAL)
    assert reply.text.endswith("Your task is to: " + game.goal)
    assert not reply.won


@pytest.mark.data
@pytest.mark.textworld
@pytest.mark.usefixtures("_textworld_packages")
@BOTH
def test_rules_and_grammar_are_those_of_the_release(wording: Wording, release: Callable[..., Iterator[Any]]) -> None:
    data = next(official for official in release(wording)).data()
    assert tokens(domain(wording)) == tokens(data["pddl_domain"])
    assert meaning(grammar(wording)) == meaning(data["grammar"])


def tokens(pddl: str) -> list[str]:
    """Comments and blanks do not count."""
    lines = (line.partition(";")[0] for line in pddl.lower().splitlines())
    return "\n".join(lines).replace("(", " ( ").replace(")", " ) ").split()


def meaning(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """What TextWorld makes of a grammar, but for the goal, and but for the help, which is written in two ways."""
    from textworld.envs.pddl.logic import GameLogic

    logic = GameLogic("", text)
    rules = {
        name: [repr(rule) for rule in rules]
        for name, rules in logic.grammar._rules.items()
        if name not in ("task", "help.feedback")
    }
    actions = {
        name: f"{action.template} → {'help' if name == 'help' else action.feedback_rule}"
        for name, action in logic.actions.items()
    }
    return rules, actions
