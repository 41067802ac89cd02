"""`llm-gym build alfworld`."""

from __future__ import annotations

import json

import pytest

from llm_gym.cli import main
from llm_gym.envs.alfworld.sources import ANNOTATION_FILE, GAME_FILE
from llm_gym.envs.alfworld.store import GameStore


@pytest.fixture
def official(tmp_path, game_file):
    """A folder of games: one to play in two splits each, one left out."""
    games = {"train/pick-A": game_file(), "valid_seen/pick-B": game_file(), "train/pick-C": game_file(solvable=False)}
    for path, content in games.items():
        folder = tmp_path / "official" / path / "trial_1"
        folder.mkdir(parents=True)
        (folder / GAME_FILE).write_bytes(content)
    return tmp_path / "official"


def _cells(out: str) -> list[list[str]]:
    """The words of each line, between the columns."""
    return [line.split() for line in out.splitlines() if line.strip()]


def test_the_report_tells_the_kinds_of_each_split_and_what_was_left_out(run, official, tmp_path):
    target = tmp_path / "my store"
    ran = run("build", "alfworld", "--from", str(official), "--to", str(target))
    assert ran.code == 0, ran.err
    cells = _cells(ran.out)
    assert ["split", "pick", "clean", "heat", "cool", "look", "two", "all"] in cells
    assert ["train", "1", "0", "0", "0", "0", "0", "1"] in cells
    assert ["valid_seen", "1", "0", "0", "0", "0", "0", "1"] in cells
    assert ["left", "out:", "not", "solvable", "1"] in cells
    assert ["wording", "current"] in cells
    assert ["digest", GameStore.open(target).digest] in cells
    assert f"llm-gym play ALFWorld-v1 --set 'games={target}'" in ran.err


def test_a_person_who_watches_sees_a_bar(run, official, tmp_path):
    ran = run("build", "alfworld", "--from", str(official), "--to", str(tmp_path / "store"), watched=True)
    assert ran.code == 0, ran.err
    assert "games" in ran.err


def test_goals_in_peoples_words_are_counted(run, official, tmp_path):
    words = tmp_path / "words/train/pick-A/trial_1"
    words.mkdir(parents=True)
    said = {"turk_annotations": {"anns": [{"task_desc": "put it there"}]}}
    (words / ANNOTATION_FILE).write_text(json.dumps(said))
    source, annotations = ("--from", str(official)), ("--annotations", str(tmp_path / "words"))
    ran = run("build", "alfworld", *source, *annotations, "--to", str(tmp_path / "store"))
    assert ran.code == 0, ran.err
    assert ["with", "goals", "in", "people's", "words", "1"] in _cells(ran.out)


def test_a_damaged_game_stops_the_build_and_the_flag_is_named(run, official, tmp_path):
    file = official / "train/pick-A/trial_1" / GAME_FILE
    file.write_bytes(b"{")
    words = ("build", "alfworld", "--from", str(official), "--to", str(tmp_path / "store"))
    ran = run(*words)
    assert ran.code == 2
    assert str(file) in ran.err
    assert "--skip-bad" in ran.err
    assert not (tmp_path / "store").exists()
    ran = run(*words, "--skip-bad")
    assert ran.code == 0, ran.err
    assert ["left", "out:", "damaged", "1"] in _cells(ran.out)
    assert GameStore.open(tmp_path / "store").splits == {"valid_seen": 1}


def test_an_old_store_is_never_overwritten(run, official, tmp_path):
    words = ("build", "alfworld", "--from", str(official), "--to", str(tmp_path / "store"))
    assert run(*words).code == 0
    ran = run(*words)
    assert ran.code == 2
    assert "exists already" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "either --from PATH or --invented"),
        (("--from", "games", "--invented"), "either --from PATH or --invented"),
        (("--from", "games", "--seed", "1"), "--seed goes with --invented only"),
        (("--from", "games", "--games", "1"), "--games goes with --invented only"),
        (("--invented", "--skip-bad"), "--skip-bad goes with --from only"),
        (("--invented", "--annotations", "x"), "--annotations goes with --from only"),
        (("--invented", "--games", "2"), "The games cannot be invented"),
        (("--from", "nowhere"), "There is nothing at"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_sentence(run, tmp_path, words, said):
    ran = run("build", "alfworld", *words, "--to", str(tmp_path / "store"))
    assert ran.code == 2
    assert said in ran.err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("world", ["alfworld", "webshop"])
def test_each_world_has_help_and_examples_of_its_own(capsys, world):
    assert main(["build", world, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"usage: llm-gym build {world}" in shown
    assert f"$ llm-gym build {world} --from" in shown
    assert f"$ llm-gym build {world} --invented" in shown


def test_invented_games_are_built_alike_from_one_seed(run, tmp_path):
    digests = []
    for name, seed in (("a", "3"), ("b", "3"), ("c", "4")):
        target = tmp_path / name
        ran = run("build", "alfworld", "--invented", "--games", "18", "--seed", seed, "--to", str(target))
        assert ran.code == 0, ran.err
        digests.append(GameStore.open(target).digest)
        assert sum(GameStore.open(target).splits.values()) == 18
    assert digests[0] == digests[1] != digests[2]
