"""Goals of every kind, won and not won, and any goal at all against a plain reading of its formula."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_gym.envs.alfworld.formula import compiled
from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import after, moves
from llm_gym.envs.alfworld.problem import PREDICATES, Expression, Fact, Problem
from llm_gym.envs.alfworld.state import State
from llm_gym.errors import BadRecord

Make = Callable[..., Any]

# -- the goals of the releases, as they are written there ----------------------------------------------------------

PICK = """(and (exists (?r - receptacle) (exists (?o - object)
    (and (inReceptacle ?o ?r) (objectType ?o {thing}Type) (receptacleType ?r {place}Type)))))"""
TREATED = """(and (exists (?r - receptacle) (exists (?o - object)
    (and ({can} ?o) (objectType ?o {thing}Type) (receptacleType ?r {place}Type) ({done} ?o) (inReceptacle ?o ?r)))))"""
TWO = """(and (exists (?r - receptacle) (exists (?o1 - object)
    (and {sliced1} (objectType ?o1 {thing}Type) (receptacleType ?r {place}Type) (inReceptacle ?o1 ?r)
        (exists (?o2 - object) (and (not (= ?o1 ?o2)) {sliced2}
            (objectType ?o2 {thing}Type) (receptacleType ?r {place}Type) (inReceptacle ?o2 ?r)))))))"""
LOOK = """(and
    (exists (?ot - object ?r - receptacle ?a - agent ?l - location)
        (and (objectType ?ot {lamp}Type) (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l)
            (atLocation ?a ?l) (inReceptacle ?ot ?r)))
    (exists (?o - object ?a - agent) (and (objectType ?o {thing}Type) (holds ?a ?o))))"""


def pick(thing: str, place: str) -> str:
    return PICK.format(thing=thing, place=place)


def treated(can: str, done: str, thing: str, place: str) -> str:
    return TREATED.format(can=can, done=done, thing=thing, place=place)


def two(thing: str, place: str) -> str:
    return TWO.format(thing=thing, place=place, sliced1="", sliced2="")


def look(thing: str, lamp: str) -> str:
    return LOOK.format(thing=thing, lamp=lamp)


def sliced(goal: str) -> str:
    return goal.replace("(and (heatable", "(and (sliceable ?o) (isSliced ?o) (heatable")


@pytest.fixture
def rooms(sketch: Make) -> Any:
    """Counter 1 with apples, mugs and knives, a fridge, a microwave, a basin, two shelves; all fits everywhere."""
    things = "apple_bar_1 apple_bar_2 knife_bar_1 mug_bar_1 mug_bar_2"
    house = sketch().receptacle("counter_bar_1", 1, things).receptacle("fridge_bar_1", 2, flags="openable opened")
    house.receptacle("microwave_bar_1", 3, flags="openable").receptacle("sink_bar_1_bar_sinkbasin", 4)
    house.receptacle("shelf_bar_1", 5).receptacle("shelf_bar_2", 6, "vase_bar_1")
    house.flag(things, "pickupable cleanable heatable coolable").flag("apple_bar_1 apple_bar_2", "sliceable")
    for place in ("counter", "fridge", "microwave", "shelf", "sinkbasin"):
        house.fits(place, "apple knife mug vase")
    return house


def test_something_of_the_type_must_lie_in_something_of_the_type(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(pick("Mug", "Shelf")))
    game.do("go to counter 1", "take apple 1 from counter 1", "go to shelf 1", "move apple 1 to shelf 1")
    assert not game.won
    game.do("go to counter 1", "take mug 2 from counter 1", "go to shelf 2")
    assert not game.won
    game.do("move mug 2 to shelf 2")
    assert game.won


def test_what_lies_there_from_the_beginning_has_won_already(player: Make, rooms: Any) -> None:
    assert player(rooms.problem(pick("Vase", "Shelf"))).won


def test_a_goal_is_undone_by_taking_and_met_again(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(pick("Mug", "Shelf")))
    game.do("go to counter 1", "take mug 1 from counter 1", "go to shelf 1", "move mug 1 to shelf 1")
    assert game.won
    assert [game.do("look") and game.won, game.type("nonsense") and game.won] == [True, True]
    game.do("take mug 1 from shelf 1")
    assert not game.won
    game.do("move mug 1 to shelf 1")
    assert game.won


def test_things_behind_a_closed_door_count(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(pick("Mug", "Fridge")))
    game.do(
        "go to counter 1", "take mug 1 from counter 1", "go to fridge 1", "move mug 1 to fridge 1", "close fridge 1"
    )
    assert game.won


@pytest.mark.parametrize(
    ("can", "done", "command", "place"),
    [
        ("cleanable", "isClean", "clean mug 1 with sinkbasin 1", "sinkbasin 1"),
        ("heatable", "isHot", "heat mug 1 with microwave 1", "microwave 1"),
        ("coolable", "isCool", "cool mug 1 with fridge 1", "fridge 1"),
    ],
)
def test_something_treated_must_lie_there(
    player: Make, rooms: Any, can: str, done: str, command: str, place: str
) -> None:
    game = player(rooms.problem(treated(can, done, "Mug", "Shelf")))
    game.do("go to counter 1", "take mug 1 from counter 1", "go to shelf 1", "move mug 1 to shelf 1")
    assert not game.won  # not treated
    game.do("take mug 1 from shelf 1", f"go to {place}", command)
    assert not game.won  # not there
    game.do("go to shelf 1", "move mug 1 to shelf 1")
    assert game.won


def test_what_is_no_longer_hot_does_not_count(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(treated("heatable", "isHot", "Mug", "Shelf")))
    game.do("go to counter 1", "take mug 1 from counter 1", "go to microwave 1", "heat mug 1 with microwave 1")
    game.do("go to fridge 1", "cool mug 1 with fridge 1", "go to shelf 1", "move mug 1 to shelf 1")
    assert not game.won


def test_what_is_hot_from_the_beginning_counts(player: Make, rooms: Any) -> None:
    game = player(rooms.flag("mug_bar_1", "ishot").problem(treated("heatable", "isHot", "Mug", "Shelf")))
    game.do("go to counter 1", "take mug 2 from counter 1", "go to shelf 1", "move mug 2 to shelf 1")
    assert game.won


def test_what_is_hot_but_not_heatable_does_not_count(player: Make, rooms: Any) -> None:
    goal = treated("heatable", "isHot", "Vase", "Shelf")
    assert not player(rooms.flag("vase_bar_1", "ishot").problem(goal)).won


@pytest.mark.parametrize(
    ("can", "done", "command", "place"),
    [
        ("cleanable", "isClean", "clean pan 1 with sinkbasin 1", "sink_bar_1_bar_sinkbasin"),
        ("heatable", "isHot", "heat pan 1 with microwave 1", "microwave_bar_1"),
        ("coolable", "isCool", "cool pan 1 with fridge 1", "fridge_bar_1"),
    ],
)
def test_a_thing_in_two_receptacles_wins_while_it_is_treated_in_the_hand(
    player: Make, sketch: Make, can: str, done: str, command: str, place: str
) -> None:
    """It was taken from one burner, and still lies on the other."""
    house = sketch().receptacle("stoveburner_bar_1", 1, "pan_bar_1").receptacle("stoveburner_bar_2", 1, "pan_bar_1")
    house.receptacle(place, 1).flag("pan_bar_1", "pickupable cleanable heatable coolable")
    game = player(house.problem(treated(can, done, "Pan", "StoveBurner")))
    game.do("go to stoveburner 1", "take pan 1 from stoveburner 1")
    assert not game.won
    game.do(command)
    assert game.won


def test_two_need_two_different_things_in_one_receptacle(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(two("Mug", "Shelf")))

    def bring(thing: str, whence: str, where: str) -> bool:
        game.do(f"go to {whence}", f"take {thing} from {whence}", f"go to {where}", f"move {thing} to {where}")
        return bool(game.won)

    assert not bring("mug 1", "counter 1", "shelf 1")
    assert not bring("mug 2", "counter 1", "shelf 2")  # of the type, but each on a shelf of its own
    assert not bring("apple 1", "counter 1", "shelf 1")
    assert bring("mug 2", "shelf 2", "shelf 1")
    game.do("take mug 1 from shelf 1")
    assert not game.won


def test_one_thing_in_two_receptacles_is_not_two(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "mug_bar_1").receptacle("shelf_bar_2", 1, "mug_bar_1")
    assert not player(house.problem(two("Mug", "Shelf"))).won


@pytest.fixture
def study(sketch: Make) -> Any:
    """Desk 1 with desk lamp 1 and a book, and bed 1 with desk lamp 2."""
    house = (
        sketch().receptacle("desk_bar_1", 1, "book_bar_1 desklamp_bar_2").receptacle("bed_bar_1", 2, "desklamp_bar_1")
    )
    return (
        house.flag("desklamp_bar_1 desklamp_bar_2", "toggleable").flag("book_bar_1", "pickupable").fits("bed", "book")
    )


def test_a_lamp_may_be_lit_before_or_after_the_thing_is_taken(player: Make, study: Any) -> None:
    problem = study.problem(look("Book", "DeskLamp"))
    for steps in (["use desklamp 1", "take book 1 from desk 1"], ["take book 1 from desk 1", "use desklamp 1"]):
        game = player(problem)
        game.do("go to desk 1", steps[0])
        assert not game.won
        game.do(steps[1])
        assert game.won


def test_the_lit_lamp_must_be_where_the_agent_is(player: Make, study: Any) -> None:
    game = player(study.problem(look("Book", "DeskLamp")))
    game.do("go to desk 1", "use desklamp 1", "go to bed 1", "go to desk 1", "take book 1 from desk 1")
    assert game.won
    game.do("go to bed 1")
    assert not game.won  # a lamp is here, but dark
    game.do("go to desk 1")
    assert game.won  # coming back wins
    game.do("go to bed 1", "use desklamp 2")
    assert game.won
    game.do("move book 1 to bed 1")
    assert not game.won  # in the light, but not in the hand


def test_a_lamp_of_another_type_does_not_do(player: Make, study: Any) -> None:
    game = player(study.problem(look("Book", "FloorLamp")))
    game.do("go to desk 1", "take book 1 from desk 1", "use desklamp 1")
    assert not game.won


def test_a_sliced_thing_is_asked_for(player: Make, rooms: Any) -> None:
    game = player(rooms.problem(sliced(treated("heatable", "isHot", "Apple", "Shelf"))))
    game.do("go to counter 1", "take apple 1 from counter 1", "go to microwave 1", "heat apple 1 with microwave 1")
    game.do("go to shelf 1", "move apple 1 to shelf 1", "go to counter 1", "take knife 1 from counter 1")
    assert not game.won
    game.do("go to shelf 1", "slice apple 1 with knife 1")
    assert game.won


def test_two_sliced_things_are_asked_for(player: Make, rooms: Any) -> None:
    slices = {f"sliced{number}": f"(sliceable ?o{number}) (isSliced ?o{number})" for number in (1, 2)}
    game = player(rooms.problem(TWO.format(thing="Apple", place="Counter", **slices)))
    game.do("go to counter 1", "take knife 1 from counter 1", "slice apple 1 with knife 1")
    assert not game.won
    game.do("slice apple 2 with knife 1")
    assert game.won


def test_every_door_must_be_shut(player: Make, rooms: Any) -> None:
    shut = "(forall (?re - receptacle) (not (opened ?re)))"
    game = player(rooms.problem(pick("Vase", "Shelf").removesuffix(")") + shut + ")"))
    assert not game.won  # the fridge is open
    game.do("go to fridge 1", "close fridge 1")
    assert game.won
    game.do("go to microwave 1", "open microwave 1")
    assert not game.won


def test_a_thing_in_a_bowl_that_lies_there(player: Make, sketch: Make) -> None:
    goal = """(and (exists (?r - receptacle) (and (receptacleType ?r ShelfType) (exists (?o - object)
        (and (objectType ?o EggType) (exists (?mo - object) (and (objectType ?mo BowlType) (isReceptacleObject ?mo)
            (inReceptacleObject ?o ?mo) (inReceptacle ?mo ?r))))))))"""
    house = sketch().receptacle("desk_bar_1", 1, "bowl_bar_1 bowl_bar_2").receptacle("shelf_bar_1", 2)
    house.thing("egg_bar_1", inside="bowl_bar_1").flag("bowl_bar_1 bowl_bar_2", "pickupable isreceptacleobject")
    game = player(house.fits("shelf", "bowl").problem(goal))
    game.do("go to desk 1", "take bowl 1 from desk 1", "go to shelf 1", "move bowl 1 to shelf 1")
    assert not game.won  # bowl 1 is bowl_bar_2, without an egg
    game.do("go to desk 1", "take bowl 2 from desk 1", "go to shelf 1", "move bowl 2 to shelf 1")
    assert game.won


# -- any goal, read plainly ----------------------------------------------------------------------------------------

VARIABLES = {"?a": "agent", "?l": "location", "?o": "object", "?p": "object", "?r": "receptacle", "?s": "receptacle"}
TYPES = {"otype": ["appletype", "bowltype", "nonetype"], "rtype": ["drawertype", "fridgetype"]}
ASKED = sorted(set(PREDICATES) - {"cancontain"})


def by_plain_reading(goal: Any, facts: frozenset[Fact], things: Mapping[str, list[str]], bound: dict[str, str]) -> bool:
    def read(part: Any, bound: dict[str, str]) -> bool:
        return by_plain_reading(part, facts, things, bound)

    match goal:
        case ("and", *parts):
            return all([read(part, bound) for part in parts])
        case ("or", *parts):
            return any([read(part, bound) for part in parts])
        case ("not", part):
            return not read(part, bound)
        case ("=", first, second):
            return bound[first] == bound[second]
        case ("exists" | "forall" as quantifier, declared, body):
            names = [word for word in declared if word.startswith("?")]
            ways = itertools.product(*(things[VARIABLES[name]] for name in names))
            read_each = [read(body, bound | dict(zip(names, way, strict=True))) for way in ways]
            return any(read_each) if quantifier == "exists" else all(read_each)
    return tuple(bound.get(word, word) for word in goal) in facts


@st.composite
def goals(draw: st.DrawFn, scope: tuple[str, ...] = (), depth: int = 4) -> Expression:
    shape = draw(st.sampled_from(["and", "and", "or", "not", "exists", "exists", "forall", "=", *["literal"] * 3]))
    free = sorted(set(VARIABLES) - set(scope))
    if shape in ("exists", "forall") and depth and free:
        names = draw(st.lists(st.sampled_from(free), min_size=0, max_size=3, unique=True))
        declared = tuple(word for name in names for word in (name, "-", VARIABLES[name]))
        return (shape, declared, draw(goals((*scope, *names), depth - 1)))
    if shape == "not" and depth:
        return ("not", draw(goals(scope, depth - 1)))
    if shape == "=":
        pairs = [(one, two) for one in scope for two in scope if VARIABLES[one] == VARIABLES[two]]
        return ("=", *draw(st.sampled_from(pairs))) if pairs else ("and",)
    if shape in ("and", "or") and depth:
        return (shape, *draw(st.lists(goals(scope, depth - 1), max_size=3)))
    choices = {kind: [name for name in scope if VARIABLES[name] == kind] for kind in VARIABLES.values()} | TYPES
    askable = [name for name in ASKED if all(choices[kind] for kind in PREDICATES[name])]
    if not askable:
        return ("or",)
    predicate = draw(st.sampled_from(askable))
    return (predicate, *(draw(st.sampled_from(choices[kind])) for kind in PREDICATES[predicate]))


def facts_of(problem: Problem, state: State) -> frozenset[Fact]:
    """All that is true in a state, by raw ids; what lies in something that holds nothing is left out."""
    kinds = problem.kinds()
    objects, receptacles, locations = (
        sorted(name for name, of in kinds.items() if of == kind) for kind in ("object", "receptacle", "location")
    )
    changing = {"atlocation", "objectatlocation", "inreceptacle", "opened", "holds", "holdsany"}
    conditions = ("hot", "cool", "clean", "sliced", "toggled")
    facts = {fact for fact in problem.facts if fact[0] not in changing | {f"is{name}" for name in conditions}}
    facts = {fact for fact in facts if fact[0] != "inreceptacleobject" or ("isreceptacleobject", fact[2]) in facts}
    facts |= {("atlocation", "agent1", locations[state.location])}
    if state.held is not None:
        facts |= {("holds", "agent1", objects[state.held]), ("holdsany", "agent1")}
    facts |= {("opened", receptacles[place]) for place in state.opened}
    facts |= {("objectatlocation", objects[thing], locations[place]) for thing, place in state.at}
    facts |= {("inreceptacle", objects[o], receptacles[r]) for r, held in enumerate(state.contents) for o in held}
    return frozenset(facts | {(f"is{name}", objects[thing]) for name in conditions for thing in getattr(state, name)})


@settings(max_examples=300)
@given(st.data())
def test_any_goal_is_met_exactly_when_a_plain_reading_says_so(
    houses: Callable[..., st.SearchStrategy[Problem]], data: st.DataObject
) -> None:
    problem = data.draw(houses(goals()))
    house = House.of(problem)
    is_met = compiled(house)
    things = {kind: sorted(name for name, of in problem.kinds().items() if of == kind) for kind in VARIABLES.values()}
    state = house.initial
    for _ in range(3):
        assert is_met(state) == by_plain_reading(problem.goal, facts_of(problem, state), things, {})
        state = after(house, state, data.draw(st.sampled_from(sorted(moves(house, state)))))


# -- goals that cannot be ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("(exists (?x - robot) (holdsAny ?x))", "Unknown type 'robot' in the goal"),
        ("(exists (?x - appletype) (isHot ?x))", "Unknown type 'appletype'"),
        ("(exists (?x) (isHot ?x))", "Unknown type ''"),
        ("(exists (?o - object) (canContain ShelfType EggType))", "cannot ask for 'cancontain'"),
        ("(isHot ?o)", r"'\?o' is no object"),
        ("(exists (?r - receptacle) (inReceptacle ?o ?r))", r"'\?o' is no object"),
        ("(exists (?r - receptacle) (isHot ?r))", r"'\?r' is no object"),
        ("(exists (?l - location) (objectType ?l EggType))", r"'\?l' is no object"),
        ("(exists (?o - object) (objectType ?o ?t))", r"'\?t' is no otype"),
        ("(isHot egg_bar_1)", "'egg_bar_1' is no object"),
        ("(exists (?o - object) (holds agent1 ?o))", "'agent1' is no agent"),
        ("(exists (?o - object) (= ?o ?x))", r"cannot compare '\?o' with '\?x'"),
        ("(= ?x ?x)", r"cannot compare '\?x' with '\?x'"),
        ("(exists (?o - object ?r - receptacle) (= ?o ?r))", "cannot compare"),
        ("(exists (?o - object) (and (isHot ?o) (exists (?o - object) (isCool ?o))))", r"'\?o' is no new variable"),
        ("(exists (?o - object) (exists (?o - receptacle) (opened ?o)))", r"'\?o' is no new variable"),
        ("(exists (egg - object) (isHot egg))", "'egg' is no new variable"),
        ("(exists ((?o) - object) (isHot ?o))", "is no new variable"),
        ("(not (exists (?o - object) (isHot ?o)) (exists (?o - object) (isCool ?o)))", "cannot ask for 'not'"),
        ("(exists (" + " ".join(f"?v{n}" for n in range(5000)) + " - object) (isHot ?v1))", "more than 20 variables"),
    ],
)
def test_a_goal_that_cannot_be_is_refused_with_a_sentence(sketch: Make, goal: str, message: str) -> None:
    house = House.of(sketch().receptacle("shelf_bar_1", 1, "egg_bar_1").problem(goal))
    with pytest.raises(BadRecord, match=message):
        compiled(house)


def test_the_engine_says_which_game_it_is(player: Make, sketch: Make) -> None:
    with pytest.raises(BadRecord, match="Game task/trial: Unknown type 'robot'"):
        player(sketch().problem("(exists (?x - robot) (holdsAny ?x))"))


@pytest.mark.parametrize(("goal", "met"), [("(and)", True), ("(or)", False), ("(not (and))", False)])
def test_goals_without_any_literal(player: Make, sketch: Make, goal: str, met: bool) -> None:
    assert player(sketch().problem(goal)).won == met


def test_what_ranges_over_nothing(player: Make, sketch: Make) -> None:
    assert not player(sketch().problem("(exists (?o - object) (and))")).won
    assert player(sketch().problem("(forall (?o - object) (or))")).won
