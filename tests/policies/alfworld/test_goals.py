"""The goals of ALFWorld: each sentence of the releases, and people's own words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.alfworld.tasks import Look as LookTask
from llm_gym.envs.alfworld.tasks import Place as PlaceTask
from llm_gym.policies.alfworld.goals import Errand, Look, Put, Treatment, read_goal
from llm_gym.policies.alfworld.paraphrases import readings

words = st.from_regex(r"[a-z]{1,12}", fullmatch=True)
KITCHEN = (
    "cabinet",
    "coffeemachine",
    "countertop",
    "drawer",
    "fridge",
    "garbagecan",
    "microwave",
    "sinkbasin",
    "shelf",
)
BEDROOM = ("armchair", "bed", "desk", "drawer", "dresser", "garbagecan", "shelf", "sidetable")


@pytest.mark.parametrize(
    ("sentence", "errand"),
    [
        ("put a mug in desk.", Put("mug", "desk")),
        ("put some pillow on sofa.", Put("pillow", "sofa")),
        ("put a clean fork in drawer.", Put("fork", "drawer", treatment="clean")),
        ("put a hot egg in garbagecan.", Put("egg", "garbagecan", treatment="heat")),
        ("put a cool pan in stoveburner.", Put("pan", "stoveburner", treatment="cool")),
        ("clean some cloth and put it in bathtubbasin.", Put("cloth", "bathtubbasin", treatment="clean")),
        ("heat some apple and put it in fridge.", Put("apple", "fridge", treatment="heat")),
        ("cool some bread and put it in countertop.", Put("bread", "countertop", treatment="cool")),
        ("put two cd in safe.", Put("cd", "safe", 2)),
        ("find two toiletpaper and put them in toiletpaperhanger.", Put("toiletpaper", "toiletpaperhanger", 2)),
        ("look at book under the desklamp.", Look("book", "desklamp")),
        ("examine the remotecontrol with the floorlamp.", Look("remotecontrol", "floorlamp")),
    ],
)
def test_each_sentence_of_the_releases_is_read(sentence: str, errand: Errand) -> None:
    assert read_goal(sentence) == errand == read_goal(f" {sentence.removesuffix('.')} ")


@given(words, words, st.sampled_from([("clean", "clean"), ("hot", "heat"), ("cool", "cool")]))
def test_things_and_places_may_have_any_name(thing: str, place: str, treatment: tuple[str, Treatment]) -> None:
    adjective, verb = treatment
    assert read_goal(f"put a {adjective} {thing} in {place}.") == Put(thing, place, 1, verb)
    assert read_goal(f"{verb} some {thing} and put it in {place}.") == Put(thing, place, 1, verb)
    assert read_goal(f"put some {thing} on {place}.") == Put(thing, place)
    assert read_goal(f"find two {thing} and put them in {place}.") == Put(thing, place, 2)
    assert read_goal(f"look at {thing} under the {place}.") == Look(thing, place)


@pytest.mark.parametrize("sentence", ["", ".", "put", "put a mug", "put a hot hot mug in fridge.", "Walk to the exit."])
def test_another_sentence_is_none_of_theirs(sentence: str) -> None:
    assert read_goal(sentence) is None


@given(st.text())
def test_no_text_is_too_strange_to_be_refused(text: str) -> None:
    assert read_goal(text) is None or " in " in text or " on " in text or " the " in text
    assert all(errand.thing for errand in readings(text, KITCHEN))


@pytest.mark.data
def test_every_official_goal_is_read_as_its_game_checks_it(official_store: GameStore) -> None:
    for split in official_store.splits:
        for entry in official_store.entries(split):
            game = official_store.game(split, entry.task_id)
            match game.task:
                case PlaceTask(object_type, receptacle_type, count, treatment):
                    places = receptacle_type.removesuffix("type"), object_type.removesuffix("type")
                    assert read_goal(game.goal) == Put(places[1], places[0], count, treatment)
                case LookTask(object_type, lamp_type):
                    names = object_type.removesuffix("type"), lamp_type.removesuffix("type")
                    assert read_goal(game.goal) == Look(*names)
                case other:
                    pytest.fail(f"{entry.task_id} asks for {other}")


@pytest.mark.parametrize(
    ("sentence", "places", "errand"),
    [
        ("Put the apple in the trash can.", KITCHEN, Put("apple", "garbagecan")),
        ("Throw an egg away.", KITCHEN, Put("egg", "garbagecan")),
        ("Store a washed plate in the cupboard", KITCHEN, Put("plate", "cabinet", treatment="clean")),
        ("Fill a cup with water, then leave it on the counter.", KITCHEN, Put("cup", "countertop", treatment="clean")),
        ("Warm up a potato and put it in the refrigerator", KITCHEN, Put("potato", "fridge", treatment="heat")),
        ("Microwave a tomato and set it on the counter", KITCHEN, Put("tomato", "countertop", treatment="heat")),
        ("Place a chilled head of lettuce in the sink", KITCHEN, Put("lettuce", "sinkbasin", treatment="cool")),
        ("Put a cold glass bowl into a drawer", KITCHEN, Put("bowl", "drawer", treatment="cool")),
        ("Put both bars of soap into the drawer", KITCHEN, Put("soapbar", "drawer", 2)),
        ("Move two knives to the counter by the sink", KITCHEN, Put("knife", "countertop", 2)),
        ("Move candles from the bed to the dresser", BEDROOM, Put("candle", "dresser", 2)),
        ("Bring the keys on the bed to the chair", BEDROOM, Put("keychain", "armchair")),
        ("Put a pen in the drawer of the desk", BEDROOM, Put("pen", "drawer")),
        ("Place a mug on the left side of the desk", BEDROOM, Put("mug", "desk")),
        ("Put the laptop on the nightstand next to the bed", BEDROOM, Put("laptop", "sidetable")),
        ("Examine an alarm clock by the light of a lamp.", BEDROOM, Look("alarmclock", "desklamp")),
        ("Pick up the pillow and turn on the tall lamp", BEDROOM, Look("pillow", "floorlamp")),
    ],
)
def test_peoples_own_words_are_understood_as_far_as_possible(
    sentence: str, places: tuple[str, ...], errand: Errand
) -> None:
    assert readings(sentence, places)[0] == errand


def test_a_word_of_several_meanings_has_several_readings() -> None:
    errands = readings("Put a knife on the table", ("diningtable", "desk", "drawer"))
    assert {(errand.thing, errand.place) for errand in errands if isinstance(errand, Put)} == {
        ("knife", "diningtable"),
        ("knife", "desk"),
        ("butterknife", "diningtable"),
        ("butterknife", "desk"),
    }


def test_a_goal_without_a_place_may_mean_any_the_usual_ones_first() -> None:
    errands = readings("Wash the pillow.", ("drawer", "bed"))
    assert errands == [Put("pillow", "bed", 1, "clean"), Put("pillow", "drawer", 1, "clean")]


def test_a_goal_without_a_thing_has_no_reading() -> None:
    assert readings("Tidy up the room!", BEDROOM) == []
