"""Small houses drawn by hand, and a player who types commands into them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Self

import pytest
from hypothesis import strategies as st

from llm_gym.envs.alfworld.engines.native import NativeEngine
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.problem import AGENT, Expression, Fact, Problem
from llm_gym.envs.alfworld.wording import CURRENT, Wording
from llm_gym.extras import installed

START = "loc_bar_0"
NEVER = "(exists (?r - receptacle ?o - object) (and (receptacleType ?r NowhereType) (inReceptacle ?o ?r)))"


class Sketch:
    """The facts of a house, a call for each thing. The word before `_bar_` is its type: `apple_bar_1` is an appletype.

    The agent begins at `loc_bar_0`, where nothing is unless a receptacle is put there.
    """

    def __init__(self, start: str | None = START) -> None:
        self.facts: set[Fact] = set() if start is None else {("atlocation", AGENT, start)}

    def receptacle(self, name: str, location: int, contents: str = "", flags: str = "", kind: str = "") -> Self:
        """`flags` are predicates of it, such as "openable opened"."""
        where = f"loc_bar_{location}"
        self.facts |= {("receptacletype", name, kind or _type(name)), ("receptacleatlocation", name, where)}
        for thing in contents.split():
            self.facts |= {("inreceptacle", thing, name), ("objectatlocation", thing, where)}
            self.thing(thing)
        return self.flag(name, flags)

    def thing(self, name: str, flags: str = "", inside: str = "", location: int | None = None, kind: str = "") -> Self:
        """`inside` is a bowl, say; `location` is one at which the object is, in no receptacle."""
        self.facts.add(("objecttype", name, kind or _type(name)))
        if inside:
            self.facts.add(("inreceptacleobject", name, inside))
        if location is not None:
            self.facts.add(("objectatlocation", name, f"loc_bar_{location}"))
        return self.flag(name, flags)

    def flag(self, names: str, flags: str) -> Self:
        self.facts |= {(flag, name) for name in names.split() for flag in flags.split()}
        return self

    def fits(self, receptacle: str, things: str) -> Self:
        """Words: `fits("fridge", "apple egg")`."""
        self.facts |= {("cancontain", f"{receptacle}type", f"{thing}type") for thing in things.split()}
        return self

    def fact(self, *words: str) -> Self:
        self.facts.add(words)
        return self

    def problem(self, goal: str = NEVER) -> Problem:
        return Problem("sketch", frozenset(self.facts), _goal(goal))


def _type(name: str) -> str:
    return ("sinkbasin" if "sinkbasin" in name else name.partition("_bar_")[0]) + "type"


def _goal(text: str) -> Expression:
    return Problem.parse(f"(define (problem p) (:init (atLocation agent1 l)) (:goal {text}))").goal


PLACES = ["loc_bar_0", "loc_bar_1", "loc_bar_2"]
RECEPTACLES = {
    "drawer_bar_1": "drawertype",
    "fridge_bar_1": "fridgetype",
    "microwave_bar_1": "microwavetype",
    "shelf_bar_1": "drawertype",
    "sink_bar_1": "sinktype",
    "sink_bar_1_bar_sinkbasin": "sinkbasintype",
}
THINGS = {
    "apple_bar_1": "appletype",
    "apple_bar_2": "appletype",
    "bowl_bar_1": "bowltype",
    "butterknife_bar_1": "butterknifetype",
    "knife_bar_1": "knifetype",
    "lamp_bar_1": "lamptype",
}
FLAGS = ["pickupable", "cleanable", "heatable", "coolable", "toggleable", "sliceable", "isreceptacleobject"]
CONDITIONS = ["isclean", "ishot", "iscool", "issliced", "istoggled"]


@st.composite
def small_houses(draw: st.DrawFn, goals: st.SearchStrategy[Expression] | None = None) -> Problem:
    """Houses in which everything that can differ does, also what no real one has: a lamp that can be sliced, say."""
    receptacles = draw(st.lists(st.sampled_from(sorted(RECEPTACLES)), min_size=1, max_size=4, unique=True))
    things = draw(st.lists(st.sampled_from(sorted(THINGS)), max_size=4, unique=True))
    facts: set[Fact] = {("atlocation", AGENT, draw(st.sampled_from(PLACES)))}
    for name in receptacles:
        facts |= {("receptacletype", name, RECEPTACLES[name])}
        facts |= {("receptacleatlocation", name, draw(st.sampled_from(PLACES)))}
    facts |= {("objecttype", name, THINGS[name]) for name in things}
    kinds = sorted({RECEPTACLES[name] for name in receptacles}), sorted({THINGS[name] for name in things})
    some_of = {  # every second one, so that things can be done
        "cancontain": product(*kinds),
        "inreceptacle": product(things, receptacles),
        "objectatlocation": product(things, PLACES),
        "inreceptacleobject": product(things, things),
        "openable": product(receptacles),
        "opened": product(receptacles),
    } | {flag: product(things) for flag in [*FLAGS, *CONDITIONS]}
    for predicate, arguments in some_of.items():
        every = [(predicate, *words) for words in arguments]
        facts |= {fact for fact, chosen in zip(every, bits(draw, len(every)), strict=True) if chosen}
    goal = draw(goals) if goals is not None else _goal(NEVER)
    return Problem("small", frozenset(facts), goal)


def bits(draw: st.DrawFn, count: int) -> list[bool]:
    number = draw(st.integers(0, 2**count - 1))
    return [bool(number >> place & 1) for place in range(count)]


class Player:
    """Types commands into a game, and remembers the last reply."""

    def __init__(self, problem: Problem, wording: Wording = CURRENT, goal: str = "do it.") -> None:
        self.engine = NativeEngine()
        self.reply = self.engine.begin(Game("task/trial", "train", goal, problem), goal, wording)

    def do(self, *commands: str) -> str:
        """The answer to the last command; every command is one of the admissible ones."""
        for command in commands:
            assert command in self.reply.admissible, f"{command} is none of {self.reply.admissible}"
            self.reply = self.engine.respond(command)
        return self.reply.text

    def type(self, text: str) -> str:
        """The answer to any text."""
        self.reply = self.engine.respond(text)
        return self.reply.text

    def can(self, command: str) -> bool:
        return command in self.reply.admissible

    @property
    def won(self) -> bool:
        return self.reply.won


@pytest.fixture(scope="session")
def sketch() -> type[Sketch]:
    return Sketch


@pytest.fixture(scope="session")
def houses() -> Callable[..., st.SearchStrategy[Problem]]:
    return small_houses


@pytest.fixture(scope="session")
def player() -> type[Player]:
    return Player


@pytest.fixture(scope="session")
def parse_goal() -> Callable[[str], Expression]:
    return _goal


@pytest.fixture(scope="session")
def kitchen() -> Problem:
    """Every command is possible here.

    | place | receptacles | holds |
    |---|---|---|
    | loc 7 (`loc_bar_0`) | nothing; here the agent begins | |
    | loc 6 | cabinet 2 (a door, closed), cabinet 1 (none) | cabinet 2: desklamp 1, mug 1 |
    | loc 5 | countertop 1 | apple 2, apple 1, bowl 1, butterknife 1, egg 1, houseplant 1, knife 1 |
    | loc 4 | fridge 1 (closed) | lettuce 1 |
    | loc 3 | microwave 1 (closed) | |
    | loc 2 | sinkbasin 1 | potato 1 |
    | loc 1 | stoveburner 2, stoveburner 1 | pan 1, in both |

    In the bowl lie egg 1 and fork 1, as the facts say; the sink (an object) and the wall are in no receptacle.
    """
    food = "pickupable cleanable heatable coolable sliceable"
    house = (
        Sketch()
        .receptacle("cabinet_bar_1", 1, "mug_bar_1 desklamp_bar_1", "openable")
        .receptacle("cabinet_bar_2", 1)
        .receptacle(
            "countertop_bar_1",
            2,
            "apple_bar_1 apple_bar_2 bowl_bar_1 butterknife_bar_1 egg_bar_1 houseplant_bar_1 knife_bar_1",
        )
        .receptacle("fridge_bar_1", 3, "lettuce_bar_1", "openable")
        .receptacle("microwave_bar_1", 4, "", "openable")
        .receptacle("sink_bar_1_bar_sinkbasin", 5, "potato_bar_1")
        .receptacle("stoveburner_bar_1", 6, "pan_bar_1")
        .receptacle("stoveburner_bar_2", 6, "pan_bar_1")
        .thing("sink_bar_1", location=5)
        .thing("wall_bar_1", location=6)
        .thing("fork_bar_1", "pickupable", inside="bowl_bar_1", location=2)
        .thing("egg_bar_1", inside="bowl_bar_1")
        .flag("apple_bar_1 apple_bar_2 lettuce_bar_1 potato_bar_1", food)
        .flag("egg_bar_1", "pickupable cleanable heatable coolable")
        .flag("mug_bar_1 bowl_bar_1", "pickupable cleanable heatable coolable isreceptacleobject")
        .flag("pan_bar_1", "pickupable cleanable isreceptacleobject")
        .flag("knife_bar_1 butterknife_bar_1", "pickupable cleanable")
        .flag("desklamp_bar_1", "toggleable")
        .fits("cabinet", "mug bowl pan")
        .fits("countertop", "apple bowl butterknife egg knife lettuce mug pan potato")
        .fits("fridge", "apple bowl egg lettuce mug potato")
        .fits("microwave", "apple egg mug potato")
        .fits("sinkbasin", "apple bowl butterknife knife lettuce mug pan potato")
        .fits("stoveburner", "pan")
    )
    return house.problem()


@pytest.fixture(scope="session")
def _textworld_packages() -> None:
    missing = [module for module in ("alfworld", "textworld", "fast_downward") if not installed(module)]
    if missing:
        pytest.skip(f"TextWorld needs {', '.join(missing)}: pip install 'llm-gym[alfworld]'")
