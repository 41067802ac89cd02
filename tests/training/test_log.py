"""The log of a training: cut back where a training goes on, and readable after a kill."""

from __future__ import annotations

from pathlib import Path

import pytest

from llm_gym.errors import BadRecord
from llm_gym.training.curves import draw_curves
from llm_gym.training.log import Log, read_log


def test_rows_beyond_the_step_that_a_training_goes_on_from_are_taken_out(tmp_path: Path) -> None:
    log = Log(tmp_path, 0)
    for step in (1, 2, 3):
        log.write(step, {"loss": 1 / step})
    again = Log(tmp_path, 2)
    again.write(3, {"loss": 0.25})
    assert [(row["step"], row["loss"]) for row in read_log(tmp_path)] == [(1, 1.0), (2, 0.5), (3, 0.25)]


def test_seconds_go_on_where_they_stopped(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1, "seconds": 5000.0, "loss": 1.0}\n')
    assert Log(tmp_path, 1).seconds >= 5000


def test_a_last_line_that_a_kill_cut_off_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1, "seconds": 5.0, "loss": 1.0}\n{"step": 2, "sec')
    assert [row["step"] for row in read_log(tmp_path)] == [1]


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"step": "1", "seconds": 1.0}', '{"step": 1}'])
def test_another_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "log.jsonl").write_text('{"step": 1, "seconds": 5.0}\n' + line + "\n")
    with pytest.raises(BadRecord, match=r"log\.jsonl, line 2"):
        read_log(tmp_path)


def test_a_folder_without_a_log_has_no_rows(tmp_path: Path) -> None:
    assert read_log(tmp_path) == []


@pytest.mark.train
def test_curves_are_drawn_of_losses_and_of_every_measure(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="needs the extra train")
    rows = [
        {"step": 1, "seconds": 1.0, "loss": 2.0},
        {"step": 1, "seconds": 1.0, "held_out": {"loss": 2.0, "accuracy": 0.5, "buy": 1.0}},
    ]
    draw_curves(tmp_path, rows)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
    draw_curves(tmp_path, rows[:1])
    assert list(tmp_path.iterdir()) == [tmp_path / "curves.png"]
