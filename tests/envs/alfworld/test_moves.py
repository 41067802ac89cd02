"""The rules: what each command needs and does, one command at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.wording import ORIGINAL

Make = Callable[..., Any]


@pytest.fixture
def game(player: Make, kitchen: Problem) -> Any:
    return player(kitchen)


def test_all_that_can_be_done_at_the_beginning(game: Any) -> None:
    assert game.reply.admissible == [
        "go to cabinet 1",
        "go to cabinet 2",
        "go to countertop 1",
        "go to fridge 1",
        "go to microwave 1",
        "go to sinkbasin 1",
        "go to stoveburner 1",
        "go to stoveburner 2",
        "help",
        "inventory",
        "look",
    ]


def test_all_that_can_be_done_at_a_table_with_an_empty_hand(game: Any) -> None:
    game.do("go to countertop 1")
    assert game.reply.admissible == [
        "examine countertop 1",
        "go to cabinet 1",
        "go to cabinet 2",
        "go to fridge 1",
        "go to microwave 1",
        "go to sinkbasin 1",
        "go to stoveburner 1",
        "go to stoveburner 2",
        "help",
        "inventory",
        "look",
        "take apple 1 from countertop 1",
        "take apple 2 from countertop 1",
        "take bowl 1 from countertop 1",
        "take butterknife 1 from countertop 1",
        "take egg 1 from countertop 1",
        "take knife 1 from countertop 1",
    ]


def test_all_that_can_be_done_with_a_knife(game: Any) -> None:
    game.do("go to countertop 1", "take knife 1 from countertop 1")
    assert [one for one in game.reply.admissible if not one.startswith("go to")] == [
        "examine countertop 1",
        "examine knife 1",
        "help",
        "inventory",
        "look",
        "move knife 1 to countertop 1",
        "slice apple 1 with knife 1",
        "slice apple 2 with knife 1",
    ]


def test_all_that_can_be_done_in_the_original_wording(player: Make, kitchen: Problem) -> None:
    game = player(kitchen, ORIGINAL)
    game.do("go to fridge 1", "open fridge 1", "take lettuce 1 from fridge 1")
    assert game.reply.admissible == [
        "close fridge 1",
        "cool lettuce 1 with fridge 1",
        "examine fridge 1",
        "examine lettuce 1",
        "go to cabinet 1",
        "go to cabinet 2",
        "go to countertop 1",
        "go to microwave 1",
        "go to sinkbasin 1",
        "go to stoveburner 1",
        "go to stoveburner 2",
        "inventory",
        "look",
        "put lettuce 1 in/on fridge 1",
    ]


def test_the_list_is_in_the_order_of_letters_and_not_of_numbers(player: Make, sketch: Make) -> None:
    house = sketch()
    for number in range(11):
        house.receptacle(f"shelf_bar_{number:02}", number + 1)
    assert player(house.problem()).reply.admissible[:4] == [
        "go to shelf 1",
        "go to shelf 10",
        "go to shelf 11",
        "go to shelf 2",
    ]


def test_one_does_not_go_where_one_is_nor_to_its_neighbour(game: Any) -> None:
    game.do("go to cabinet 1")
    assert not game.can("go to cabinet 1")
    assert not game.can("go to cabinet 2")
    assert game.can("open cabinet 2")
    assert game.can("examine cabinet 2")
    assert game.can("go to countertop 1")


def test_only_what_has_a_door_opens_and_only_when_it_is_shut(game: Any) -> None:
    game.do("go to cabinet 2")
    assert [game.can(f"{verb} cabinet 2") for verb in ("open", "close")] == [True, False]
    assert [game.can(f"{verb} cabinet 1") for verb in ("open", "close")] == [False, False]
    game.do("open cabinet 2")
    assert [game.can(f"{verb} cabinet 2") for verb in ("open", "close")] == [False, True]
    game.do("close cabinet 2")
    assert [game.can(f"{verb} cabinet 2") for verb in ("open", "close")] == [True, False]


def test_what_was_opened_stays_open_while_one_is_away(game: Any) -> None:
    game.do("go to cabinet 2", "open cabinet 2", "go to fridge 1", "go to cabinet 1")
    assert game.can("close cabinet 2")


def test_nothing_elsewhere_can_be_touched(game: Any) -> None:
    game.do("go to countertop 1", "take apple 1 from countertop 1", "go to sinkbasin 1")
    for command in (
        "open fridge 1",
        "examine fridge 1",
        "move apple 1 to countertop 1",
        "heat apple 1 with microwave 1",
        "cool apple 1 with fridge 1",
        "use desklamp 1",
    ):
        assert not game.can(command)


def test_a_full_hand_takes_nothing(game: Any) -> None:
    game.do("go to countertop 1", "take apple 1 from countertop 1")
    assert not any(command.startswith("take") for command in game.reply.admissible)


def test_nothing_is_taken_from_behind_a_door(game: Any) -> None:
    game.do("go to fridge 1")
    assert not game.can("take lettuce 1 from fridge 1")
    game.do("open fridge 1")
    assert game.can("take lettuce 1 from fridge 1")
    game.do("close fridge 1")
    assert not game.can("take lettuce 1 from fridge 1")


def test_nothing_is_put_behind_a_door(game: Any) -> None:
    game.do("go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1")
    assert not game.can("move apple 1 to fridge 1")
    game.do("open fridge 1")
    assert game.can("move apple 1 to fridge 1")


def test_what_cannot_be_picked_up_is_seen_and_not_taken(game: Any) -> None:
    assert "a houseplant 1" in game.do("go to countertop 1")
    assert not game.can("take houseplant 1 from countertop 1")
    game.do("go to cabinet 2", "open cabinet 2")
    assert not game.can("take desklamp 1 from cabinet 2")


def test_a_thing_goes_only_where_its_type_fits_even_if_it_came_from_there(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("tvstand_bar_1", 1, "creditcard_bar_1").receptacle("desk_bar_1", 2)
    house.flag("creditcard_bar_1", "pickupable").fits("desk", "creditcard").fits("tvstand", "remotecontrol")
    game = player(house.problem())
    game.do("go to tvstand 1", "take creditcard 1 from tvstand 1")
    assert game.type("move creditcard 1 to tvstand 1") == "Nothing happens."
    assert game.do("go to desk 1", "move creditcard 1 to desk 1") == "You move the creditcard 1 to the desk 1."


def test_a_receptacle_is_never_full(player: Make, sketch: Make) -> None:
    house = sketch().fits("shelf", "cup").receptacle("shelf_bar_2", 2)
    cups = [f"cup_bar_{number:03}" for number in range(100)]
    house.receptacle("shelf_bar_1", 1, " ".join(cups)).flag(" ".join(cups), "pickupable")
    game = player(house.problem())
    for number in range(100, 0, -1):
        game.do("go to shelf 2", f"take cup {number} from shelf 2", "go to shelf 1", f"move cup {number} to shelf 1")
    assert game.do("examine shelf 1").count("a cup") == 100


@pytest.mark.parametrize(
    ("place", "command"),
    [
        ("sinkbasin 1", "clean {} with sinkbasin 1"),
        ("microwave 1", "heat {} with microwave 1"),
        ("fridge 1", "cool {} with fridge 1"),
    ],
)
def test_treating_needs_the_thing_in_the_hand_and_its_nature_and_can_be_repeated(
    game: Any, place: str, command: str
) -> None:
    game.do(f"go to {place}")
    assert not game.can(command.format("potato 1"))
    game.do("go to countertop 1", "take apple 1 from countertop 1", f"go to {place}")
    assert game.do(*[command.format("apple 1")] * 2).startswith("You ")
    assert game.can(command.format("apple 1"))
    game.do("go to countertop 1", "move apple 1 to countertop 1", "take knife 1 from countertop 1", f"go to {place}")
    assert game.can(command.format("knife 1")) == (place == "sinkbasin 1")  # a knife is only cleanable


def test_doors_of_fridge_and_microwave_do_not_matter_to_heating_and_cooling(game: Any) -> None:
    game.do("go to countertop 1", "take apple 1 from countertop 1")
    for command, place in (
        ("heat apple 1 with microwave 1", "microwave 1"),
        ("cool apple 1 with fridge 1", "fridge 1"),
    ):
        game.do(f"go to {place}", command, f"open {place}", command, f"close {place}", command)


def test_heat_and_cold_drive_each_other_out_and_clean_stays(game: Any) -> None:
    game.do(
        "go to countertop 1", "take apple 1 from countertop 1", "go to sinkbasin 1", "clean apple 1 with sinkbasin 1"
    )
    apple = game.engine.state.held
    for place, verb, expected in (
        ("microwave 1", "heat", (1, 0)),
        ("fridge 1", "cool", (0, 1)),
        ("microwave 1", "heat", (1, 0)),
    ):
        game.do(f"go to {place}", f"{verb} apple 1 with {place}")
        state = game.engine.state
        assert (apple in state.hot, apple in state.cool) == expected
        assert apple in state.clean


def test_a_sink_by_type_cleans_whatever_it_is_called(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("bathtub_bar_1_bar_sinkbasin", 1, kind="sinkbasintype")
    house.receptacle("bathtub_bar_2_bar_bathtubbasin", 2, "soapbar_bar_1", kind="bathtubbasintype")
    house.flag("soapbar_bar_1", "pickupable cleanable")
    game = player(house.problem())
    game.do("go to bathtubbasin 1", "take soapbar 1 from bathtubbasin 1")
    assert not game.can("clean soapbar 1 with bathtubbasin 1")
    game.do("go to bathtubbasin 2", "clean soapbar 1 with bathtubbasin 2")


def test_a_lamp_is_used_through_a_closed_door_with_a_full_hand_again_and_again(game: Any) -> None:
    game.do(
        "go to countertop 1", "take apple 1 from countertop 1", "go to cabinet 1", "use desklamp 1", "use desklamp 1"
    )
    assert game.can("use desklamp 1")
    assert len(game.engine.state.toggled) == 1


def test_a_lamp_in_no_receptacle_is_never_used(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "desklamp_bar_1").thing("floorlamp_bar_1", "toggleable", location=1)
    house.flag("desklamp_bar_1", "toggleable")
    game = player(house.problem())
    game.do("go to shelf 1")
    assert game.can("use desklamp 1")
    assert game.type("use floorlamp 1") == "Nothing happens."


def test_a_lamp_in_two_receptacles_is_one_command(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "desklamp_bar_1").receptacle("shelf_bar_2", 1, "desklamp_bar_1")
    game = player(house.flag("desklamp_bar_1", "toggleable").problem())
    assert game.do("go to shelf 1", "look")
    assert [one for one in game.reply.admissible if one.startswith("use")] == ["use desklamp 1"]


def test_slicing_needs_a_knife_in_the_hand(player: Make, sketch: Make) -> None:
    house = sketch().receptacle("shelf_bar_1", 1, "apple_bar_1 fork_bar_1 knife_bar_1 pear_bar_1")
    house.flag("apple_bar_1 fork_bar_1 knife_bar_1 pear_bar_1", "pickupable").flag("apple_bar_1", "sliceable")
    game = player(house.fits("shelf", "fork").problem())
    game.do("go to shelf 1")
    assert not game.can("slice apple 1 with knife 1")
    game.do("take fork 1 from shelf 1")
    assert not game.can("slice apple 1 with fork 1")
    game.do("move fork 1 to shelf 1", "take knife 1 from shelf 1")
    assert game.can("slice apple 1 with knife 1")
    assert not game.can("slice pear 1 with knife 1")


def test_slicing_reaches_through_doors_and_what_is_in_no_receptacle(player: Make, sketch: Make) -> None:
    house = (
        sketch().receptacle("shelf_bar_1", 1, "knife_bar_1").receptacle("fridge_bar_1", 1, "apple_bar_1", "openable")
    )
    house.thing("bread_bar_1", "sliceable", location=1).thing("bread_bar_2", "sliceable", location=2)
    house.flag("knife_bar_1", "pickupable").flag("apple_bar_1", "sliceable")
    game = player(house.problem())
    game.do("go to shelf 1", "take knife 1 from shelf 1")
    assert [one for one in game.reply.admissible if one.startswith("slice")] == [
        "slice apple 1 with knife 1",
        "slice bread 2 with knife 1",
    ]


def test_only_what_is_in_the_hand_is_examined_beside_receptacles(game: Any) -> None:
    game.do("go to countertop 1")
    assert not game.can("examine apple 1")
    game.do("take apple 1 from countertop 1", "go to cabinet 2")
    assert [one for one in game.reply.admissible if one.startswith("examine")] == [
        "examine apple 1",
        "examine cabinet 1",
        "examine cabinet 2",
    ]
    assert not game.can("examine desklamp 1")


def test_a_thing_in_two_receptacles_can_be_held_and_taken_again_from_the_other(game: Any) -> None:
    game.do("go to stoveburner 1", "take pan 1 from stoveburner 2")
    assert not game.can("take pan 1 from stoveburner 1")  # the hand is full
    game.do("go to countertop 1", "move pan 1 to countertop 1", "go to stoveburner 1")
    assert game.can("take pan 1 from stoveburner 1")
    assert not game.can("take pan 1 from stoveburner 2")
    game.do("take pan 1 from stoveburner 1", "go to countertop 1")
    assert "a pan 1" in game.do("examine countertop 1")
