"""What the texts and the commands of ALFWorld teach; observations written by hand after the rules of the game."""

from __future__ import annotations

import pytest

from llm_gym.envs.alfworld.store import GameStore
from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.places import known_places, probability, probably_shut

INTRODUCTION = (
    "-= Welcome to TextWorld, ALFRED! =-\n\n"
    "You are in the middle of a room. Looking quickly around you, you see a fridge 1, a shelf 2, and a shelf 1.\n\n"
    "Your task is to: put a mug in fridge."
)
ALWAYS = ["help", "inventory", "look"]
AT_START = [*ALWAYS, "go to fridge 1", "go to shelf 1", "go to shelf 2"]
AT_SHELVES = [*ALWAYS, "examine shelf 1", "examine shelf 2", "go to fridge 1"]


@pytest.fixture
def belief() -> Belief:
    """After the beginning."""
    belief = Belief()
    belief.see(INTRODUCTION, AT_START)
    return belief


def test_the_beginning_names_all_places_and_nothing_more(belief: Belief) -> None:
    assert set(belief.places) == {"fridge 1", "shelf 2", "shelf 1"}
    assert not belief.near
    assert belief.held is None
    assert not belief.contents
    assert not belief.shut


def test_empty_hands_see_what_lies_in_all_open_places_of_a_location(belief: Belief) -> None:
    commands = [*AT_SHELVES, "take mug 1 from shelf 1", "take pen 1 from shelf 2"]
    belief.see("You arrive at shelf 2. On the shelf 2, you see a houseplant 1, and a pen 1.", commands)
    assert belief.near == ("shelf 1", "shelf 2")
    assert belief.contents == {"shelf 1": {"mug 1"}, "shelf 2": {"pen 1"}}
    assert belief.things("mug") == [("mug 1", "shelf 1")]
    assert "fridge 1" not in belief.visited


def test_full_hands_see_what_the_text_says(belief: Belief) -> None:
    commands = [*AT_SHELVES, "examine mug 2", "move mug 2 to shelf 1", "move mug 2 to shelf 2"]
    belief.see("You arrive at shelf 2. On the shelf 2, you see a mug 1, and a pen 1.", commands)
    assert belief.held == "mug 2"
    assert belief.contents == {"shelf 2": {"mug 1", "pen 1"}}


@pytest.mark.parametrize("arrival", ["You arrive at fridge 1.", "You arrive at loc 4."])
def test_a_shut_door_hides_what_is_behind_it(belief: Belief, arrival: str) -> None:
    at_fridge = [*ALWAYS, "examine fridge 1", "go to shelf 1", "go to shelf 2"]
    belief.see(f"{arrival} The fridge 1 is closed.", [*at_fridge, "open fridge 1"])
    assert belief.shut == {"fridge 1": True}
    assert "fridge 1" not in belief.contents
    opened = "You open the fridge 1. The fridge 1 is open. In it, you see a egg 1, and a mug 1."
    belief.see(opened, [*at_fridge, "close fridge 1", "take egg 1 from fridge 1", "take mug 1 from fridge 1"])
    assert belief.shut == {"fridge 1": False}
    assert belief.contents == {"fridge 1": {"egg 1", "mug 1"}}


def test_a_thing_that_was_taken_is_no_longer_where_it_was(belief: Belief) -> None:
    belief.see("You arrive at shelf 1. On the shelf 1, you see a mug 1.", [*AT_SHELVES, "take mug 1 from shelf 1"])
    belief.see("You pick up the mug 1 from the shelf 1.", [*AT_SHELVES, "examine mug 1", "move mug 1 to shelf 1"])
    assert belief.held == "mug 1"
    assert belief.things("mug") == []
    assert belief.knows("mug")


@pytest.mark.parametrize(
    ("text", "offered"),
    [
        ("You move the mug 1 to the shelf 2.", "move mug 1 to shelf 2"),
        ("You put the mug 1 in/on the shelf 2.", "put mug 1 in/on shelf 2"),
    ],
)
def test_both_wordings_put_things_down(belief: Belief, text: str, offered: str) -> None:
    belief.see("You pick up the mug 1 from the shelf 1.", [*AT_SHELVES, "examine mug 1", offered])
    assert belief.put("shelf 2") == offered
    assert belief.put("shelf 1") is None
    belief.see(text, [*AT_SHELVES, "take mug 1 from shelf 2"])
    assert belief.held is None
    assert belief.things("mug") == [("mug 1", "shelf 2")]


def test_a_place_that_does_not_take_a_thing_is_remembered_by_kind(belief: Belief) -> None:
    belief.see("You pick up the roll 1 from the shelf 1.", [*AT_SHELVES, "examine roll 1", "move roll 1 to shelf 2"])
    assert belief.refused == {("roll", "shelf")}


def test_a_thing_may_be_listed_in_two_places(belief: Belief) -> None:
    commands = [*AT_SHELVES, "take pan 1 from shelf 1", "take pan 1 from shelf 2"]
    belief.see("You arrive at shelf 1. On the shelf 1, you see a pan 1.", commands)
    assert belief.things("pan") == [("pan 1", "shelf 1"), ("pan 1", "shelf 2")]


@pytest.mark.parametrize(
    ("texts", "treated"),
    [
        (["You heat the egg 1 using the microwave 1."], {"heat"}),
        (["You heat the egg 1 using the microwave 1.", "You cool the egg 1 using the fridge 1."], {"cool"}),
        (["You clean the egg 1 using the sinkbasin 1.", "You cool the egg 1 using the fridge 1."], {"clean", "cool"}),
        (["This is a hot and clean egg 1."], {"heat", "clean"}),
        (["This is a cold egg 1."], {"cool"}),
        (["This is a cool and clean sliced egg 1."], {"cool", "clean"}),
        (["You heat the egg 1 using the microwave 1.", "Nothing happens."], {"heat"}),
    ],
)
def test_what_was_done_to_a_thing_is_remembered(belief: Belief, texts: list[str], treated: set[str]) -> None:
    for text in texts:
        belief.see(text, [*AT_SHELVES, "examine egg 1"])
    assert belief.treated == {"egg 1": treated}


def test_a_lamp_is_known_by_its_use_and_lit_by_the_text(belief: Belief) -> None:
    belief.see("You arrive at shelf 1. On the shelf 1, you see nothing.", [*AT_SHELVES, "use desklamp 1"])
    assert belief.lamps == {"desklamp 1": ("shelf 1", "shelf 2")}
    assert not belief.lit
    belief.see("You turn on the desklamp 1.", [*AT_SHELVES, "use desklamp 1"])
    assert belief.lit == {"desklamp 1"}


def test_one_who_comes_late_knows_where_it_is_by_the_commands() -> None:
    belief = Belief()
    belief.see("Nothing happens.", ["examine fridge 1", "examine mug 1", "go to shelf 1", "inventory", "look"])
    assert belief.near == ("fridge 1",)
    assert belief.held == "mug 1"
    assert set(belief.places) == {"fridge 1", "shelf 1"}


def test_the_same_seen_twice_teaches_nothing_new(belief: Belief) -> None:
    seen = "You arrive at shelf 1. On the shelf 1, you see a mug 1.", [*AT_SHELVES, "take mug 1 from shelf 1"]
    belief.see(*seen)
    before = belief.contents, belief.places, belief.near, belief.visited, belief.refused
    belief.see(*seen)
    assert (belief.contents, belief.places, belief.near, belief.visited, belief.refused) == before


def test_things_are_likelier_where_people_keep_them() -> None:
    assert probability("pillow", "bed") > probability("pillow", "desk") > 0
    assert probability("pan", "stoveburner") > probability("pan", "drawer") > 0
    assert probably_shut("fridge") == 1
    assert probably_shut("shelf") == 0
    assert 0.5 < probably_shut("cabinet") < 1


@pytest.mark.parametrize(("thing", "place"), [("pillow", "throne"), ("dragon", "bed"), ("dragon", "throne")])
def test_nothing_is_impossible(thing: str, place: str) -> None:
    assert 0 < probability(thing, place) < 1
    assert 0 < probably_shut("throne") < 1


@pytest.mark.data
def test_the_table_counts_the_training_games(official_store: GameStore) -> None:
    burners = with_pot = shut_drawers = 0
    for entry in official_store.entries("train"):
        facts = official_store.game("train", entry.task_id).problem.facts
        pots = {fact[2] for fact in facts if fact[0] == "inreceptacle" and fact[1].startswith("pot_bar_")}
        burners += sum(fact[0] == "receptacletype" and fact[2] == "stoveburnertype" for fact in facts)
        with_pot += sum(place.startswith("stoveburner_bar_") for place in pots)
        shut_drawers += sum(fact[0] == "openable" and fact[1].startswith("drawer_bar_") for fact in facts)
    table = known_places()
    assert (table["stoveburner"]["number"], table["stoveburner"]["holds"]["pot"]) == (burners, with_pot)
    assert table["drawer"]["shut"] == shut_drawers
