"""The rooms of `train` divided: some to learn in, some held out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.envs.alfworld.game import Game
from llm_gym.envs.alfworld.games import open_games
from llm_gym.envs.alfworld.panels import make_panel
from llm_gym.envs.alfworld.problem import Problem
from llm_gym.envs.alfworld.scenes import SCENE_SPLITS, heldout_scenes, scene_of
from llm_gym.envs.alfworld.store import GameStore, write_store
from llm_gym.errors import InvalidSetting, MissingData, UnknownName

OFFICIAL = [str(number) for kind in (0, 200, 300, 400) for number in range(kind + 1, kind + 28)]
"""As many rooms of each kind as the releases have."""


@pytest.fixture
def make_store(tmp_path: Path, kitchen: Problem) -> Callable[..., GameStore]:
    def make(*scenes: str) -> GameStore:
        game = Game("", "train", "do it.", kitchen, solvable=True)
        games = [replace(game, task_id=f"pick-Mug-None-Desk-{scene}/trial_{n}") for scene in scenes for n in (1, 2)]
        return write_store(tmp_path / "store", games, name="drawn", about={})

    return make


def _scenes(store: GameStore, split: str) -> Counter[str]:
    return Counter(scene_of(task_id) for task_id in make_panel(store, split))


def test_of_27_rooms_of_each_kind_5_are_held_out() -> None:
    held = heldout_scenes(OFFICIAL)
    assert Counter(int(scene) // 100 for scene in held) == {0: 5, 2: 5, 3: 5, 4: 5}


def test_which_rooms_are_held_out_depends_on_neither_order_nor_number_of_their_games() -> None:
    assert heldout_scenes([*reversed(OFFICIAL), *OFFICIAL[:40]]) == heldout_scenes(OFFICIAL)


def test_small_sets_hold_out_at_least_one_room_of_each_kind() -> None:
    held = heldout_scenes(["kitchen01", "kitchen02", "bedroom01", "bedroom02", "bedroom03"])
    assert Counter(scene[:-2] for scene in held) == {"kitchen": 1, "bedroom": 1}


def test_no_room_is_in_both_parts_and_together_they_are_all_games_of_train() -> None:
    store = open_games("embedded")
    learned, held = (_scenes(store, split) for split in SCENE_SPLITS)
    assert not learned.keys() & held.keys()
    assert learned + held == _scenes(store, "train")
    assert Counter(scene.rstrip("0123456789") for scene in held) == {
        "kitchen": 2,
        "livingroom": 2,
        "bedroom": 2,
        "bathroom": 2,
    }


def test_games_of_both_parts_are_played_by_their_name() -> None:
    for split in SCENE_SPLITS:
        world = gym.make("llm_gym/ALFWorld-v1", split=split, task_types="heat")
        _, info = world.reset(seed=0)
        assert info["task_id"] in world.unwrapped.panel  # type: ignore[attr-defined]
        assert world.unwrapped.description()["split"] == f"{split}-heat"  # type: ignore[attr-defined]


def test_a_game_of_a_part_is_the_one_of_train(make_store: Callable[..., GameStore]) -> None:
    store = make_store("1", "2")
    task = store.entries("heldout_scenes")[0].task_id
    assert store.game("heldout_scenes", task) == store.game("train", task)
    with pytest.raises(UnknownName, match="Unknown game of 'heldout_scenes'"):
        store.game("heldout_scenes", "pick-Mug-None-Desk-9/trial_1")


def test_a_single_room_of_a_kind_cannot_be_divided(make_store: Callable[..., GameStore]) -> None:
    store = make_store("1", "2", "301")
    with pytest.raises(MissingData, match="301 is the only room of its kind in split 'train'"):
        make_panel(store, "train_scenes")
    assert len(make_panel(store, "train")) == 6


@pytest.mark.parametrize("scene", ["attic", "", "12b"])
def test_games_that_name_no_room_cannot_be_divided(make_store: Callable[..., GameStore], scene: str) -> None:
    store = make_store("1", "2", scene)
    with pytest.raises(InvalidSetting, match=r"names no room .* Use split 'train'"):
        make_panel(store, "heldout_scenes")


def test_a_store_without_train_has_no_games_in_either_part(tmp_path: Path, kitchen: Problem) -> None:
    game = Game("pick-Mug-None-Desk-1/trial_1", "valid_seen", "do it.", kitchen)
    store = write_store(tmp_path / "seen", [game], name="seen", about={})
    with pytest.raises(MissingData, match="0 games of split 'heldout_scenes'"):
        make_panel(store, "heldout_scenes")


def test_a_misspelled_part_is_named(make_store: Callable[..., GameStore]) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'heldout_scenes'"):
        make_panel(make_store("1", "2"), "held_out_scenes")


@pytest.mark.data
def test_20_of_the_108_official_rooms_are_held_out(official_store: GameStore, original_store: GameStore) -> None:
    learned, held = (_scenes(official_store, split) for split in SCENE_SPLITS)
    assert (len(learned), len(held)) == (88, 20)
    assert (learned.total(), held.total()) == (2866, 687)
    assert held.keys() == _scenes(original_store, "heldout_scenes").keys()
