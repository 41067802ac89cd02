"""Which kind of task a goal is; the goals are written as the releases write them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm_gym.envs.alfworld.problem import Expression
from llm_gym.envs.alfworld.tasks import TASK_TYPES, Look, Other, Place, Task, task_of, task_type_of

SIMPLE = """(and (exists (?r - receptacle) (exists (?o - object)
    (and (inReceptacle ?o ?r) (objectType ?o MugType) (receptacleType ?r ShelfType)))))"""
TREATED = """(and (exists (?r - receptacle) (exists (?o - object)
    (and ({can} ?o) (objectType ?o MugType) (receptacleType ?r ShelfType) ({done} ?o) (inReceptacle ?o ?r)))))"""
TWO = """(and (exists (?r - receptacle) (exists (?o1 - object)
    (and (objectType ?o1 MugType) (receptacleType ?r ShelfType) (inReceptacle ?o1 ?r)
        (exists (?o2 - object) (and (not (= ?o1 ?o2))
            (objectType ?o2 MugType) (receptacleType ?r ShelfType) (inReceptacle ?o2 ?r)))))))"""
LOOK = """(and
    (exists (?ot - object ?r - receptacle ?a - agent ?l - location)
        (and (objectType ?ot DeskLampType) (toggleable ?ot) (isToggled ?ot) (receptacleAtLocation ?r ?l)
            (atLocation ?a ?l) (inReceptacle ?ot ?r)))
    (exists (?o - object ?a - agent) (and (objectType ?o MugType) (holds ?a ?o))))"""
SLICED_COOL = TREATED.format(can="coolable", done="isCool").replace(
    "(and (cool", "(and (sliceable ?o) (isSliced ?o) (cool"
)
SLICED_TWO = TWO.replace("(objectType ?o1", "(sliceable ?o1) (isSliced ?o1) (objectType ?o1").replace(
    "(objectType ?o2", "(sliceable ?o2) (isSliced ?o2) (objectType ?o2"
)
ALL_SHUT = SIMPLE.removesuffix(")") + "(forall (?re - receptacle) (not (opened ?re))))"
MOVABLE = """(and (exists (?r - receptacle) (and (receptacleType ?r ShelfType) (exists (?o - object)
    (and (objectType ?o MugType) (exists (?mo - object) (and (objectType ?mo BowlType) (isReceptacleObject ?mo)
        (inReceptacleObject ?o ?mo) (inReceptacle ?mo ?r))))))))"""

TASKS: list[tuple[str, Task, str]] = [
    (SIMPLE, Place("mugtype", "shelftype"), "pick_and_place_simple"),
    (
        TREATED.format(can="cleanable", done="isClean"),
        Place("mugtype", "shelftype", treatment="clean"),
        "pick_clean_then_place_in_recep",
    ),
    (
        TREATED.format(can="heatable", done="isHot"),
        Place("mugtype", "shelftype", treatment="heat"),
        "pick_heat_then_place_in_recep",
    ),
    (
        TREATED.format(can="coolable", done="isCool"),
        Place("mugtype", "shelftype", treatment="cool"),
        "pick_cool_then_place_in_recep",
    ),
    (LOOK, Look("mugtype", "desklamptype"), "look_at_obj_in_light"),
    (TWO, Place("mugtype", "shelftype", 2), "pick_two_obj_and_place"),
    (SLICED_COOL, Place("mugtype", "shelftype", 1, "cool", sliced=True), "pick_cool_then_place_in_recep"),
    (SLICED_TWO, Place("mugtype", "shelftype", 2, sliced=True), "pick_two_obj_and_place"),
    (ALL_SHUT, Other(), "other"),
    (MOVABLE, Other(), "other"),
    ("(exists (?o - object) (isHot ?o))", Other(), "other"),
    ("(exists (?r - receptacle) (opened ?r))", Other(), "other"),
    ("(or (exists (?o - object) (isHot ?o)) (exists (?o - object) (isCool ?o)))", Other(), "other"),
    ("(not (exists (?o - object) (isHot ?o)))", Other(), "other"),
    (LOOK.replace("(objectType ?o MugType)", ""), Other(), "other"),
    (SIMPLE.replace("(receptacleType ?r ShelfType)", ""), Other(), "other"),
    (SIMPLE.replace("(objectType ?o MugType)", ""), Other(), "other"),
    (TWO.replace("?o2 MugType", "?o2 CupType"), Other(), "other"),
]


@pytest.mark.parametrize(("goal", "task", "task_type"), TASKS)
def test_the_kind_of_task_is_read_from_the_goal(
    parse_goal: Callable[[str], Expression], goal: str, task: Task, task_type: str
) -> None:
    assert task_of(parse_goal(goal)) == task
    assert task_type_of(task) == task_type


def test_the_six_kinds_and_no_others_stand_in_the_table_of_short_names() -> None:
    assert {task_type for _, _, task_type in TASKS} == {*TASK_TYPES, "other"}
    assert list(TASK_TYPES.values()) == ["pick", "clean", "heat", "cool", "look", "two"]
