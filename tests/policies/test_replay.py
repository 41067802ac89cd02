"""Repeating what was recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.errors import BadRecord, DataError, MissingData
from llm_gym.policies import RandomPolicy, ReplayPolicy
from llm_gym.rollout import play


def row(task_id: str, actions: list[str | None], **more: Any) -> str:
    return json.dumps({"task_id": task_id, "trajectory": [{"action": action} for action in actions], **more})


def written(folder: Path, *lines: str) -> Path:
    (folder / "episodes.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def actions_of(policy: ReplayPolicy, task_id: str, turns: int = 4) -> list[str | None]:
    policy.reset(seed=0)
    return [policy.act("", {"task_id": task_id}).action for _ in range(turns)]


def test_it_plays_the_actions_in_order_and_then_stops() -> None:
    assert actions_of(ReplayPolicy({"a": ["left", "open"]}), "a") == ["left", "open", None, None]


def test_every_episode_begins_at_the_beginning() -> None:
    policy = ReplayPolicy({"a": ["left", "open"], "b": ["right"]})
    assert [actions_of(policy, task, 1) for task in ("a", "b", "a")] == [["left"], ["right"], ["left"]]


def test_a_task_that_was_not_recorded_is_an_error_that_names_near_ones() -> None:
    with pytest.raises(DataError, match=r"2 tasks holds no task 'corridor-3'\. Did you mean 'corridor-1'"):
        ReplayPolicy({"corridor-1": [], "other": []}).act("", {"task_id": "corridor-3"})


def test_without_a_recording_it_stops_at_once_in_every_task() -> None:
    assert actions_of(ReplayPolicy(), "a", 1) == [None]


def test_a_run_is_read_by_the_first_trial_of_the_first_repeat(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        row("a", ["late"], repeat=1, trial=0),
        row("a", ["second"], repeat=0, trial=1),
        row("a", ["first"], repeat=0, trial=0),
        row("b", ["left", None], repeat=0, trial=0),
    )
    assert ReplayPolicy.from_run(folder).actions == {"a": ["first"], "b": ["left"]}


def test_a_recorded_episode_plays_again_as_it_was(tmp_path: Path) -> None:
    env = gym.make("llm_gym/Corridor-v0")
    episodes = [play(env, RandomPolicy(), f"corridor-{number}", seed=4) for number in range(5)]
    replay = ReplayPolicy.from_run(written(tmp_path, *(json.dumps(episode.to_row()) for episode in episodes)))
    for episode in episodes:
        assert play(env, replay, episode.task_id).steps == episode.steps


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "line 2: no episode of a run"),
        ("[]", "line 2: no episode of a run"),
        ('{"task_id": "a"}', r"line 2: no episode of a run \('trajectory' is missing\)"),
        ('{"task_id": 7, "trajectory": []}', r"line 2: no episode of a run \(task_id is 7\)"),
        ('{"task_id": "a", "trajectory": [{"action": 7}]}', r"line 2: no episode of a run \(an action is 7\)"),
        ('{"task_id": "a", "trajectory": [{}]}', r"line 2: no episode of a run \('action' is missing\)"),
        ('{"task_id": "a", "trajectory": [], "repeat": "x"}', "line 2: no episode of a run"),
    ],
)
def test_a_row_that_is_no_episode_is_named_by_file_and_line(tmp_path: Path, line: str, reason: str) -> None:
    with pytest.raises(BadRecord, match=rf"episodes\.jsonl, {reason}"):
        ReplayPolicy.from_run(written(tmp_path, row("b", []), line))


def test_a_folder_without_episodes_is_said_to_have_none(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"episodes\.jsonl does not exist"):
        ReplayPolicy.from_run(tmp_path)


def test_different_recordings_have_different_settings() -> None:
    one, same, other = ReplayPolicy({"a": ["x"]}), ReplayPolicy({"a": ("x",)}), ReplayPolicy({"a": ["y"]})
    assert one.settings() == same.settings()
    assert one.settings() != other.settings()
    assert one.settings()["tasks"] == 1
