"""Panels of games: which, in which order, in the words of people."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.panels import make_panel
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.store import write_store
from llm_gym.errors import InvalidSetting, MissingData, UnknownName

FACTS = "(atLocation agent1 loc_bar_1)"
IN = (
    "(exists (?r - receptacle ?o - object)"
    "(and (inReceptacle ?o ?r) (objectType ?o XType) (receptacleType ?r YType) {}))"
)
GOALS = {
    "pick": IN.format(""),
    "clean": IN.format("(isClean ?o)"),
    "heat": IN.format("(isHot ?o)"),
    "cool": IN.format("(isCool ?o)"),
    "look": "(exists (?a - agent ?o - object ?l - object) (and (holds ?a ?o) (isToggled ?l) (objectType ?o XType)"
    "(objectType ?l LampType)))",
    "two": IN.format("(exists (?p - object) (and (inReceptacle ?p ?r) (objectType ?p XType)))"),
}
NUMBERS = {1: "pick", 2: "look", 3: "clean", 4: "heat", 5: "cool", 6: "two"}
"""As the original's configuration has them."""


def game(kind, number, split="train", annotations=()):
    problem = Problem.parse(f"(define (problem p) (:init {FACTS}) (:goal {GOALS[kind]}))")
    return Game(f"{kind}-{number}/trial", split, "do it.", problem, annotations=annotations)


@pytest.fixture
def make_store(tmp_path):
    return lambda games, name="store": write_store(tmp_path / name, games, name=name, about={})


@pytest.fixture
def store(make_store):
    return make_store([game(kind, number) for kind in GOALS for number in range(5)])


def test_the_plain_order_is_that_of_the_ids(store):
    panel = make_panel(store, "train", shuffled=False)
    assert list(panel) == sorted(f"{kind}-{number}/trial" for kind in GOALS for number in range(5))
    assert panel.name == "train"


def test_the_shuffled_order_is_that_of_the_hashes_of_the_ids(store):
    ids = [f"{kind}-{number}/trial" for kind in GOALS for number in range(5)]
    assert list(make_panel(store, "train")) == sorted(ids, key=lambda one: hashlib.sha256(one.encode()).hexdigest())


def test_the_shuffled_order_of_games_stays_when_others_come_and_go(store, make_store):
    fewer = make_store([game(kind, number) for kind in ("heat", "two") for number in (1, 3, 9)], "fewer")
    order, others = list(make_panel(store, "train")), list(make_panel(fewer, "train"))
    common = set(order) & set(others)
    assert len(common) == 4
    assert [one for one in order if one in common] == [one for one in others if one in common]


@pytest.mark.parametrize("name", [pytest.param(name, id=f"{number}") for number, name in NUMBERS.items()])
def test_a_kind_of_task_by_its_short_name(store, name):
    panel = make_panel(store, "train", name)
    assert sorted(panel) == [f"{name}-{number}/trial" for number in range(5)]
    assert panel.name == f"train-{name}"


@pytest.mark.parametrize(("number", "name"), NUMBERS.items())
def test_a_kind_of_task_by_the_number_of_the_original(store, number, name):
    assert list(make_panel(store, "train", number)) == list(make_panel(store, "train", name))


@pytest.mark.parametrize(
    "kinds", [["two", "heat"], ("pick_heat_then_place_in_recep", "two"), [4, 6, 6], ["heat", "pick_two_obj_and_place"]]
)
def test_several_kinds_of_task_in_any_order_and_by_any_name(store, kinds):
    panel = make_panel(store, "train", kinds)
    assert sorted(panel) == [f"{kind}-{number}/trial" for kind in ("heat", "two") for number in range(5)]
    assert panel.name == "train-heat-two"


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ("heet", "Did you mean 'heat'"),
        ([1, "pik"], "Did you mean 'pick'"),
        (0, "kind of task 0"),
        (7, "kind of task 7"),
        (True, "kind of task True"),
    ],
)
def test_an_unknown_kind_of_task_is_named_with_near_ones(store, kinds, said):
    with pytest.raises(UnknownName, match=said):
        make_panel(store, "train", kinds)


def test_no_kind_of_task_at_all_is_refused(store):
    with pytest.raises(InvalidSetting, match="names no kind of task"):
        make_panel(store, "train", [])


def test_a_kind_of_task_that_no_game_has(make_store):
    store = make_store([game("heat", 1)])
    with pytest.raises(MissingData, match="0 games of pick_two_obj_and_place are in split 'train'"):
        make_panel(store, "train", "two")


def test_a_split_without_games_says_where_it_looked_and_how_to_get_them(store):
    with pytest.raises(MissingData) as raised:
        make_panel(store, "valid_unseen")
    told = str(raised.value)
    assert told.startswith("0 games of split 'valid_unseen'")
    for part in (str(store.folder), "30 in train", "`llm-gym download alfworld`", "--set games="):
        assert part in told


def test_an_unknown_split_is_named_with_near_ones(store):
    with pytest.raises(UnknownName, match="Did you mean 'train'"):
        make_panel(store, "trian")


def test_each_goal_in_peoples_words_is_a_task_the_first_of_every_game_first(make_store):
    texts = {"a": ("x.", "y.", "z."), "b": (), "c": ("x.",)}
    store = make_store([replace(game("heat", 1), task_id=name, annotations=said) for name, said in texts.items()])
    panel = make_panel(store, "train", shuffled=False, annotated=True)
    assert list(panel) == ["a#0", "c#0", "a#1", "a#2"]
    assert panel.name == "train-annotated"
    order = list(make_panel(store, "train"))  # of the games
    first = [task for task in make_panel(store, "train", annotated=True) if task.endswith("#0")]
    assert first == [f"{task_id}#0" for task_id in order if task_id != "b"]


def test_a_store_without_goals_in_peoples_words_says_how_to_get_them(store):
    with pytest.raises(MissingData, match="llm-gym build alfworld --from GAMES --annotations TRAJ_DATA"):
        make_panel(store, "train", annotated=True)


@pytest.mark.data
def test_the_first_official_games_are_a_fair_sample(official_store):
    kinds = {entry.task_id: entry.task_type for entry in official_store.entries("valid_unseen")}
    first = [kinds[task_id] for task_id in make_panel(official_store, "valid_unseen")[:30]]
    assert len(set(first)) == 6
    assert max(map(first.count, set(first))) <= 10
    plain = [kinds[task_id] for task_id in make_panel(official_store, "valid_unseen", shuffled=False)[:18]]
    assert set(plain) == {"look_at_obj_in_light"}


@pytest.mark.data
@pytest.mark.parametrize("split", ["train", "valid_seen", "valid_unseen"])
def test_official_panels_are_the_same_for_both_releases_but_for_one_game(official_store, original_store, split):
    current, original = (set(make_panel(store, split)) for store in (official_store, original_store))
    assert current <= original
    assert len(original - current) == (split == "train")
    assert len(make_panel(official_store, split, "two")) == {"train": 813, "valid_seen": 24, "valid_unseen": 17}[split]
