"""Every sentence of the game, in both wordings, worked out by hand from the rules of the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.wording import CURRENT, ORIGINAL, Wording

Play = Callable[..., Any]
both_wordings = pytest.mark.parametrize("wording", [CURRENT, ORIGINAL], ids=["current", "original"])

ROOM = "You are in the middle of a room. Looking quickly around you, you see"


@both_wordings
def test_the_introduction_names_every_receptacle_in_the_order_of_ids_and_the_task(
    player: Play, kitchen: Problem, wording: Wording
) -> None:
    game = player(kitchen, wording, goal="put a hot apple in fridge.")
    assert game.reply.text == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are in the middle of a room. Looking quickly around you, you see a cabinet 2, a cabinet 1, "
        "a countertop 1, a fridge 1, a microwave 1, a sinkbasin 1, a stoveburner 2, and a stoveburner 1.\n\n"
        "Your task is to: put a hot apple in fridge."
    )


@pytest.mark.parametrize(
    ("count", "listed"),
    [
        (0, "nothing"),
        (1, "a shelf 1"),
        (2, "a shelf 2, and a shelf 1"),
        (3, "a shelf 3, a shelf 2, and a shelf 1"),
    ],
)
def test_a_list_has_a_comma_before_and(player: Play, sketch: Any, count: int, listed: str) -> None:
    house = sketch()
    for number in range(count):
        house.receptacle(f"shelf_bar_{number}", 1)
    assert f"\n\n{ROOM} {listed}.\n\n" in player(house.problem()).reply.text


def test_a_game_that_begins_at_a_receptacle_says_what_it_faces(player: Play, sketch: Any) -> None:
    house = sketch().receptacle("bed_bar_1", 0, "pillow_bar_1")
    assert player(house.problem()).reply.text == (
        "-= Welcome to TextWorld, ALFRED! =-\n\n"
        "You are facing the bed 1. Next to it, you see nothing.\n\n"
        "Your task is to: do it."
    )


@both_wordings
def test_look_before_the_first_step_sees_nothing(player: Play, kitchen: Problem, wording: Wording) -> None:
    assert player(kitchen, wording).do("look") == f"{ROOM} nothing."


def test_look_at_a_receptacle_does_not_say_what_is_in_it(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    assert game.do("go to countertop 1", "look") == "You are facing the countertop 1. Next to it, you see nothing."


def test_look_names_all_receptacles_of_a_shared_place_without_an_article(player: Play, sketch: Any) -> None:
    house = sketch().receptacle("shelf_bar_1", 1).receptacle("shelf_bar_2", 1).receptacle("shelf_bar_3", 1)
    game = player(house.problem())
    assert game.do("go to shelf 2", "look") == (
        "You are facing the shelf 3, shelf 2, and shelf 1. Next to it, you see nothing."
    )


def test_look_at_two_receptacles(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    assert game.do("go to cabinet 1", "look") == (
        "You are facing the cabinet 2, and cabinet 1. Next to it, you see nothing."
    )


@pytest.fixture
def three_shelves(sketch: Any) -> Problem:
    """Shelf 3 and shelf 2 side by side with a clock and a vase on shelf 3, shelf 1 elsewhere. All fits everywhere."""
    house = sketch().receptacle("shelf_bar_1", 1, "clock_bar_1 vase_bar_1").receptacle("shelf_bar_2", 1)
    house.receptacle("shelf_bar_3", 2).flag("clock_bar_1 vase_bar_1", "pickupable").fits("shelf", "clock vase")
    problem: Problem = house.problem()
    return problem


TWO_FACED = "You are facing the shelf 3, and shelf 2. Next to it, you see"


def test_what_was_moved_between_neighbours_is_seen_beside_them(player: Play, three_shelves: Problem) -> None:
    game = player(three_shelves)
    game.do("go to shelf 3", "take clock 1 from shelf 3")
    assert game.do("look") == f"{TWO_FACED} nothing."
    assert game.do("move clock 1 to shelf 2", "look") == f"{TWO_FACED} a clock 1."
    game.do("take vase 1 from shelf 3", "move vase 1 to shelf 2")
    assert game.do("look") == f"{TWO_FACED} a clock 1, and a vase 1."


def test_what_is_beside_a_place_is_not_seen_while_it_is_held_or_elsewhere(player: Play, three_shelves: Problem) -> None:
    game = player(three_shelves)
    game.do("go to shelf 3", "take clock 1 from shelf 3", "move clock 1 to shelf 2", "take clock 1 from shelf 2")
    assert game.do("look") == f"{TWO_FACED} nothing."
    game.do("go to shelf 1", "move clock 1 to shelf 1")
    assert game.do("look") == "You are facing the shelf 1. Next to it, you see nothing."
    assert game.do("go to shelf 2", "look") == f"{TWO_FACED} nothing."


def test_what_came_back_where_it_was_is_not_seen_beside(player: Play, three_shelves: Problem) -> None:
    game = player(three_shelves)
    game.do("go to shelf 3", "take clock 1 from shelf 3", "move clock 1 to shelf 3")
    assert game.do("look") == f"{TWO_FACED} nothing."


def test_what_was_taken_from_elsewhere_is_not_seen_beside(player: Play, three_shelves: Problem) -> None:
    game = player(three_shelves)
    game.do("go to shelf 3", "take clock 1 from shelf 3", "go to shelf 1", "move clock 1 to shelf 1")
    game.do("take clock 1 from shelf 1", "go to shelf 3", "move clock 1 to shelf 3", "look")
    # It is back on shelf 3; it was taken from shelf 1, which is not here.
    assert game.reply.text == f"{TWO_FACED} nothing."


def test_a_thing_is_seen_once_for_each_neighbour_it_was_taken_from(player: Play, sketch: Any) -> None:
    house = sketch().flag("alarmclock_bar_1 alarmclock_bar_2", "pickupable").fits("shelf", "alarmclock")
    house.receptacle("shelf_bar_1", 1, "alarmclock_bar_1 alarmclock_bar_2")
    house.receptacle("shelf_bar_2", 1).receptacle("shelf_bar_3", 1)
    game = player(house.problem())
    game.do("go to shelf 1", "take alarmclock 2 from shelf 3", "move alarmclock 2 to shelf 2")
    game.do("take alarmclock 2 from shelf 2", "move alarmclock 2 to shelf 1")
    facing = "You are facing the shelf 3, shelf 2, and shelf 1. Next to it, you see"
    assert game.do("look") == f"{facing} a alarmclock 2, and a alarmclock 2."
    game.do("take alarmclock 1 from shelf 3", "move alarmclock 1 to shelf 2")
    assert game.do("look") == f"{facing} a alarmclock 2, a alarmclock 2, and a alarmclock 1."


# -- receptacles ---------------------------------------------------------------------------------------------------

COUNTERTOP = (
    "On the countertop 1, you see a apple 2, a apple 1, a bowl 1, a butterknife 1, a egg 1, a houseplant 1, "
    "and a knife 1."
)


@pytest.mark.parametrize(
    ("receptacle", "seen"),
    [
        ("countertop 1", COUNTERTOP),
        ("cabinet 2", "The cabinet 2 is closed."),
        ("cabinet 1", "On the cabinet 1, you see nothing."),
        ("fridge 1", "The fridge 1 is closed."),
        ("stoveburner 1", "On the stoveburner 1, you see a pan 1."),
        ("sinkbasin 1", "On the sinkbasin 1, you see a potato 1."),
    ],
)
def test_arriving_tells_of_the_named_receptacle_only(
    player: Play, kitchen: Problem, receptacle: str, seen: str
) -> None:
    game = player(kitchen)
    assert game.do(f"go to {receptacle}") == f"You arrive at {receptacle}. {seen}"
    assert game.do(f"examine {receptacle}") == seen


@pytest.mark.parametrize(
    ("receptacle", "place"),
    [("cabinet 2", "loc 6"), ("cabinet 1", "loc 6"), ("countertop 1", "loc 5"), ("stoveburner 2", "loc 1")],
)
def test_in_the_original_one_arrives_at_a_place(player: Play, kitchen: Problem, receptacle: str, place: str) -> None:
    game = player(kitchen, ORIGINAL)
    arrived = game.do(f"go to {receptacle}")
    assert arrived == f"You arrive at {place}. {game.do(f'examine {receptacle}')}"


@both_wordings
def test_opening_and_closing(player: Play, kitchen: Problem, wording: Wording) -> None:
    game = player(kitchen, wording)
    game.do("go to cabinet 2")
    opened = "The cabinet 2 is open. In it, you see a desklamp 1, and a mug 1."
    assert game.do("open cabinet 2") == f"You open the cabinet 2. {opened}"
    assert game.do("examine cabinet 2") == opened
    assert game.do("close cabinet 2") == "You close the cabinet 2."
    assert game.do("examine cabinet 2") == "The cabinet 2 is closed."


def test_a_house_without_any_object_can_be_walked_through(player: Play, sketch: Any) -> None:
    game = player(sketch().receptacle("safe_bar_1", 1, flags="openable").problem())
    game.do("go to safe 1")
    assert game.do("open safe 1") == "You open the safe 1. The safe 1 is open. In it, you see nothing."
    assert game.do("close safe 1") == "You close the safe 1."


def test_opening_what_is_empty(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    assert game.do("go to microwave 1", "open microwave 1") == (
        "You open the microwave 1. The microwave 1 is open. In it, you see nothing."
    )


def test_arriving_at_what_was_left_open(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    game.do("go to fridge 1", "open fridge 1", "go to countertop 1")
    assert game.do("go to fridge 1") == ("You arrive at fridge 1. The fridge 1 is open. In it, you see a lettuce 1.")


def test_what_is_open_from_the_beginning_is_open(player: Play, sketch: Any) -> None:
    house = sketch().receptacle("drawer_bar_1", 1, "pen_bar_1", "openable opened")
    assert player(house.problem()).do("go to drawer 1") == (
        "You arrive at drawer 1. The drawer 1 is open. In it, you see a pen 1."
    )


def test_a_drawer_that_cannot_be_opened_has_things_on_it(player: Play, sketch: Any) -> None:
    house = sketch().receptacle("drawer_bar_1", 1, "pen_bar_1", "openable").receptacle("drawer_bar_2", 2, "pen_bar_2")
    game = player(house.problem())
    assert game.do("go to drawer 2") == "You arrive at drawer 2. The drawer 2 is closed."
    assert game.do("go to drawer 1") == "You arrive at drawer 1. On the drawer 1, you see a pen 1."


# -- taking and putting --------------------------------------------------------------------------------------------


@both_wordings
def test_taking_and_carrying(player: Play, kitchen: Problem, wording: Wording) -> None:
    game = player(kitchen, wording)
    assert game.do("inventory") == "You are not carrying anything."
    assert game.do("go to countertop 1", "take egg 1 from countertop 1") == (
        "You pick up the egg 1 from the countertop 1."
    )
    assert game.do("inventory") == "You are carrying: a egg 1."


@pytest.mark.parametrize(
    ("wording", "command", "answer"),
    [
        (CURRENT, "move egg 1 to countertop 1", "You move the egg 1 to the countertop 1."),
        (ORIGINAL, "put egg 1 in/on countertop 1", "You put the egg 1 in/on the countertop 1."),
    ],
)
def test_putting(player: Play, kitchen: Problem, wording: Wording, command: str, answer: str) -> None:
    game = player(kitchen, wording)
    game.do("go to countertop 1", "take egg 1 from countertop 1")
    assert game.do(command) == answer
    assert game.do("inventory") == "You are not carrying anything."


@pytest.mark.parametrize(
    ("wording", "command", "answer"),
    [
        (CURRENT, "move apple 1 to fridge 1", "You move the apple 1 to the fridge 1."),
        (ORIGINAL, "put apple 1 in/on fridge 1", "You put the apple 1 in/on the fridge 1."),
    ],
)
def test_putting_into_what_has_a_door_is_said_in_the_same_words(
    player: Play, kitchen: Problem, wording: Wording, command: str, answer: str
) -> None:
    game = player(kitchen, wording)
    game.do("go to countertop 1", "take apple 1 from countertop 1", "go to fridge 1", "open fridge 1")
    assert game.do(command) == answer


def test_a_thing_put_back_returns_to_its_old_place_in_the_list(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    game.do("go to countertop 1")
    for thing in ("apple 2", "egg 1", "knife 1"):
        assert f"a {thing}" not in game.do(f"take {thing} from countertop 1", "examine countertop 1")
        assert game.do(f"move {thing} to countertop 1", "examine countertop 1") == COUNTERTOP


def test_a_new_thing_is_listed_in_the_order_of_ids_and_not_at_the_end(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    game.do("go to fridge 1", "open fridge 1", "take lettuce 1 from fridge 1", "go to countertop 1")
    assert game.do("move lettuce 1 to countertop 1", "examine countertop 1") == (
        COUNTERTOP.removesuffix("and a knife 1.") + "a knife 1, and a lettuce 1."
    )
    game.do("take apple 1 from countertop 1", "go to fridge 1", "move apple 1 to fridge 1", "go to countertop 1")
    game.do("take apple 2 from countertop 1", "go to fridge 1")
    assert game.do("move apple 2 to fridge 1", "examine fridge 1") == (
        "The fridge 1 is open. In it, you see a apple 2, and a apple 1."
    )


def test_a_thing_in_two_receptacles_stays_in_the_other(player: Play, kitchen: Problem) -> None:
    game = player(kitchen)
    game.do("go to stoveburner 1")
    assert game.do("take pan 1 from stoveburner 1") == "You pick up the pan 1 from the stoveburner 1."
    assert game.do("examine stoveburner 1") == "On the stoveburner 1, you see nothing."
    assert game.do("examine stoveburner 2") == "On the stoveburner 2, you see a pan 1."
    game.do("move pan 1 to stoveburner 1")
    game.do("take pan 1 from stoveburner 2", "go to countertop 1", "move pan 1 to countertop 1")
    assert game.do("go to stoveburner 1") == "You arrive at stoveburner 1. On the stoveburner 1, you see a pan 1."


# -- treating ------------------------------------------------------------------------------------------------------


@both_wordings
def test_cleaning_heating_cooling_slicing_and_using(player: Play, kitchen: Problem, wording: Wording) -> None:
    game = player(kitchen, wording)
    game.do("go to countertop 1", "take egg 1 from countertop 1", "go to sinkbasin 1")
    assert game.do("clean egg 1 with sinkbasin 1") == "You clean the egg 1 using the sinkbasin 1."
    game.do("go to microwave 1")
    assert game.do("heat egg 1 with microwave 1") == "You heat the egg 1 using the microwave 1."
    game.do("go to fridge 1")
    assert game.do("cool egg 1 with fridge 1") == "You cool the egg 1 using the fridge 1."
    game.do("go to cabinet 1")
    assert [game.do("use desklamp 1"), game.do("use desklamp 1")] == ["You turn on the desklamp 1."] * 2


@pytest.mark.parametrize("knife", ["knife 1", "butterknife 1"])
def test_slicing_names_the_knife(player: Play, kitchen: Problem, knife: str) -> None:
    game = player(kitchen)
    game.do("go to countertop 1", f"take {knife} from countertop 1")
    assert game.do(f"slice apple 2 with {knife}") == f"You sliced the apple 2 with the {knife}."
    assert game.do("examine countertop 1").startswith("On the countertop 1, you see a apple 2, a apple 1, a bowl 1,")


# -- the rest ------------------------------------------------------------------------------------------------------


def test_help_has_thirteen_lines_and_one_line_end_at_the_end(player: Play, kitchen: Problem) -> None:
    text = player(kitchen).do("help")
    assert text.startswith(
        "Available commands:\n  look:                             look around your current location\n"
    )
    assert text.endswith("  slice (object) with (object):     slice an object using a sharp object\n")
    assert text.count("\n") == 14  # the heading and 13 commands
    assert "\n  move (object) to (receptacle):  place an object in or on a receptacle\n" in text
    aligned = [line for line in text.splitlines()[1:] if "move" not in line.split(":")[0]]
    assert {len(re.match(r"  .*?: +", line)[0]) for line in aligned} == {36}  # type: ignore[index]


def test_in_the_original_help_is_no_command(player: Play, kitchen: Problem) -> None:
    game = player(kitchen, ORIGINAL)
    assert not game.can("help")
    assert game.type("help") == "Nothing happens."


@both_wordings
def test_no_text_but_help_begins_or_ends_with_a_blank(player: Play, kitchen: Problem, wording: Wording) -> None:
    game = player(kitchen, wording)
    texts = [game.reply.text]
    for _ in range(3):
        for command in [command for command in game.reply.admissible if command != "help"]:
            texts.append(game.type(command))
    assert [text for text in texts if text != text.strip()] == []
