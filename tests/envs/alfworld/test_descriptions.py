"""What is said of the thing in the hand, in every condition; worked out by hand from the rules of the text."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording

Play = Callable[..., Any]
both_wordings = pytest.mark.parametrize("wording", [CURRENT, ORIGINAL], ids=["current", "original"])

DESCRIBED = {
    # (hot, cool, clean, sliced)
    (False, False, False, False): "There's nothing special about tomato 1.",
    (True, False, False, False): "This is a hot tomato 1.",
    (False, True, False, False): "This is a cold tomato 1.",
    (False, False, True, False): "This is a clean tomato 1.",
    (False, False, False, True): "This is a sliced tomato 1.",
    (True, False, True, False): "This is a hot and clean tomato 1.",
    (False, True, True, False): "This is a cool and clean tomato 1.",
    (True, False, False, True): "This is a hot sliced tomato 1.",
    (False, True, False, True): "This is a cool sliced tomato 1.",
    (False, False, True, True): "This is a clean sliced tomato 1.",
    (True, False, True, True): "This is a hot and clean sliced tomato 1.",
    (False, True, True, True): "This is a cool and clean sliced tomato 1.",
}
FLAGS = ("ishot", "iscool", "isclean", "issliced")


@both_wordings
@pytest.mark.parametrize(("condition", "description"), DESCRIBED.items(), ids=DESCRIBED.values())
def test_a_thing_is_described_by_its_condition(
    player: Play, sketch: Any, wording: Wording, condition: tuple[bool, ...], description: str
) -> None:
    true = " ".join(flag for flag, holds in zip(FLAGS, condition, strict=True) if holds)
    house = sketch().receptacle("shelf_bar_1", 1, "tomato_bar_1").flag("tomato_bar_1", f"pickupable {true}")
    game = player(house.problem(), wording)
    assert game.do("go to shelf 1", "take tomato 1 from shelf 1", "examine tomato 1") == description


def test_every_condition_that_a_thing_can_come_into_is_described() -> None:
    assert set(DESCRIBED) == {one for one in product([False, True], repeat=4) if not (one[0] and one[1])}


def test_conditions_are_reached_by_treating(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    game.do("go to countertop 1", "take knife 1 from countertop 1", "slice apple 1 with knife 1")
    game.do("move knife 1 to countertop 1", "take apple 1 from countertop 1")
    assert game.do("examine apple 1") == "This is a sliced apple 1."
    game.do("go to fridge 1", "cool apple 1 with fridge 1")
    assert game.do("examine apple 1") == "This is a cool sliced apple 1."
    game.do("go to sinkbasin 1", "clean apple 1 with sinkbasin 1")
    assert game.do("examine apple 1") == "This is a cool and clean sliced apple 1."
    game.do("go to microwave 1", "heat apple 1 with microwave 1")
    assert game.do("examine apple 1") == "This is a hot and clean sliced apple 1."


@pytest.mark.parametrize("flags", ["", "ishot", "iscool isclean", "issliced ishot isclean"])
def test_what_holds_things_is_normal_in_every_condition(player: Play, sketch: Any, flags: str) -> None:
    house = (
        sketch().receptacle("shelf_bar_1", 1, "bowl_bar_1").flag("bowl_bar_1", f"pickupable isreceptacleobject {flags}")
    )
    game = player(house.problem())
    assert game.do("go to shelf 1", "take bowl 1 from shelf 1", "examine bowl 1") == (
        "This is a normal bowl 1. In it, you see nothing."
    )


def test_what_lies_in_a_bowl_stays_in_its_description_whatever_becomes_of_it(player: Play, kitchen: Problem) -> None:
    described = "This is a normal bowl 1. In it, you see a egg 1, and a fork 1."
    game = player(kitchen)
    assert game.do("go to countertop 1", "take bowl 1 from countertop 1", "examine bowl 1") == described
    game.do("move bowl 1 to countertop 1", "take egg 1 from countertop 1", "go to fridge 1", "open fridge 1")
    game.do("move egg 1 to fridge 1", "go to countertop 1", "take bowl 1 from countertop 1")
    assert game.do("examine bowl 1") == described


def test_what_is_in_something_that_is_no_holder_is_not_seen(player: Play, sketch: Any) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "book_bar_1").flag("book_bar_1", "pickupable")
    house.thing("pen_bar_1", inside="book_bar_1")
    game = player(house.problem())
    assert game.do("go to shelf 1", "take book 1 from shelf 1", "examine book 1") == (
        "There's nothing special about book 1."
    )
