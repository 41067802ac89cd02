"""What things are called: numbers are handed out from the top, in the order of the raw ids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.names import display_names
from llm_gym.envs.alfworld.problem import Problem


def test_the_first_id_has_the_highest_number() -> None:
    assert display_names(["cabinet_bar_c", "cabinet_bar_a", "cabinet_bar_b"]) == {
        "cabinet_bar_a": "cabinet 3",
        "cabinet_bar_b": "cabinet 2",
        "cabinet_bar_c": "cabinet 1",
    }


def test_an_id_that_occurs_twice_is_one_thing() -> None:
    assert display_names(["cup_bar_2", "cup_bar_1", "cup_bar_2"]) == {"cup_bar_1": "cup 2", "cup_bar_2": "cup 1"}


def test_each_word_is_numbered_apart() -> None:
    assert display_names(["cup_bar_1", "mug_bar_2", "cup_bar_3"]) == {
        "cup_bar_1": "cup 2",
        "cup_bar_3": "cup 1",
        "mug_bar_2": "mug 1",
    }


def test_order_is_that_of_code_points_and_not_of_numbers() -> None:
    ids = ["loc_bar_2", "loc_bar_1_bar_0", "loc_bar_10", "loc_bar__minus_1", "loc_bar_é", "loc_bar_z"]
    # "0" (48) comes before "_" (95), "1" before "2", "_" before "z" (122), "z" before "é" (233)
    assert display_names(ids) == {
        "loc_bar_10": "loc 6",
        "loc_bar_1_bar_0": "loc 5",
        "loc_bar_2": "loc 4",
        "loc_bar__minus_1": "loc 3",
        "loc_bar_z": "loc 2",
        "loc_bar_é": "loc 1",
    }


@pytest.mark.parametrize(
    ("identity", "name"),
    [
        ("sink_bar__minus_00_dot_5_bar_sinkbasin", "sinkbasin 1"),
        ("sink_bar__minus_00_dot_5", "sink 1"),
        ("bathtub_bar_1_bar_bathtubbasin", "bathtubbasin 1"),
        ("bathtub_bar_1_bar_sinkbasin", "bathtubbasin 1"),
        ("sink_bar_1_bar_sinkbasin_bar_2", "sinkbasin 1"),
        ("tv_bar_stand_bar_1", "tv 1"),
        ("garbagecan_bar_1", "garbagecan 1"),
        ("desklamp_bar__plus_01_dot_20_bar__plus_00_dot_80", "desklamp 1"),
    ],
)
def test_the_word_stands_before_the_first_bar_and_a_basin_says_so(identity: str, name: str) -> None:
    assert display_names([identity]) == {identity: name}


def test_a_sink_and_its_basin_are_numbered_apart() -> None:
    names = display_names(["sink_bar_1", "sink_bar_2", "sink_bar_1_bar_sinkbasin", "sink_bar_2_bar_sinkbasin"])
    assert sorted(names.values()) == ["sink 1", "sink 2", "sinkbasin 1", "sinkbasin 2"]


@given(st.lists(st.from_regex(r"(cup|mug|sink)_bar_[0-9a-z_]{1,6}(_bar_sinkbasin)?", fullmatch=True)), st.randoms())
def test_names_are_unique_and_the_order_of_the_ids_given_does_not_matter(ids: list[str], random: Any) -> None:
    names = display_names(ids)
    shuffled = ids[:]
    random.shuffle(shuffled)
    assert display_names(shuffled) == names
    assert len(set(names.values())) == len(names) == len(set(ids))


@given(st.sets(st.from_regex(r"cup_bar_[0-9a-z_]{1,6}", fullmatch=True), min_size=1))
def test_numbers_fall_as_ids_rise(ids: set[str]) -> None:
    numbers = [int(name.split()[1]) for _, name in sorted(display_names(ids).items())]
    assert numbers == list(range(len(ids), 0, -1))


def test_what_only_stands_among_the_objects_or_in_distances_or_in_the_goal_is_not_counted() -> None:
    problem = Problem.parse(
        """(define (problem p) (:domain alfred)
        (:objects loc_bar_1 loc_bar_2 loc_bar_3 - location  cup_bar_9 - object)
        (:init
            (= (total-cost) 0)
            (= (distance loc_bar_2 loc_bar_3) 7)
            (atLocation agent1 loc_bar_1)
            (receptacleAtLocation shelf_bar_1 loc_bar_2)
            (inReceptacle cup_bar_1 shelf_bar_1))
        (:goal (exists (?r - receptacle) (inReceptacle cup_bar_8 ?r))))"""
    )
    house = House.of(problem)
    assert house.location_names == ("loc 2", "loc 1")
    assert house.object_names == ("cup 1",)


def test_receptacles_objects_and_places_share_the_numbers_of_a_word(sketch: Callable[..., Any]) -> None:
    house = House.of(sketch().receptacle("box_bar_2", 1, "box_bar_1 box_bar_3", kind="boxrtype").problem())
    assert house.object_names == ("box 3", "box 1")
    assert house.receptacle_names == ("box 2",)
