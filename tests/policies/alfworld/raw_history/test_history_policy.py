"""The policy of the history student: what it remembers, and which files it reads."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import llm_gym  # noqa: F401 - registers the environments
from llm_gym.core import Info
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.policies.alfworld.memory.features import Vocabulary
from llm_gym.policies.alfworld.raw_history.events import ROW, History, Moment, known_words
from llm_gym.policies.alfworld.raw_history.model import CONFIG, WEIGHTS, HistoryModel, Joined, Sizes, shapes
from llm_gym.policies.alfworld.raw_history.policy import HistoryPolicy

SMALL = Sizes(word=3, kind=2, number=2, hidden=5, goal=3, memory=4, fit=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An untrained network, which has preferences all the same."""
    HistoryModel.create(known_words(), seed=3, sizes=SMALL).write(tmp_path / "model")
    return tmp_path / "model"


def scored(model: HistoryModel, moments: list[Moment]) -> list[np.ndarray[Any, Any]]:
    """The scores of an episode, moment by moment."""
    memory, scores = model.beginning(), []
    for moment in moments:
        memory, now = model.hear(Joined.of([moment]), memory)
        scores.append(now)
    return scores


def moment(
    events: list[list[int]], commands: list[list[int]], counts: list[int], goal: tuple[int, ...] = (2,)
) -> Moment:
    def table(rows: list[list[int]]) -> Any:
        return np.array(rows, np.int32).reshape(-1, ROW)

    return Moment(np.array(goal, np.int32), table(events), table(commands), np.array(counts, np.int32))


def test_scores_by_hand() -> None:
    """All widths are 1, so that every layer is a sum of products."""
    sizes = Sizes(word=1, kind=1, number=1, hidden=1, goal=1, memory=1, fit=1)
    words = Vocabulary(["mug"])
    arrays = {name: np.full(shape, 0.5, np.float32) for name, shape in shapes(len(words), sizes).items()}
    arrays["number_vectors"][2], arrays["word_vectors"][2] = 1.0, 2.0
    model = HistoryModel(words, arrays, sizes)
    row = [1, 2, 2, 1, 0]  # kind .5, word 2, number 1, word .5, number .5: together 4.5
    ((score,),) = scored(model, [moment([row], [row], [3], goal=(2, 2))])
    goal = 4 * 0.5 + 0.5
    told = (4.5 * 0.5 + 0.5) * 0.5
    gate = 0.5 * (told + goal) + 0.5 + 0.5
    reset = update = 1 / (1 + math.exp(-gate))
    new = math.tanh(0.5 * (told + goal) + 0.5 + reset * 0.5)
    memory = (1 - update) * new
    state = 0.5 * (memory + goal)
    command = 4.5 * 0.5 + 0.5
    hidden = 0.5 * command + state + 0.5 + 0.5 * math.log(4)
    assert score == pytest.approx(0.5 * hidden + 0.5 * command * state, rel=1e-5)
    ((pure,),) = scored(replace(model, counts=False), [moment([row], [row], [3], goal=(2, 2))])
    assert score - pure == pytest.approx(0.25 * math.log(4), rel=1e-4)


def test_episodes_side_by_side_are_scored_as_each_alone() -> None:
    model = HistoryModel.create(known_words(), seed=1, sizes=SMALL)
    one = moment([[1, 2, 1, 3, 1]], [[1, 4, 1, 5, 1], [2, 1, 0, 5, 2]], [0, 2])
    other = moment([], [[3, 4, 1, 5, 1]], [1], goal=())
    memory = np.array([[0.5, -0.5, 0.1, 0.2], [0.0, 1.0, -0.3, 0.4]], np.float32)
    together, scores = model.hear(Joined.of([one, other]), memory)
    for at, (own, rows) in enumerate(((one, slice(0, 2)), (other, slice(2, 3)))):
        alone, alone_scores = model.hear(Joined.of([own]), memory[at : at + 1])
        np.testing.assert_allclose(together[at], alone[0], atol=1e-6)
        np.testing.assert_allclose(scores[rows], alone_scores, atol=1e-6)


def test_what_was_seen_long_ago_still_counts() -> None:
    model = HistoryModel.create(known_words(), seed=1, sizes=SMALL)
    commands = [[1, 4, 1, 5, 1], [2, 1, 0, 5, 2]]
    later = [moment([], commands, [0, 0]) for _ in range(3)]
    with_mug = scored(model, [moment([[15, 7, 1, 9, 1]], commands, [0, 0]), *later])[-1]
    without = scored(model, [moment([], commands, [0, 0]), *later])[-1]
    assert not np.allclose(with_mug, without, atol=1e-4)


def test_huge_weights_do_not_overflow() -> None:
    model = HistoryModel.create(known_words(), seed=1, sizes=SMALL)
    model = replace(model, arrays={name: 1000 * one for name, one in model.arrays.items()})
    (scores,) = scored(model, [moment([[1, 2, 1, 3, 1]], [[1, 4, 1, 5, 1]], [0])])
    assert np.isfinite(scores).all()


# -- the policy ------------------------------------------------------------------------------------------------------


def play(policy: HistoryPolicy, version: str, steps: int = 8) -> list[str | None]:
    world = gym.make(f"llm_gym/ALFWorld-{version}", task_types="heat", max_episode_steps=steps)
    policy.reset()
    observation, info = world.reset(options={"task": sorted(world.unwrapped.panel)[0]})  # type: ignore[attr-defined]
    actions, ended = [], False
    while not ended:
        action = policy.act(observation, info).action  # type: ignore[arg-type]
        actions.append(action)
        assert action in info["admissible_actions"]
        observation, _, terminated, truncated, info = world.step(action)
        ended = terminated or truncated
    return actions


@pytest.mark.filterwarnings("ignore:.*out of date.*")
def test_it_plays_both_wordings(folder: Path) -> None:
    policy = HistoryPolicy.from_pretrained(folder)
    for version in ("v0", "v1"):
        assert len(play(policy, version)) == 8


def test_advice_changes_nothing_and_is_ranked(folder: Path) -> None:
    plain, asked = HistoryPolicy(folder), HistoryPolicy(folder)
    info: Info = {"goal": "put a mug in shelf.", "admissible_actions": ["go to shelf 1", "go to shelf 2", "look"]}
    for page in ("On the shelf 1, you see a mug 1.", "On the shelf 2, you see nothing."):
        for _ in range(2):
            opinions = asked.advise(page, info, 3)
        assert sorted(opinion.action for opinion in opinions) == info["admissible_actions"]
        confidences = [opinion.confidence or 0.0 for opinion in opinions]
        assert confidences == sorted(confidences, reverse=True)
        assert sum(confidences) == pytest.approx(1, abs=1e-5)
        action = asked.act(page, info).action
        assert action == opinions[0].action == plain.act(page, info).action


def test_whoever_acts_it_remembers_what_was_done(folder: Path) -> None:
    info: Info = {"goal": "put a mug in shelf.", "admissible_actions": ["go to shelf 1", "look"]}
    acting, told = HistoryPolicy(folder), HistoryPolicy(folder)
    for page in ("On the shelf 1, you see a mug 1.", "On the shelf 2, you see nothing.", "…"):
        action = acting.act(page, info).action
        assert action is not None
        told.note(page, info, action)
    assert told.advise("…", info, 2) == acting.advise("…", info, 2)
    told.note("…", info, "look")
    assert told.advise("…", info, 2) != acting.advise("…", info, 2)


def test_a_new_episode_forgets_the_last(folder: Path) -> None:
    policy = HistoryPolicy(folder)
    first = play(policy, "v1")
    assert play(policy, "v1") == first


def test_without_commands_it_stops(folder: Path) -> None:
    policy = HistoryPolicy(folder)
    decision = policy.act("a shop", {"admissible_actions": None})
    assert decision.action is None
    assert policy.advise("a shop", {}, 3) == []


def test_it_can_be_sent_elsewhere_in_the_middle_of_an_episode(folder: Path) -> None:
    info: Info = {"goal": "put a mug in shelf.", "admissible_actions": ["go to shelf 1", "look"]}
    policy = HistoryPolicy(folder)
    policy.act("On the shelf 1, you see a mug 1.", info)
    copy = pickle.loads(pickle.dumps(policy))
    assert copy.advise("…", info, 2) == policy.advise("…", info, 2)
    assert len(pickle.dumps(policy)) < 20_000


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_saved_network_is_the_same_one(folder: Path, tmp_path: Path) -> None:
    policy = HistoryPolicy.from_pretrained(folder)
    policy.save_pretrained(tmp_path / "copy")
    copy = HistoryPolicy(tmp_path / "copy")
    assert copy.settings() == policy.settings()
    assert policy.settings()["counts"] is True
    with pytest.raises(InvalidSetting):
        policy.save_pretrained(tmp_path / "copy")


def test_networks_that_decide_otherwise_have_other_settings() -> None:
    one = HistoryModel.create(known_words(), seed=1, sizes=SMALL)
    others = [HistoryModel.create(known_words(), seed=2, sizes=SMALL), replace(one, counts=False)]
    assert one.digest not in {other.digest for other in others}


def test_a_folder_without_a_network_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"is no trained history student: it has no config\.json"):
        HistoryPolicy.from_pretrained(tmp_path)


@pytest.mark.parametrize("bytes_left", [0, 30, 1000])
def test_a_truncated_network_is_refused(folder: Path, bytes_left: int) -> None:
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:bytes_left])
    with pytest.raises(BadRecord, match=r"network\.npz is truncated"):
        HistoryPolicy.from_pretrained(folder)


def _told(change: Callable[[dict[str, Any]], object], folder: Path) -> None:
    config = json.loads((folder / CONFIG).read_text())
    change(config)
    (folder / CONFIG).write_text(json.dumps(config))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda config: config.update(kind="alfworld-memory"), DataMismatch, "holds a model of kind 'alfworld-memory'"),
        (lambda config: config.update(format=0), DataMismatch, "by another version"),
        (lambda config: config["events"].pop(), DataMismatch, "by another version"),
        (lambda config: config.pop("counts"), BadRecord, '"counts" should be true or false'),
        (lambda config: config.update(words="mug"), BadRecord, '"words" should be a list of words'),
        (lambda config: config["words"].append("more"), BadRecord, "'word_vectors' should be finite numbers"),
        (lambda config: config["sizes"].update(memory=5), BadRecord, "should be finite numbers"),
        (lambda config: config["sizes"].update(memory=10**9), BadRecord, "whole numbers from 1 to 1,024"),
        (lambda config: config["sizes"].pop("memory"), BadRecord, '"sizes" should give'),
    ],
)
def test_a_config_of_something_else_is_refused(
    folder: Path, change: Callable[[dict[str, Any]], object], error: type[Exception], said: str
) -> None:
    _told(change, folder)
    with pytest.raises(error, match=said):
        HistoryPolicy.from_pretrained(folder)


def test_numbers_that_are_none_are_refused(folder: Path) -> None:
    with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
        arrays = dict(stored)
    arrays["last_weights"][0] = np.nan
    np.savez(folder / WEIGHTS, allow_pickle=False, **arrays)
    with pytest.raises(BadRecord, match="'last_weights' should be finite numbers"):
        HistoryPolicy.from_pretrained(folder)


def test_histories_do_not_share_what_they_know() -> None:
    one, other = History(known_words()), History(known_words())
    one.did("look")
    assert other.see("…", {"admissible_actions": ["look"]}).counts.tolist() == [0]
