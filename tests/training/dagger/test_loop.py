"""Teaching: who plays, what is kept, going on after a kill, and that seeing one's own mistakes helps."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.wrappers import TimeLimit

from llm_gym.errors import BadRecord, InvalidSetting, PlanMismatch
from llm_gym.training.dagger.loop import Taught, teach
from llm_gym.training.dagger.schedule import DaggerSchedule
from tests.training.dagger.conftest import AGAIN, DEAD_END, Fork, Guide, Table, not_finite

pytestmark = pytest.mark.train
pytest.importorskip("matplotlib", reason="needs the extra train")

Make = Callable[[], gym.Env[str, str]]

SCHEDULE = DaggerSchedule(
    rounds=6, games=6, steps=8, assistance=(1.0, 0.0), annealed=0.5, updates=3, look_every=2, looked_at=12
)
CLONING = replace(SCHEDULE, assistance=(1.0, 1.0))


def taught(student: Table, fork: Make, out: Path, schedule: DaggerSchedule = SCHEDULE, **more: Any) -> Taught:
    return teach(student, fork, fork, Guide, schedule, out, **more)


def rows(out: Path) -> list[dict[str, Any]]:
    """The log without its clock."""
    read = [json.loads(line) for line in (out / "log.jsonl").read_text().splitlines()]
    return [{name: value for name, value in row.items() if name != "seconds"} for row in read]


def test_who_sees_its_own_mistakes_wins_where_a_clone_that_never_erred_stays_for_ever(
    fork: Make, tmp_path: Path
) -> None:
    clone, student = Table(), Table()
    of_clone = taught(clone, fork, tmp_path / "clone", replace(CLONING, updates=20))
    of_student = taught(student, fork, tmp_path / "dagger", replace(SCHEDULE, updates=20))
    assert DEAD_END not in clone.told
    assert of_clone.success == pytest.approx(8 / 12, abs=1e-5)  # the doors on the left, which are more
    assert {DEAD_END, AGAIN} <= student.told.keys()
    assert of_student.success == 1.0


def test_behaviour_cloning_plays_what_the_teacher_says(fork: Make, tmp_path: Path) -> None:
    student = Table()
    taught(student, fork, tmp_path, CLONING)
    training = [row for row in rows(tmp_path) if "won" in row]
    assert all(row["won"] == 1.0 and row["commands"] == 2 * CLONING.games for row in training)


def test_every_game_is_played_before_one_is_played_again(fork: Make, tmp_path: Path) -> None:
    begun: list[str] = []

    class Noted(Fork):
        def _begin(self, task_id: str) -> Any:
            begun.append(task_id)
            return super()._begin(task_id)

    teach(Table(), lambda: TimeLimit(Noted(), 10), fork, Guide, SCHEDULE, tmp_path)
    for first in range(0, 36, 12):
        assert len(set(begun[first : first + 12])) == 12
    assert begun[:12] != begun[12:24]


def test_games_of_a_look_are_played_but_not_kept(fork: Make, tmp_path: Path) -> None:
    student = Table()
    taught(student, fork, tmp_path)
    assert student.kept == SCHEDULE.rounds
    assert [row["step"] for row in rows(tmp_path) if "held_out" in row] == [2, 4, 6]


def test_one_seed_gives_one_student_and_another_seed_another(fork: Make, tmp_path: Path) -> None:
    students = [Table() for _ in range(3)]
    for student, seed, name in zip(students, (0, 0, 1), "abc", strict=True):
        schedule = replace(SCHEDULE, seed=seed)
        taught(student, fork, tmp_path / name, schedule)
    assert students[0].told == students[1].told != students[2].told
    assert rows(tmp_path / "a") == rows(tmp_path / "b")


@pytest.mark.parametrize("update", [1, 40, 70])
def test_a_killed_training_goes_on_to_the_same_student(fork: Make, tmp_path: Path, update: int) -> None:
    class Killed(BaseException):
        pass

    def kill(number: int) -> None:
        if number == update:
            raise Killed

    whole = Table()
    expected = taught(whole, fork, tmp_path / "whole")
    with pytest.raises(Killed):
        taught(Table(kill), fork, tmp_path / "killed")
    student = Table()
    after = taught(student, fork, tmp_path / "killed")
    assert student.told == whole.told
    assert rows(tmp_path / "killed") == rows(tmp_path / "whole")
    assert (after.rounds, after.success) == (expected.rounds, expected.success)


def test_ctrl_c_ends_after_the_round_and_the_same_call_goes_on(fork: Make, tmp_path: Path) -> None:
    def interrupt(number: int) -> None:
        if number == 20:
            signal.raise_signal(signal.SIGINT)

    whole = Table()
    taught(whole, fork, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt, match=r"Stopped after round \d\. The same command"):
        taught(Table(interrupt), fork, tmp_path / "stopped")
    student = Table()
    taught(student, fork, tmp_path / "stopped")
    assert student.told == whole.told
    assert rows(tmp_path / "stopped") == rows(tmp_path / "whole")


def test_a_save_that_is_interrupted_leaves_the_state_before_it(fork: Make, tmp_path: Path) -> None:
    class Full(Table):
        def save_state(self, folder: Path) -> None:
            super().save_state(folder)
            if (tmp_path / "out/checkpoints/round-2").exists():
                raise OSError("No space left on device")

    with pytest.raises(OSError, match="No space"):
        taught(Full(), fork, tmp_path / "out")
    assert [path.name for path in (tmp_path / "out/checkpoints").iterdir()] == ["round-2"]
    student, whole = Table(), Table()
    taught(student, fork, tmp_path / "out")
    taught(whole, fork, tmp_path / "whole")
    assert student.told == whole.told


def test_a_loss_that_is_no_number_ends_the_training_and_what_was_learned_from_is_kept(
    fork: Make, tmp_path: Path
) -> None:
    with pytest.raises(InvalidSetting, match=r"In round 2 the loss was nan.*bad_batch"):
        taught(Table(not_finite(5)), fork, tmp_path)
    kept = Table()
    kept.load_state(tmp_path / "bad_batch")
    assert sum(told.total() for told in kept.told.values()) == 5
    assert json.loads((tmp_path / "bad_batch/generator.json").read_text())["bit_generator"] == "PCG64"


def test_a_finished_training_is_read_and_not_made_again(fork: Make, tmp_path: Path) -> None:
    first = Table()
    expected = taught(first, fork, tmp_path)
    student = Table(not_finite(0))
    assert taught(student, fork, tmp_path) == expected
    assert student.told == first.told


def test_other_settings_in_the_same_folder_are_refused(fork: Make, tmp_path: Path) -> None:
    taught(Table(), fork, tmp_path)
    with pytest.raises(PlanMismatch, match=r"schedule\.assistance"):
        taught(Table(), fork, tmp_path, CLONING)
    with pytest.raises(PlanMismatch, match=r"tasks: 12 → 3"):
        taught(Table(), fork, tmp_path, most_tasks=3)


def test_a_damaged_checkpoint_is_named(fork: Make, tmp_path: Path) -> None:
    taught(Table(), fork, tmp_path)
    (tmp_path / "checkpoints/round-6/table.json").write_text("{")
    with pytest.raises(BadRecord, match=r"round-6 cannot be read"):
        taught(Table(), fork, tmp_path)


def test_a_panel_of_one_game_is_played_again_and_again(tmp_path: Path) -> None:
    def one() -> gym.Env[str, str]:
        return TimeLimit(Fork(tasks=1), 10)

    assert teach(Table(), one, one, Guide, SCHEDULE, tmp_path).success == 1.0


def test_no_game_to_learn_from_is_refused_before_anything_is_written(fork: Make, tmp_path: Path) -> None:
    with pytest.raises(InvalidSetting, match="a game to learn from: 0"):
        taught(Table(), fork, tmp_path / "out", most_tasks=0)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("games", 0), ("rounds", 0), ("updates", 0), ("annealed", 1.5), ("assistance", (1.0, -0.1)), ("random", 2.0)],
)
def test_a_schedule_of_nothing_is_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidSetting, match=field):
        DaggerSchedule(**{"rounds": 1, "games": 1, field: value})  # type: ignore[arg-type]


def test_the_curves_are_a_picture(fork: Make, tmp_path: Path) -> None:
    taught(Table(), fork, tmp_path)
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")
