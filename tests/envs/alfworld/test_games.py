"""Games are opened wherever they are, and built into a store once."""

from __future__ import annotations

import logging
import os
import shutil
import tarfile

import pytest

from llm_gym.data import DATA_VARIABLE
from llm_gym.envs.alfworld.build import build_store
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.sources import GAME_FILE
from llm_gym.errors import BadRecord, DataError, MissingData


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache folder of this test's own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/llm_gym/alfworld"


@pytest.fixture
def folder(tmp_path, game_file):
    """Two games to play, and four that the original leaves out."""
    games = {
        "train/pick-A/trial_1": game_file(),
        "valid_seen/pick-B/trial_1": game_file(),
        "train/pick-C/trial_1": game_file(solvable=False),
        "train/pick-D/trial_1": game_file(solvable=None),
        "train/pick-ESliced/trial_1": game_file(),
        "train/pick_and_place_with_movable_recep-F/trial_1": game_file(),
    }
    for path, content in games.items():
        (tmp_path / "games" / path).mkdir(parents=True)
        (tmp_path / "games" / path / GAME_FILE).write_bytes(content)
    return tmp_path / "games"


def test_a_folder_is_built_into_the_cache_once_with_one_line_in_the_log(folder, cache, caplog):
    with caplog.at_level(logging.WARNING):
        store = open_games(folder)
    assert store.splits == {"train": 1, "valid_seen": 1}
    assert store.name == "games"
    assert store.meta["left_out"] == {
        "Sliced in its name": 1,
        "movable in its name": 1,
        "not said to be solvable": 1,
        "not solvable": 1,
    }
    [line] = [record.getMessage() for record in caplog.records]
    assert str(folder) in line
    assert str(cache) in line
    assert open_games(str(folder)) is store  # environments of a process share it
    assert len(list(cache.iterdir())) == 1


def test_a_folder_that_has_changed_is_built_again(folder, tmp_path, game_file):
    first = open_games(folder)
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    file = copy / "train/pick-A/trial_1" / GAME_FILE
    keys = {open_games(copy / split).folder for split in ("train", "valid_seen")}
    file.write_bytes(game_file(goal="put the mug in shelf."))
    os.utime(file, ns=(1, 1))
    changed = open_games(copy)
    assert changed.folder not in {first.folder, *keys}
    assert changed.game("train", "pick-A/trial_1").goal == "put the mug in shelf."


def test_an_archive_is_known_by_its_bytes(folder, tmp_path, cache):
    with tarfile.open(tmp_path / "some.tar.gz", "w:gz") as archive:
        archive.add(folder, ".")
    store = open_games(tmp_path / "some.tar.gz")
    (tmp_path / "elsewhere").mkdir()
    moved = shutil.copy(tmp_path / "some.tar.gz", tmp_path / "elsewhere/some.tar.gz")
    assert open_games(moved).folder == store.folder
    assert store.digest == open_games(folder).digest
    assert store.name == "some"


def test_a_store_is_opened_where_it_is(folder, tmp_path, cache):
    built = build_store(folder, tmp_path / "store")
    assert open_games(tmp_path / "store").digest == built.digest
    assert not cache.exists()


@pytest.mark.parametrize("path", ["train/pick-C/trial_1", "train/pick-D/trial_1", "train/pick-ESliced/trial_1"])
def test_a_single_file_is_opened_whatever_it_says(folder, path):
    store = open_games(folder / path / GAME_FILE)
    assert store.splits == {"game": 1}
    assert [entry.task_id for entry in store.entries("game")] == [path.removeprefix("train/")]
    assert store.game("game", path.removeprefix("train/")).goal == "put a mug in shelf."


def test_nothing_there_says_where_it_looked_and_how_to_get_games(tmp_path):
    with pytest.raises(MissingData) as raised:
        open_games(tmp_path / "nowhere")
    for part in (str(tmp_path / "nowhere"), "`llm-gym download alfworld`", "--set games="):
        assert part in str(raised.value)


def test_a_folder_without_games_names_the_archives_in_it(tmp_path, cache):
    (tmp_path / "data").mkdir()
    with pytest.raises(MissingData, match=f"^0 games: no {GAME_FILE} is in .*data or in a folder below it"):
        open_games(tmp_path / "data")
    (tmp_path / "data/games.tar.xz").write_bytes(b"")
    with pytest.raises(MissingData, match=r"Give one of its archives instead, such as .*games\.tar\.xz"):
        open_games(tmp_path / "data")
    assert not any(cache.iterdir())


def test_a_folder_of_which_all_is_left_out_says_why(folder):
    with pytest.raises(MissingData, match="holds 1 games, but none to play: 1 not solvable"):
        open_games(folder / "train/pick-C")


def test_a_damaged_game_stops_the_build_and_is_named(folder, cache):
    file = folder / "train/pick-A/trial_1" / GAME_FILE
    file.write_bytes(file.read_bytes()[:-9])
    with pytest.raises(BadRecord, match=f"^{file} is no JSON"):
        open_games(folder)
    assert not any(cache.iterdir())


def test_damaged_games_are_counted_where_this_is_wanted(folder, tmp_path):
    file = folder / "train/pick-A/trial_1" / GAME_FILE
    file.write_bytes(b"{")
    store = build_store(folder, tmp_path / "store", skip_bad=True)
    assert store.splits == {"valid_seen": 1}
    assert [str(file) in line for line in store.meta["bad_games"]] == [True]


def test_two_files_of_one_game_are_refused(folder, tmp_path):
    shutil.copytree(folder / "train", folder / "again/train")
    with pytest.raises(BadRecord, match="two games pick-A/trial_1 in split train"):
        build_store(folder, tmp_path / "store")


def test_the_official_games_are_those_of_the_data_folder(folder, tmp_path, monkeypatch):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    with pytest.raises(MissingData, match="Get them with `llm-gym download alfworld`"):
        open_games("official")
    built = build_store(folder, tmp_path / "data/alfworld/official")
    assert open_games("official").digest == built.digest


def test_a_store_that_is_damaged_is_never_taken_for_files(tmp_path):
    (tmp_path / "meta.json").write_bytes(b"{}")
    with pytest.raises(DataError, match="is damaged"):
        open_games(tmp_path)
