"""The table of students: what it counts, tells and leaves out."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.evaluation import statistics
from llm_gym.policies.alfworld.raw_history.events import known_words
from llm_gym.policies.alfworld.raw_history.model import HistoryModel, Sizes

SMALL = Sizes(word=3, kind=2, number=2, hidden=5, goal=3, memory=4, fit=3)


@pytest.fixture(scope="module")
def students() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "alfworld_students.py"
    spec = importlib.util.spec_from_file_location("alfworld_students", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[tuple[str, int, Path], ...]:
    """Two seeds of an untrained history student."""
    folder = tmp_path_factory.mktemp("students")
    for seed in (4, 9):
        HistoryModel.create(known_words(), seed, sizes=SMALL).write(folder / str(seed))
    return tuple(("history", seed, folder / str(seed)) for seed in (4, 9))


def episode(task: str, success: bool, steps: int = 3, repeat: int = 0, category: str = "pick") -> dict[str, Any]:
    about = {"task_id": task, "repeat": repeat, "trial": 0, "category": category}
    return {**about, "success": success, "steps": steps, "metrics": {}}


def test_all_play_the_same_games_and_the_absent_are_told(
    students: ModuleType, folders: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = students.Args(
        games="embedded",
        worlds=("valid_unseen", "heldout_scenes", "people"),
        policies=("random", "history", "history-pure", "expert", "nobody"),
        folder=folders,
        n=3,
        out=tmp_path,
    )
    worlds = students.main(args)
    assert [[line.name for line in world.lines] for world in worlds] == [
        ["random", "history", "history + expert", "expert"],
        ["random", "expert"],
    ]
    for world in worlds:
        tasks = {line.name: {row["task_id"] for row in line.rows} for line in world.lines}
        assert len(set(map(frozenset, tasks.values()))) == 1
    history = worlds[0].lines[1]
    assert (history.seeds, len(history.rows)) == ((4, 9), 6)
    printed = capsys.readouterr()
    told = " ".join(printed.err.split())
    for reason in (
        "valid_unseen: history-pure is left out: it does not come with the package",
        "Unknown policy 'nobody'",
        "heldout_scenes: history is left out: it knows these rooms",
        "people is left out",
    ):
        assert reason in told
    text = (tmp_path / "table.md").read_text()
    assert text == printed.out
    assert "### valid_unseen: 3 games in " in text
    assert "word by word" in text
    content = json.loads((tmp_path / "table.json").read_text())
    assert content["valid_unseen"]["policies"]["expert"]["success"]["value"] == 1.0
    assert len(content["valid_unseen"]["policies"]["history + expert"]["success_by_seed"]) == 2
    assert {path.name for path in (tmp_path / "valid_unseen").iterdir()} == {
        "random",
        "history-4",
        "history-9",
        "history-expert-4",
        "history-expert-9",
        "expert",
    }


def test_a_run_that_is_there_is_not_played_again(students: ModuleType, tmp_path: Path) -> None:
    args = students.Args(games="embedded", worlds=("valid_seen",), policies=("expert",), n=2, out=tmp_path)
    students.main(args)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "valid_seen").rglob("episodes.jsonl")}
    students.main(args)
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "valid_seen").rglob("episodes.jsonl")} == before


def test_a_row_by_hand(students: ModuleType) -> None:
    """Two seeds on three games of two rooms."""
    won = {"a-1/x": (True, True), "b-1/x": (True, False), "c-301/x": (False, False)}
    rows = [
        episode(task, both[seed], steps=4 + 2 * seed, repeat=0, category="look" if task == "c-301/x" else "pick")
        for seed in (0, 1)
        for task, both in won.items()
    ]
    world = students.Played("valid_seen", {}, (students.Line("history", (0, 1), tuple(rows)),))
    heading, _, _, _, row, _ = students.markdown(world).split("\n")
    assert heading == "### valid_seen: 3 games in 2 rooms"
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    values = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    by_game = statistics.clustered_wilson(values, [*"abcabc"])
    by_room = statistics.clustered_wilson(values, [*"113113"])
    assert cells == [
        "history",
        "0.500",
        f"{by_game.low:.3f} to {by_game.high:.3f}",
        f"{by_room.low:.3f} to {by_room.high:.3f}",
        "0.75",
        "0.00",
        "4.7",  # of 4, 4 and 6
        "0 1",
    ]
    told = students.as_json(world)["policies"]["history"]
    assert told["success_by_seed"] == [pytest.approx(2 / 3), pytest.approx(1 / 3)]


def test_goals_that_people_wrote_for_one_game_are_taken_together(students: ModuleType) -> None:
    rows = [episode(f"{game}/x#{goal}", game == "a-1") for game in ("a-1", "b-1") for goal in range(3)]
    world = students.Played("people", {}, (students.Line("expert", (), tuple(rows)),))
    assert students.markdown(world).startswith("### people: 6 goals for 2 games in 1 rooms")
    expected = statistics.clustered_wilson([1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [*"aaabbb"])
    assert (students.rate(rows).low, students.rate(rows).high) == (expected.low, expected.high)


def test_students_that_learned_in_other_rooms_are_for_those_held_out(students: ModuleType, folders: Any) -> None:
    worlds = students.WORLDS
    args = students.Args(folder_scenes=folders[:1])
    assert list(students.made("history", worlds["heldout_scenes"], args)) == [4]
    assert list(students.made("history", worlds["valid_seen"], args)) == [None]


def test_names_that_nobody_has_are_refused(students: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"Unknown world 'valid_unsen'. Did you mean 'valid_unseen'"):
        students.main(students.Args(worlds=("valid_unsen",)))
    with pytest.raises(UnknownName, match="Unknown world 'nowhere'"):
        students.main(students.Args(advised=("nowhere",)))
    with pytest.raises(UnknownName, match=r"Unknown learned policy 'expert'"):
        students.main(students.Args(folder=(("expert", 0, tmp_path),)))
    with pytest.raises(InvalidSetting, match="Nothing was played"):
        students.main(students.Args(games="embedded", worlds=("people",)))
