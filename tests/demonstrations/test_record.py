"""One demonstration as JSON, and what is none."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.demonstrations import Demonstration, DemonstrationStep
from llm_gym.errors import BadRecord

ROW: dict[str, Any] = {
    "task_id": "t1",
    "goal": "Open it.",
    "success": None,
    "score": 40,
    "source": "me",
    "observations": ["a hall", "a room"],
    "actions": [["left", "right"], ["open"]],
    "chosen": [1, 0],
    "images": [None, "room-1"],
}


def test_a_row_becomes_steps_and_a_row_again() -> None:
    read = Demonstration.from_json(ROW, "here")
    hall, room = DemonstrationStep("a hall", ("left", "right"), 1), DemonstrationStep("a room", ("open",), 0, "room-1")
    assert read == Demonstration("t1", "Open it.", (hall, room), None, 40, "me")
    assert [step.action for step in read.steps] == ["right", "open"]
    assert read.to_json() == ROW


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"observations": ["a hall"]}, "have 1, 2, 2, 2 entries"),
        ({"observations": [], "actions": [], "chosen": [], "images": []}, "has no step"),
        ({"observations": [1, "a room"]}, "step 1: the observation is a text, not 1"),
        ({"actions": [["left", "right"], []]}, "step 2: the actions are a list of texts with one at least"),
        ({"actions": [["left", 2], ["open"]]}, "step 1: the actions are a list of texts"),
        ({"actions": "left"}, '"actions" should be a list'),
        ({"chosen": [2, 0]}, "step 1: the chosen action is number 2, but there are 2, from 0"),
        ({"chosen": [-1, 0]}, "step 1: the chosen action is number -1"),
        ({"chosen": [True, 0]}, "step 1: the chosen action is number True"),
        ({"chosen": [1.0, 0]}, "step 1: the chosen action is number 1.0"),
        ({"images": [None, 7]}, "step 2: the image is an id or null, not 7"),
        ({"task_id": 5}, '"task_id" should be a text, is 5'),
        ({"goal": None}, '"goal" should be a text'),
        ({"success": 1}, '"success" should be null or bool'),
        ({"score": True}, '"score" should be null or int or float'),
        ({"score": float("nan")}, '"score" should be a finite number'),
        ({"score": float("inf")}, '"score" should be a finite number'),
    ],
)
def test_a_wrong_field_is_named_with_its_place(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRecord, match=r"^file, line 3") as raised:
        Demonstration.from_json(ROW | changed, "file, line 3")
    assert said in str(raised.value)


@pytest.mark.parametrize("missing", sorted(ROW.keys() - {"success", "score"}))
def test_a_missing_field_is_named(missing: str) -> None:
    row = {key: value for key, value in ROW.items() if key != missing}
    with pytest.raises(BadRecord, match=f'"{missing}"'):
        Demonstration.from_json(row, "here")


@pytest.mark.parametrize("row", [None, [], "row", 5])
def test_what_is_no_object_is_refused(row: object) -> None:
    with pytest.raises(BadRecord, match="is a JSON object"):
        Demonstration.from_json(row, "here")
