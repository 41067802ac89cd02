"""The run folder: what it refuses, and what survives."""

from __future__ import annotations

import logging
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_gym.errors import BadRecord, MissingData, PlanMismatch, RunFolderError
from llm_gym.evaluation import Evaluation, evaluate
from llm_gym.evaluation.access import locked
from llm_gym.policies.uniform import RandomPolicy

Corridor = gym.Env[str, str]


class Unplayed(RandomPolicy):
    """Has the same plan as the random policy's and must not be asked."""

    def act(self, observation: object, info: object) -> object:  # type: ignore[override]
        raise AssertionError("played")


Unplayed.__module__, Unplayed.__qualname__ = RandomPolicy.__module__, RandomPolicy.__qualname__


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def run(corridor: Corridor, tmp_path: Path) -> Path:
    """The finished folder of 12 random episodes."""
    evaluate(RandomPolicy(), corridor, 12, out=tmp_path / "run")
    return tmp_path / "run"


def test_a_finished_folder_holds_five_files_and_no_lock(run: Path) -> None:
    assert _names(run) == ["episodes.jsonl", "failures.jsonl", "plan.json", "report.md", "timings.jsonl"]


def test_a_finished_folder_is_loaded_without_playing(corridor: Corridor, run: Path) -> None:
    before = {path.name: path.stat().st_mtime_ns for path in run.iterdir()}
    result = evaluate(Unplayed(), corridor, 12, out=run)
    assert result.rows == Evaluation.load(run).rows
    assert {path.name: path.stat().st_mtime_ns for path in run.iterdir()} == before


def test_wall_times_are_in_timings_only(run: Path) -> None:
    assert b"seconds" not in (run / "episodes.jsonl").read_bytes()
    assert (run / "timings.jsonl").read_bytes().count(b'"seconds"') == 12


def test_another_plan_is_refused_with_the_difference(corridor: Corridor, run: Path) -> None:
    before = (run / "episodes.jsonl").read_bytes()
    with pytest.raises(PlanMismatch, match=r"n: 12 → 13"):
        evaluate(RandomPolicy(), corridor, 13, out=run)
    assert (run / "episodes.jsonl").read_bytes() == before


def test_a_folder_of_other_files_is_refused(corridor: Corridor, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("dear")
    with pytest.raises(RunFolderError, match=r"no plan.json \(thesis.tex\)"):
        evaluate(RandomPolicy(), corridor, 2, out=tmp_path)
    assert _names(tmp_path) == ["thesis.tex"]


def test_a_file_in_place_of_the_folder_is_refused(corridor: Corridor, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(RunFolderError, match="cannot be written: File exists"):
        evaluate(RandomPolicy(), corridor, 2, out=tmp_path / "run")


def test_a_half_written_last_line_is_dropped_and_played_again(
    corridor: Corridor, run: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = (run / "episodes.jsonl").read_bytes()
    (run / "episodes.jsonl").write_bytes(whole[:-20])
    (run / "timings.jsonl").write_bytes((run / "timings.jsonl").read_bytes()[:-5])
    with caplog.at_level(logging.WARNING):
        evaluate(RandomPolicy(), corridor, 12, out=run)
    assert "episodes.jsonl: the last line is only half written" in caplog.text
    assert (run / "episodes.jsonl").read_bytes() == whole
    assert len(Evaluation.load(run).records.timings) == 12


@given(st.integers(0, 2), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_a_run_cut_at_any_byte_resumes_to_the_same_bytes(file: int, share: float) -> None:
    env = gym.make("llm_gym/Corridor-v0")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        evaluate(RandomPolicy(), env, 5, trials=2, out=folder)
        whole = (folder / "episodes.jsonl").read_bytes()
        cut = folder / ("episodes.jsonl", "timings.jsonl", "failures.jsonl")[file]
        cut.write_bytes(cut.read_bytes()[: int(share * cut.stat().st_size)])
        evaluate(RandomPolicy(), env, 5, trials=2, out=folder)
        assert (folder / "episodes.jsonl").read_bytes() == whole
        assert Evaluation.load(folder).complete


def test_rows_in_any_order_are_brought_into_panel_order(corridor: Corridor, run: Path) -> None:
    whole = (run / "episodes.jsonl").read_bytes()
    (run / "episodes.jsonl").write_bytes(b"".join(reversed(whole.splitlines(keepends=True))))
    evaluate(Unplayed(), corridor, 12, out=run)
    assert (run / "episodes.jsonl").read_bytes() == whole


def test_an_attempt_with_a_trial_missing_is_played_again(corridor: Corridor, tmp_path: Path) -> None:
    evaluate(RandomPolicy(), corridor, 9, trials=3, out=tmp_path / "run")
    file = tmp_path / "run" / "episodes.jsonl"
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    cut = next(number for number, line in enumerate(lines) if b'"trial":1' in line)
    file.write_bytes(b"".join(lines[:cut] + lines[cut + 1 :]))
    evaluate(RandomPolicy(), corridor, 9, trials=3, out=tmp_path / "run")
    assert file.read_bytes() == whole


def test_an_episode_that_ended_in_an_error_is_played_again(
    corridor: Corridor, odd_policies: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = evaluate(odd_policies.Raises(), corridor, 6, out=tmp_path / "run")
    assert first.errors == 1
    monkeypatch.setattr(odd_policies.Raises, "misbehave", lambda self: None)
    second = evaluate(odd_policies.Raises(), corridor, 6, out=tmp_path / "run")
    assert second.errors == 0
    assert second.failures == ()
    assert (tmp_path / "run" / "failures.jsonl").read_bytes() == b""


def test_progress_hears_of_what_was_there(corridor: Corridor, run: Path) -> None:
    heard: list[object] = []
    evaluate(RandomPolicy(), corridor, 12, out=run, progress=heard.append)
    assert len(heard) == 12


def test_what_a_kill_before_the_plan_leaves_is_no_foreign_file(corridor: Corridor, tmp_path: Path) -> None:
    for name in (".lock", ".plan.json.abc.part"):
        (tmp_path / name).touch()
    evaluate(RandomPolicy(), corridor, 2, out=tmp_path)
    assert _names(tmp_path) == ["episodes.jsonl", "failures.jsonl", "plan.json", "report.md", "timings.jsonl"]


def test_a_second_writer_is_refused_and_a_dead_one_is_not_missed(corridor: Corridor, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run"), pytest.raises(RunFolderError, match="Another process is writing"):
        evaluate(RandomPolicy(), corridor, 2, out=tmp_path / "run")
    script = "import os, sys, pathlib; from llm_gym.evaluation.access import locked\n"
    script += "with locked(pathlib.Path(sys.argv[1])): os._exit(9)"
    assert subprocess.run([sys.executable, "-c", script, str(tmp_path / "run")], check=False).returncode == 9
    assert _names(tmp_path / "run") == [".lock"]
    assert evaluate(RandomPolicy(), corridor, 2, out=tmp_path / "run").n == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[1]", "not a JSON object but list"),
        (b'{"task_id":"corridor-0"}', "'repeat' is missing"),
        (b'{"task_id":"corridor-0","repeat":-1}', "'repeat' cannot be -1"),
        (b'{"task_id":"corridor-0","repeat":true}', "'repeat' cannot be True"),
    ],
)
def test_a_malformed_row_is_told_with_file_and_line(run: Path, line: bytes, message: str) -> None:
    lines = (run / "episodes.jsonl").read_bytes().splitlines()
    lines[4] = line
    (run / "episodes.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(BadRecord, match=f"episodes.jsonl, line 5: {message}"):
        Evaluation.load(run)


def test_the_same_episode_twice_is_refused(run: Path) -> None:
    lines = (run / "episodes.jsonl").read_bytes().splitlines(keepends=True)
    (run / "episodes.jsonl").write_bytes(b"".join([*lines, lines[0]]))
    with pytest.raises(BadRecord, match="line 13: the same episode as line 1"):
        Evaluation.load(run)


def test_a_row_of_a_task_that_the_plan_does_not_play_is_refused(corridor: Corridor, run: Path) -> None:
    content = (run / "episodes.jsonl").read_bytes()
    (run / "episodes.jsonl").write_bytes(content.replace(b'"corridor-11"', b'"corridor-99"'))
    with pytest.raises(BadRecord, match="line 12: the plan has no task 'corridor-99'"):
        evaluate(RandomPolicy(), corridor, 12, out=run)


def test_a_folder_without_a_plan_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="is no run folder"):
        Evaluation.load(tmp_path)


def test_a_saved_evaluation_is_the_run_folder_itself(corridor: Corridor, run: Path, tmp_path: Path) -> None:
    result = evaluate(RandomPolicy(), corridor, 12)
    result.save(tmp_path / "saved")
    for name in ("plan.json", "episodes.jsonl", "failures.jsonl"):
        assert (tmp_path / "saved" / name).read_bytes() == (run / name).read_bytes()
    again = Evaluation.load(tmp_path / "saved")
    assert str(again) == str(result)
    with pytest.raises(PlanMismatch):
        evaluate(RandomPolicy(), corridor, 3).save(tmp_path / "saved")


def test_a_resume_by_another_version_says_so(corridor: Corridor, run: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan = run / "plan.json"
    plan.write_text(plan.read_text().replace('"llm_gym_version": "', '"llm_gym_version": "9.'))
    (run / "episodes.jsonl").write_bytes(b"")
    with caplog.at_level(logging.WARNING):
        evaluate(RandomPolicy(), corridor, 12, out=run)
    assert "was begun with llm_gym 9." in caplog.text
