"""Goals in people's words."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.alfworld.annotations import as_goal, descriptions, read_annotations
from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.sources import ANNOTATION_FILE, GAME_FILE
from llm_gym.errors import BadRecord


def traj_data(*texts):
    return json.dumps({"turk_annotations": {"anns": [{"task_desc": text, "votes": [1]} for text in texts]}}).encode()


@pytest.mark.parametrize(
    ("description", "goal"),
    [
        ("Put a clean cup on the table.", "Put a clean cup on the table."),
        ("put a piece of  chilled  bread onto the table\n", "put a piece of chilled bread onto the table."),
        ("\nPlace two soap dispenser's in the garbage can. ", "Place two soap dispenser's in the garbage can."),
        ("Put the chilled tomato in the microwave\t", "Put the chilled tomato in the microwave."),
        ("Turn on the 1.5 m lamp...", "Turn on the 1.5 m lamp."),
    ],
)
def test_a_description_becomes_one_sentence(description, goal):
    assert as_goal(description) == goal


@given(st.text())
def test_words_and_case_stay_and_a_goal_stays_as_it_is(description):
    goal = as_goal(description)
    assert as_goal(goal) == goal
    assert "\n" not in goal
    assert goal.endswith(".")
    assert not goal.endswith("..")
    assert "".join(goal.split()).rstrip(".") == "".join(description.split()).rstrip(".")


def test_descriptions_of_a_file_come_in_its_order_without_empty_ones():
    assert descriptions(traj_data("Put it down", " . ", "", "drop it."), "here") == ("Put it down.", "drop it.")
    assert descriptions(traj_data(), "here") == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "no JSON"),
        (b"[]", "no turk_annotations"),
        (b"{}", "no turk_annotations"),
        (b'{"turk_annotations": {"anns": [{}]}}', "no turk_annotations with a task_desc"),
        (b'{"turk_annotations": {"anns": 5}}', "no turk_annotations"),
        (traj_data(5), "a task_desc is no text"),
    ],
)
def test_a_damaged_file_is_named(content, said):
    with pytest.raises(BadRecord, match=f"^some/traj_data.json.*{said}"):
        descriptions(content, "some/traj_data.json")


@pytest.fixture
def folder(tmp_path, game_file):
    """Two games of one split; one has goals in people's words beside it."""
    for name in ("pick-A", "pick-B"):
        game = tmp_path / "games/train" / name / "trial_1"
        game.mkdir(parents=True)
        (game / GAME_FILE).write_bytes(game_file())
    (tmp_path / "games/train/pick-A/trial_1" / ANNOTATION_FILE).write_bytes(traj_data("take it", "Fetch it."))
    return tmp_path / "games"


def _goals(store):
    return [store.game("train", entry.task_id).annotations for entry in store.entries("train")]


def test_what_lies_beside_the_games_is_taken(folder, tmp_path):
    store = build_store(folder, tmp_path / "store")
    assert _goals(store) == [("take it.", "Fetch it."), ()]
    assert store.meta["annotated"] == 1


def test_goals_from_elsewhere_are_taken_instead(folder, tmp_path):
    other = tmp_path / "other/train/pick-B/trial_1"
    other.mkdir(parents=True)
    (other / ANNOTATION_FILE).write_bytes(traj_data("elsewhere"))
    store = build_store(folder, tmp_path / "store", annotations=tmp_path / "other")
    assert _goals(store) == [(), ("elsewhere.",)]


def test_a_single_file_takes_what_lies_beside_it(folder, tmp_path):
    store = build_store(folder / "train/pick-A/trial_1" / GAME_FILE, tmp_path / "store")
    assert store.game("game", "pick-A/trial_1").annotations == ("take it.", "Fetch it.")


@pytest.mark.data
def test_official_games_have_three_goals_or_more(alfworld_folder):
    goals = read_annotations(alfworld_folder / "traj_data_valid.tar.xz")
    assert len(goals) == 506
    assert min(map(len, goals.values())) == 3
    said = [text for texts in goals.values() for text in texts]
    assert all(re.fullmatch(r"\S.*\S\.", text) for text in said)
