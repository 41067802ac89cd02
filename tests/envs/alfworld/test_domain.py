"""The moves of the engine are those of the planning domain, written here as operators on plain facts."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move, after, moves
from llm_gym.envs.alfworld.problem import Fact, Problem
from llm_gym.envs.alfworld.state import State

Facts = frozenset[Fact]
Bound = dict[str, str]


class Operator(NamedTuple):
    """Facts are parted by semicolons; a needed one with a minus must not hold."""

    words: str
    needs: str = ""
    gains: str = ""
    loses: str = ""


HERE = "atlocation agent1 ?l; receptacleatlocation ?r ?l"
HELD = "holds agent1 ?o"
DOORS = ("-openable ?r", "openable ?r; opened ?r")
NO_DOOR_OR_OPEN = [f"{HERE}; {door}" for door in DOORS]
DOMAIN = [
    Operator("look"),
    Operator("inventory"),
    Operator(
        "go ?r",
        "atlocation agent1 ?h; receptacleatlocation ?r ?l; -atlocation agent1 ?l",
        "atlocation agent1 ?l",
        "atlocation agent1 ?h",
    ),
    Operator("examine ?r", HERE),
    Operator("inspect ?o", HELD),
    Operator("open ?r", f"{HERE}; openable ?r; -opened ?r", "opened ?r"),
    Operator("close ?r", f"{HERE}; openable ?r; opened ?r", "", "opened ?r"),
    *(
        Operator(
            "take ?o ?r",
            f"{within}; inreceptacle ?o ?r; pickupable ?o; -holdsany agent1",
            f"{HELD}; holdsany agent1; wastaken ?o ?r",
            "inreceptacle ?o ?r; objectatlocation ?o ?l",
        )
        for within in NO_DOOR_OR_OPEN
    ),
    *(
        Operator(
            "put ?o ?r",
            f"{HELD}; {within}; receptacletype ?r ?rt; objecttype ?o ?ot; cancontain ?rt ?ot",
            "inreceptacle ?o ?r; objectatlocation ?o ?l",
            f"{HELD}; holdsany agent1; wastaken ?o ?r",
        )
        for within in NO_DOOR_OR_OPEN
    ),
    *(
        Operator("clean ?o ?r", f"{HELD}; cleanable ?o; {HERE}; receptacletype ?r {kind}", "isclean ?o")
        for kind in ("sinkbasintype", "sinktype")
    ),
    Operator("heat ?o ?r", f"{HELD}; heatable ?o; {HERE}; receptacletype ?r microwavetype", "ishot ?o", "iscool ?o"),
    Operator("cool ?o ?r", f"{HELD}; coolable ?o; {HERE}; receptacletype ?r fridgetype", "iscool ?o", "ishot ?o"),
    Operator("use ?o", f"{HERE}; inreceptacle ?o ?r; toggleable ?o", "istoggled ?o"),
    *(
        Operator(
            "slice ?o ?k",
            f"holds agent1 ?k; objecttype ?k {kind}; atlocation agent1 ?l; objectatlocation ?o ?l; sliceable ?o",
            "issliced ?o",
        )
        for kind in ("knifetype", "butterknifetype")
    ),
]
CHANGING = {"atlocation", "holds", "opened", "objectatlocation", "wastaken", "inreceptacle"}
CHANGING |= {"ishot", "iscool", "isclean", "issliced", "istoggled"}


def literals(text: str) -> list[list[str]]:
    return [literal.split() for literal in text.split(";") if literal.strip()]


def filled(words: list[str], bound: Bound) -> Fact:
    return tuple(bound.get(word, word) for word in words)


def bindings(true: Facts, needs: list[list[str]], bound: Bound) -> Iterator[Bound]:
    """Every way to fill the variables so that all holds; a variable is bound before something with it must not hold."""
    if not needs:
        yield bound
        return
    (predicate, *words), *others = needs
    if predicate.startswith("-"):
        if filled([predicate[1:], *words], bound) not in true:
            yield from bindings(true, others, bound)
        return
    wanted = filled([predicate, *words], bound)
    for fact in true:
        if len(fact) == len(wanted) and all(
            word == name or word.startswith("?") for word, name in zip(wanted, fact, strict=True)
        ):
            new = {word: name for word, name in zip(wanted, fact, strict=True) if word.startswith("?")}
            yield from bindings(true, others, bound | new)


def done_by_facts(true: Facts) -> dict[Fact, Facts]:
    """Every possible move, and the facts after it."""
    found = {}
    for operator in DOMAIN:
        for bound in bindings(true, literals(operator.needs), {}):
            loses, gains = (
                {filled(words, bound) for words in literals(text)} for text in (operator.loses, operator.gains)
            )
            found[filled(operator.words.split(), bound)] = (true - loses) | gains
    return found


class Ids:
    """The raw ids of a problem by number, which a house has forgotten."""

    def __init__(self, problem: Problem) -> None:
        kinds = problem.kinds()
        self.objects, self.receptacles, self.locations = (
            sorted(name for name, of in kinds.items() if of == kind) for kind in ("object", "receptacle", "location")
        )

    def move(self, move: Move) -> tuple[str, ...]:
        thing = () if move.thing < 0 else (self.objects[move.thing],)
        others = self.objects if move.verb == "slice" else self.receptacles
        return (move.verb, *thing, *(() if move.place < 0 else (others[move.place],)))

    def facts(self, state: State) -> frozenset[Fact]:
        """All that can change."""
        objects, receptacles = self.objects, self.receptacles
        facts = {("atlocation", "agent1", self.locations[state.location])}
        facts |= set() if state.held is None else {("holds", "agent1", objects[state.held])}
        facts |= {("opened", receptacles[place]) for place in state.opened}
        facts |= {("objectatlocation", objects[thing], self.locations[location]) for thing, location in state.at}
        facts |= {("wastaken", objects[thing], receptacles[place]) for thing, place in state.taken}
        for place, things in enumerate(state.contents):
            facts |= {("inreceptacle", objects[thing], receptacles[place]) for thing in things}
        for name in ("hot", "cool", "clean", "sliced", "toggled"):
            facts |= {(f"is{name}", objects[thing]) for thing in getattr(state, name)}
        return frozenset(facts)


@given(st.data())
def test_the_moves_are_those_of_the_domain_wherever_one_wanders(
    houses: Callable[..., st.SearchStrategy[Problem]], data: st.DataObject
) -> None:
    problem = data.draw(houses())
    house, ids = House.of(problem), Ids(problem)
    state, facts = house.initial, problem.facts
    for _ in range(data.draw(st.integers(0, 25))):
        possible = sorted(moves(house, state))
        expected = done_by_facts(facts)
        assert len(set(possible)) == len(possible)
        assert {ids.move(move) for move in possible} == set(expected)
        move = data.draw(st.sampled_from(possible))
        before, frozen = state, pickle.dumps(state)
        state, facts = after(house, state, move), expected[ids.move(move)]
        assert ids.facts(state) == {fact for fact in facts if fact[0] in CHANGING}
        assert all(list(things) == sorted(set(things)) for things in state.contents)
        assert pickle.loads(frozen) == before  # a move changes no state, it makes another
        assert (state is before) == (state == before)
        if move.verb in ("heat", "cool"):
            assert not {move.thing} & state.hot & state.cool


@given(st.data())
def test_equal_states_are_one_to_a_set_and_behave_equally(
    houses: Callable[..., st.SearchStrategy[Problem]], data: st.DataObject
) -> None:
    house = House.of(data.draw(houses()))
    state = house.initial
    for _ in range(data.draw(st.integers(0, 8))):
        twin = pickle.loads(pickle.dumps(state))
        assert {state, twin, deepcopy(state)} == {state}
        possible = sorted(moves(house, state))
        assert sorted(moves(house, twin)) == possible
        move = data.draw(st.sampled_from(possible))
        state, twin = after(house, state, move), after(house, twin, move)
        assert (state, hash(state)) == (twin, hash(twin))
