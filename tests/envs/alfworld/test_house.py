"""A problem made ready to be played, and problems that cannot be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.state import State
from llm_gym.errors import BadRecord

Draw = Callable[..., Any]


@pytest.fixture
def house(kitchen: Problem) -> House:
    return House.of(kitchen)


def named(names: tuple[str, ...], numbers: Any) -> set[str]:
    return {names[number] for number in numbers}


def test_things_are_numbered_in_the_order_of_their_ids(house: House) -> None:
    assert house.receptacle_names == (
        "cabinet 2",
        "cabinet 1",
        "countertop 1",
        "fridge 1",
        "microwave 1",
        "sinkbasin 1",
        "stoveburner 2",
        "stoveburner 1",
    )
    assert house.location_names == ("loc 7", "loc 6", "loc 5", "loc 4", "loc 3", "loc 2", "loc 1")
    assert house.object_names[:4] == ("apple 2", "apple 1", "bowl 1", "butterknife 1")


def test_what_things_are_for(house: House) -> None:
    assert named(house.receptacle_names, house.openable) == {"cabinet 2", "fridge 1", "microwave 1"}
    assert named(house.receptacle_names, house.sinks) == {"sinkbasin 1"}
    assert named(house.receptacle_names, house.microwaves) == {"microwave 1"}
    assert named(house.receptacle_names, house.fridges) == {"fridge 1"}
    assert named(house.object_names, house.blades) == {"butterknife 1", "knife 1"}
    assert named(house.object_names, house.toggleable) == {"desklamp 1"}


def test_a_basin_in_a_bathtub_is_a_sink_by_its_type_and_a_sink_by_name_alone_is_none(sketch: Draw) -> None:
    drawn = sketch().receptacle("bathtub_bar_1_bar_sinkbasin", 1, kind="sinkbasintype")
    drawn.receptacle("sink_bar_1_bar_sinkbasin", 2, kind="sidetabletype")
    drawn.receptacle("bathtub_bar_2_bar_bathtubbasin", 3, kind="bathtubbasintype")
    drawn.receptacle("sink_bar_2", 4, kind="sinktype")
    house = House.of(drawn.problem())
    # bathtub_bar_1… is the first of two bathtubbasins: number 2
    assert named(house.receptacle_names, house.sinks) == {"bathtubbasin 2", "sink 1"}


def test_places_and_their_receptacles(house: House) -> None:
    assert house.receptacles_at == ((), (0, 1), (2,), (3,), (4,), (5,), (6, 7))
    assert house.place == (1, 1, 2, 3, 4, 5, 6, 6)


def test_what_fits_where_goes_by_types(house: House) -> None:
    fridge, burner = (house.receptacle_names.index(name) for name in ("fridge 1", "stoveburner 1"))
    apple, pan = (house.object_names.index(name) for name in ("apple 2", "pan 1"))
    assert house.can_hold(fridge, apple)
    assert house.can_hold(burner, pan)
    assert not house.can_hold(burner, apple)
    assert not house.can_hold(fridge, pan)


def test_a_thing_without_a_type_fits_nowhere(sketch: Draw) -> None:
    drawn = sketch().receptacle("shelf_bar_1", 1).fact("pickupable", "orb_bar_1").fits("shelf", "cup")
    house = House.of(drawn.problem())
    assert house.object_types == ("",)
    assert not house.can_hold(0, 0)


def test_bowls_hold_what_the_facts_say_and_other_things_nothing(house: House) -> None:
    inner = dict(zip(house.object_names, house.inner, strict=True))
    names = house.object_names
    assert inner["bowl 1"] == (names.index("egg 1"), names.index("fork 1"))
    assert inner["mug 1"] == ()
    assert inner["egg 1"] is None


def test_the_beginning(sketch: Draw) -> None:
    drawn = sketch().receptacle("fridge_bar_1", 1, "egg_bar_2 egg_bar_1", "openable opened")
    drawn.receptacle("shelf_bar_1", 2, "egg_bar_2").thing("wall_bar_1", location=2)
    drawn.flag("egg_bar_1", "iscool isclean").flag("egg_bar_2", "ishot issliced").flag("wall_bar_1", "istoggled")
    # objects: egg_bar_1 0, egg_bar_2 1, wall_bar_1 2; receptacles: fridge 0, shelf 1
    assert House.of(drawn.problem()).initial == State(
        location=0,
        held=None,
        contents=((0, 1), (1,)),
        at=frozenset({(0, 1), (1, 1), (1, 2), (2, 2)}),
        taken=frozenset(),
        opened=frozenset({0}),
        hot=frozenset({1}),
        cool=frozenset({0}),
        clean=frozenset({0}),
        sliced=frozenset({1}),
        toggled=frozenset({2}),
    )


def test_one_can_begin_with_something_in_the_hand(sketch: Draw) -> None:
    drawn = sketch().receptacle("shelf_bar_1", 1, "egg_bar_1").thing("cup_bar_1").fact("holds", "agent1", "cup_bar_1")
    assert House.of(drawn.problem()).initial.held == 0


def test_a_house_has_no_equal_but_itself(kitchen: Problem) -> None:
    assert House.of(kitchen) != House.of(kitchen)


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ([("atlocation", "agent1", "loc_bar_1")], "begins at one location, not at 2"),
        ([("atlocation", "agent2", "loc_bar_1")], "begins at one location, not at 2"),
        ([("receptacletype", "shelf_bar_1", "shelftype")], "Receptacle shelf_bar_1 of a problem is at no location"),
        ([("openable", "fridge_bar_1")], "Receptacle fridge_bar_1 of a problem is at no location"),
        (
            [("receptacleatlocation", "bed_bar_1", "loc_bar_2")],
            "receptacleatlocation of bed_bar_1 of a problem is both loc_bar_1 and loc_bar_2",
        ),
        (
            [("receptacletype", "bed_bar_1", "sofatype")],
            "receptacletype of bed_bar_1 of a problem is both bedtype and sofatype",
        ),
        (
            [("objecttype", "pillow_bar_1", "booktype")],
            "objecttype of pillow_bar_1 of a problem is both booktype and pillowtype",
        ),
        ([("pickupable", "bed_bar_1")], "bed_bar_1 of a problem is of two kinds: object and receptacle"),
        ([("inreceptacle", "loc_bar_1", "bed_bar_1")], "loc_bar_1 of a problem is of two kinds: location and object"),
        (
            [("holds", "agent1", "pillow_bar_1"), ("holds", "agent1", "book_bar_1")],
            "holds one object at most, not 2",
        ),
    ],
)
def test_a_house_that_cannot_be_is_refused_with_a_sentence(
    sketch: Draw, facts: list[tuple[str, ...]], message: str
) -> None:
    drawn = sketch().receptacle("bed_bar_1", 1, "pillow_bar_1")
    for fact in facts:
        drawn.fact(*fact)
    with pytest.raises(BadRecord, match=message):
        House.of(drawn.problem())


def test_a_problem_that_begins_nowhere_is_refused(sketch: Draw) -> None:
    with pytest.raises(BadRecord, match="begins at one location, not at 0"):
        House.of(sketch(start=None).receptacle("bed_bar_1", 1).problem())


def test_a_house_without_anything_is_a_house(sketch: Draw) -> None:
    house = House.of(sketch().problem())
    assert (house.receptacle_names, house.object_names, house.location_names) == ((), (), ("loc 1",))
