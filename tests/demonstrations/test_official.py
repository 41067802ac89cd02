"""The official files: trajectories, search queries, and the split by the order of the goals."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from llm_gym.demonstrations.official import (
    KeptImages,
    OfficialGoals,
    instruction_of,
    read_goal_queries,
    read_trajectories,
)
from llm_gym.envs.webshop.image_features import FeatureStore
from llm_gym.errors import BadRecord, InvalidSetting, MissingData

PICTURE = [0.5] * 511 + [-2]
GOAL = "i need a 'red' shoe, and price lower than 40.00 dollars"
FIRST = f"Amazon Shopping Game\nInstruction: \n{GOAL}\n[button] Search [button_]"
RESULTS = ["click[back to search]", "click[next >]", "click[item - a red shoe]"]
ITEM = ["click[back to search]", "click[< prev]", "click[buy now]", "click[red]"]


def trajectory(**changed: Any) -> dict[str, Any]:
    """A search, the opening of the only result, and its purchase; the item has a picture."""
    row: dict[str, Any] = {
        "states": [FIRST, "a page of results", "an item"],
        "actions": ["search[red shoe]", "click[item - a red shoe]", "click[buy now]"],
        "available_actions": [[], RESULTS, ITEM],
        "action_idxs": [-1, 2, 2],
        "images": [0, 0, PICTURE],
    }
    return {key: value for key, value in (row | changed).items() if value is not None}


@pytest.fixture
def file(tmp_path: Path) -> Any:
    """Writes rows as the official file has them."""

    def write(*rows: object) -> Path:
        path = tmp_path / "il_trajs_finalized_images.jsonl"
        path.write_text("\n".join(json.dumps(row) for row in rows))  # its last line may have no end
        return path

    return write


@pytest.fixture
def goals() -> OfficialGoals:
    """A list of 1,600 goals: the shoe is the last of the test set, and once more the last of all."""
    texts = [f"goal {place}" for place in range(1600)]
    texts[499] = texts[1599] = "i need a red shoe"
    places: dict[str, int] = {}
    for place, text in enumerate(texts):
        places.setdefault(text, place)
    return OfficialGoals(places)


def test_a_trajectory_becomes_a_demonstration(file: Any, goals: OfficialGoals) -> None:
    [official] = read_trajectories(file(trajectory()), goals)
    told = official.demonstration
    assert official.split == "test"
    assert told.goal == GOAL
    assert (told.task_id, told.source) == ("trajectory-1", "il_trajs_finalized_images.jsonl")
    assert (told.success, told.score) == (None, None)
    assert [step.action for step in told.steps] == ["search[red shoe]", "click[item - a red shoe]", "click[buy now]"]
    assert [list(step.actions) for step in told.steps] == [["search[red shoe]"], RESULTS, ITEM]
    assert [step.observation for step in told.steps] == [FIRST, "a page of results", "an item"]


def test_a_search_of_unknown_words_is_left_out(file: Any) -> None:
    [official] = read_trajectories(file(trajectory(actions=None, images=None)))
    assert [step.action for step in official.demonstration.steps] == ["click[item - a red shoe]", "click[buy now]"]
    assert official.split == "unknown"


def test_a_trajectory_of_which_nothing_remains_is_left_out(file: Any) -> None:
    nothing = {"states": [FIRST], "available_actions": [[]], "action_idxs": [-1]}
    found = [one.demonstration.task_id for one in read_trajectories(file(nothing, trajectory()))]
    assert found == ["trajectory-2"]


def test_pictures_go_to_a_store_of_their_own(file: Any, tmp_path: Path) -> None:
    kept = KeptImages()
    first, second = read_trajectories(file(trajectory(), trajectory()), images=kept)
    names = [[step.image for step in one.demonstration.steps] for one in (first, second)]
    assert names[0] == names[1]
    assert names[0][:2] == [None, None]
    assert len(kept) == 1
    kept.write(tmp_path / "images", "il_trajs_finalized_images.jsonl")
    store = FeatureStore.open(tmp_path / "images")
    assert names[0][2] is not None
    features = store.find(names[0][2])
    assert features is not None
    np.testing.assert_array_equal(features, np.array(PICTURE, np.float32))


def test_without_a_store_pictures_are_dropped(file: Any) -> None:
    [official] = read_trajectories(file(trajectory()))
    assert [step.image for step in official.demonstration.steps] == [None, None, None]


def test_a_store_of_no_picture_and_of_a_picture_too_large_are_refused(file: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting):
        KeptImages().write(tmp_path / "none", "nowhere")
    kept = KeptImages()
    list(read_trajectories(file(trajectory(images=[0, 0, [1e39] * 512])), images=kept))
    with pytest.raises(InvalidSetting, match="no numbers"):
        kept.write(tmp_path / "large", "nowhere")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ([], "a trajectory is a JSON object, not list"),
        (trajectory(states=None), '"states" should be a list of texts'),
        (trajectory(states=[]), "the first state should be a search page"),
        (trajectory(states=["an item", "b", "c"]), "the first state should be a search page"),
        (trajectory(action_idxs=None), '"action_idxs" should be a list of 3'),
        (trajectory(action_idxs=[-1, 2]), '"action_idxs" should be a list of 3'),
        (trajectory(available_actions=[[], RESULTS]), '"available_actions" should be a list of 3'),
        (trajectory(images=[0]), '"images" should be a list of 3'),
        (trajectory(actions=[]), '"actions" should be a list of 3'),
        (trajectory(action_idxs=[-1, 3, 2]), "step 2: the action is number 3, but there are 3, from 0"),
        (trajectory(action_idxs=[-2, 2, 2]), "step 1: the action is number -2"),
        (trajectory(action_idxs=[-1, "2", 2]), "step 2: the action is number '2'"),
        (trajectory(available_actions=[[], RESULTS, [1, 2, 3]]), "step 3: the available actions should be texts"),
        (trajectory(images=[0, 0, [0.5] * 511]), "step 3: an image is 0 or 512 numbers"),
        (trajectory(images=[0, 0, [None] * 512]), "step 3: an image is 0 or 512 numbers"),
        (trajectory(images=[0, 1, 0]), "step 2: an image is 0 or 512 numbers, not 1"),
    ],
)
def test_a_wrong_trajectory_is_told_with_file_and_line(file: Any, row: object, said: str) -> None:
    path = file(trajectory(), row)
    reading = read_trajectories(path, images=KeptImages())
    next(reading)
    with pytest.raises(BadRecord) as raised:
        next(reading)
    assert str(raised.value).startswith(f"{path}, line 2")
    assert said in str(raised.value)


@pytest.mark.parametrize("content", [b"{", b"\xff\n", b'{"states": [NaN]}\n'])
def test_what_is_no_json_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trajectories.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadRecord, match="line 1: not JSON in UTF-8"):
        next(read_trajectories(path))
    for reading in (read_goal_queries, OfficialGoals.read):
        with pytest.raises(BadRecord, match="not JSON in UTF-8"):
            list(reading(path))  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("page", "instruction"),
    [
        (FIRST, GOAL),
        ("WebShop\nInstruction: \na\nb\n[button] Search [button_]\n", "a\nb"),
        ("webshop\ninstruction: a shoe", "a shoe"),
        ("WebShop\nInstruction: \n[button] Search [button_]", None),
        ("Instruction:\na shoe\n[button] Back to Search [button_]", None),
        ("", None),
    ],
)
def test_the_instruction_stands_on_a_search_page(page: str, instruction: str | None) -> None:
    assert instruction_of(page) == instruction


def test_the_split_is_that_of_the_first_place_in_the_list(goals: OfficialGoals) -> None:
    places = {0: "test", 498: "test", 500: "dev", 1499: "dev", 1500: "train", 1598: "train"}
    assert {place: goals.split(f"Goal {place}, and price lower than 9 dollars") for place in places} == places
    assert goals.split("i need a 'red' shoe") == "test"
    assert goals.split("goal 1600") == "unknown"


def test_goals_are_read_from_a_list_of_texts(tmp_path: Path) -> None:
    path = tmp_path / "human_goals.json"
    path.write_text(json.dumps(['i need a "red" shoe', "a hat", "i need a red shoe"]))
    assert OfficialGoals.read(path).places == {"i need a red shoe": 0, "a hat": 1}
    for wrong in ({"a": 1}, ["a", 2]):
        path.write_text(json.dumps(wrong))
        with pytest.raises(BadRecord, match="should be a list of texts"):
            OfficialGoals.read(path)
    with pytest.raises(MissingData, match="is no file"):
        OfficialGoals.read(tmp_path / "nowhere.json")


def test_a_goal_with_its_queries_becomes_a_demonstration(tmp_path: Path, goals: OfficialGoals) -> None:
    path = tmp_path / "goal_query_map.json"
    path.write_text(json.dumps({"goal 1500": ["one", "the other"], "goal 7": ["seven"]}))
    first, second = read_goal_queries(path, goals)
    assert (first.split, second.split) == ("train", "test")
    assert [step.actions for step in first.demonstration.steps] == [("search[one]",), ("search[the other]",)]
    assert {instruction_of(step.observation) for step in first.demonstration.steps} == {"goal 1500"}
    assert (second.demonstration.goal, second.demonstration.success) == ("goal 7", None)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([], "an object of goals"),
        ({"a": []}, r"goal 1 \(a\)"),
        ({"a": ["b"], "c": [1]}, r"goal 2 \(c\)"),
        ({"a": "b"}, "goal 1"),
    ],
)
def test_a_wrong_map_is_told(tmp_path: Path, content: object, said: str) -> None:
    path = tmp_path / "goal_query_map.json"
    path.write_text(json.dumps(content))
    with pytest.raises(BadRecord, match=said):
        list(read_goal_queries(path))


@pytest.mark.data
def test_the_official_queries_are_as_many_as_the_paper_says(webshop_folder: Path) -> None:
    """The paper trains on 1,421 pairs; the 68 of the development set are those that the original adds to them."""
    goals = OfficialGoals.read(webshop_folder / "human_goals.json")
    pairs: Counter[str] = Counter()
    for one in read_goal_queries(webshop_folder / "goal_query_map.json", goals):
        pairs[one.split] += len(one.demonstration.steps)
    assert pairs == {"train": 1421, "dev": 68, "test": 708}
