"""The memory student with the model that comes with the package, and with models made by hand."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.core import Decision, Episode, Info
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.envs.base import panel_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.extras import installed
from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goals import Put
from llm_gym.policies.alfworld.memory import MemoryPolicy
from llm_gym.policies.alfworld.memory.command import VERBS
from llm_gym.policies.alfworld.memory.features import COMMAND_FLAGS, STATE_FLAGS, Vocabulary, choices
from llm_gym.policies.alfworld.memory.model import CONFIG, SHIPPED, WEIGHTS, MemoryModel, shapes
from llm_gym.rollout import play

WORDS = Vocabulary(["desk", "drawer", "mug"])
COMMANDS = ["look", "inventory", "go to desk 1", "go to drawer 1", "take mug 1 from desk 1"]
SEEN: Info = {"goal": "put a mug in drawer.", "admissible_actions": COMMANDS, "page": "On the desk 1, you see a mug 1."}


def by_hand(**weights: float) -> MemoryModel:
    """Scores a command by its flags alone: the sum of the weights of those that it has, here and now."""
    arrays = {name: np.zeros(shape, np.float32) for name, shape in shapes(len(WORDS)).items()}
    first_flag = 3 * arrays["verb_vectors"].shape[1]
    for number, (name, weight) in enumerate(weights.items()):
        arrays["command_weights"][first_flag + COMMAND_FLAGS.index(name.replace("_", " ")), number] = 1
        arrays["second_weights"][number, number] = 1
        arrays["last_weights"][number] = weight
    return MemoryModel(WORDS, arrays)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    by_hand(place_is_goal=2.0, thing_is_wanted=3.0).write(tmp_path / "model")
    return tmp_path / "model"


def test_scores_by_hand() -> None:
    model = by_hand(place_is_goal=2.0, thing_is_wanted=3.0)
    belief = Belief()
    belief.see("", COMMANDS)
    read = choices(Put("mug", "drawer"), belief, COMMANDS, WORDS)
    np.testing.assert_allclose(model.scores(read), [0, 0, 0, 2, 3])
    raised = np.exp([0, 0, 0, 2, 3])
    np.testing.assert_allclose(model.probabilities(read), raised / raised.sum(), rtol=1e-6)


def test_opinions_come_by_their_probability(saved: Path) -> None:
    opinions = MemoryPolicy.from_pretrained(saved).advise("", SEEN, 3)
    assert [opinion.action for opinion in opinions] == ["take mug 1 from desk 1", "go to drawer 1", "look"]
    total = 3 + np.exp(2) + np.exp(3)
    expected = [np.exp(3) / total, np.exp(2) / total, 1 / total]
    assert [opinion.confidence for opinion in opinions] == pytest.approx(expected)


def test_of_commands_that_look_alike_the_first_is_taken(saved: Path) -> None:
    alike = ["inventory", "look", *(f"go to drawer {number}" for number in (9, 3, 7))]
    decision = MemoryPolicy(saved).act("", {"goal": "put a mug in drawer.", "admissible_actions": alike})
    assert decision.action == "go to drawer 9"


def test_words_that_training_never_met_are_scored_all_the_same(saved: Path) -> None:
    strange = ["look", "inventory", "go to throne 1", "juggle mug 1", "take orb 1 from throne 1"]
    info: Info = {"goal": "put some orb on throne.", "admissible_actions": strange}
    decision = MemoryPolicy(saved).act("You see a throne 1 and a dragon.", info)
    assert decision.action == "take orb 1 from throne 1"


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        ({"goal": "buy shoes", "admissible_actions": ["click[buy now]"]}, "no game of ALFWorld"),
        ({"goal": "put a mug in drawer."}, "no game of ALFWorld"),
        ({"goal": "put a mug in drawer.", "admissible_actions": None}, "no game of ALFWorld"),
    ],
)
def test_where_it_can_do_nothing_it_stops_and_says_why(saved: Path, info: Any, reason: str) -> None:
    policy = MemoryPolicy(saved)
    decision = policy.act("", info)
    assert decision.action is None
    assert reason in decision.rationale
    assert policy.advise("", info) == []


def test_without_memory_it_knows_what_is_in_view_only(tmp_path: Path) -> None:
    remembering = by_hand(place_looked_into=1.0)
    replace(remembering, remembers=False).write(tmp_path / "forgetful")
    remembering.write(tmp_path / "remembering")
    chosen = {}
    for name in ("remembering", "forgetful"):
        policy = MemoryPolicy.from_pretrained(tmp_path / name)
        policy.act("", SEEN)
        chosen[name] = policy.act("", {"goal": "put a mug in drawer.", "admissible_actions": COMMANDS[:4]}).action
    assert chosen == {"remembering": "go to desk 1", "forgetful": "look"}
    digests = {MemoryPolicy(tmp_path / name).settings()["weights"] for name in ("remembering", "forgetful")}
    assert len(digests) == 2


def test_a_new_episode_forgets_the_last_one(saved: Path) -> None:
    policy = MemoryPolicy(saved)
    fresh = policy.advise("", SEEN, 9)
    policy.act("You open the drawer 1. The drawer 1 is open. In it, you see a mug 2.", SEEN)
    policy.reset(seed=1)
    assert policy.advise("", SEEN, 9) == fresh


def test_a_copy_in_another_process_reads_the_weights_anew(saved: Path) -> None:
    policy = MemoryPolicy.from_pretrained(saved)
    small, copy = pickle.dumps(policy), pickle.loads(pickle.dumps(policy))
    assert len(small) < 1000
    assert copy.settings() == policy.settings()
    assert copy.advise("", SEEN, 9) == policy.advise("", SEEN, 9)


def test_what_is_saved_is_read_back(saved: Path, tmp_path: Path) -> None:
    policy = MemoryPolicy.from_pretrained(saved)
    policy.save_pretrained(tmp_path / "copy")
    assert MemoryPolicy.from_pretrained(tmp_path / "copy").settings() == policy.settings()
    with pytest.raises(InvalidSetting, match="exists already"):
        policy.save_pretrained(tmp_path / "copy")


# -- bad checkpoints -----------------------------------------------------------------------------------------------


def rewritten(folder: Path, **changes: Any) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | changes))


def resaved(folder: Path, **changes: Any) -> None:
    with np.load(folder / WEIGHTS, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    np.savez(folder / WEIGHTS, **(arrays | changes))


def test_no_checkpoint_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"no trained memory student: it has no config\.json"):
        MemoryPolicy.from_pretrained(tmp_path)


@pytest.mark.parametrize("kept", [0, 100, -1])
def test_truncated_weights_are_refused(saved: Path, kept: int) -> None:
    content = (saved / WEIGHTS).read_bytes()
    (saved / WEIGHTS).write_bytes(content[:kept])
    with pytest.raises(BadRecord, match="truncated or no file of arrays"):
        MemoryPolicy.from_pretrained(saved)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"kind": "webshop-match"}, DataMismatch),
        ({"format": 2}, DataMismatch),
        ({"inputs": {}}, DataMismatch),
        ({"words": "desk"}, BadRecord),
        ({"words": [1, 2, 3]}, BadRecord),
        ({"words": ["desk"]}, BadRecord),
        ({"remembers": 1}, BadRecord),
        ({"training": []}, BadRecord),
    ],
)
def test_another_configuration_is_refused(saved: Path, changes: dict[str, Any], error: type[Exception]) -> None:
    rewritten(saved, **changes)
    with pytest.raises(error):
        MemoryPolicy.from_pretrained(saved)


@pytest.mark.parametrize("text", ["", "[1]", "{" * 9, "[" * 100_000])
def test_a_malformed_configuration_is_refused(saved: Path, text: str) -> None:
    (saved / CONFIG).write_text(text)
    with pytest.raises(BadRecord):
        MemoryPolicy.from_pretrained(saved)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(3, np.float32),
        np.full(shapes(len(WORDS))["first_bias"], np.nan, np.float32),
        np.zeros(shapes(len(WORDS))["first_bias"], np.float64),
        np.array([None]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(saved: Path, array: Any) -> None:
    resaved(saved, first_bias=array)
    with pytest.raises(BadRecord):
        MemoryPolicy.from_pretrained(saved)


# -- the model of the package --------------------------------------------------------------------------------------


def test_it_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 300_000
    numbers = sum(array.size for array in MemoryPolicy.pretrained().model.arrays.values())
    assert numbers < 50_000
    assert len(VERBS) == 14
    assert (len(COMMAND_FLAGS), len(STATE_FLAGS)) == (16, 19)


@pytest.mark.parametrize("env_id", ["llm_gym/ALFWorld-v1", "llm_gym/ALFWorld-v0"])
def test_it_wins_most_games_in_both_wordings(make_env: Any, env_id: str) -> None:
    env = make_env(env_id, max_episode_steps=50)
    episodes = [play(env, MemoryPolicy(), task_id) for task_id in panel_of(env)[::7]]
    assert len(episodes) >= 19
    assert sum(episode.success for episode in episodes) >= len(episodes) - 2
    assert not any(episode.invalid_actions for episode in episodes)


@pytest.mark.data
@pytest.mark.textworld
@pytest.mark.skipif(not installed("textworld"), reason="needs the extra alfworld")
def test_the_original_engine_shows_it_the_same_and_it_does_the_same(official_store: GameStore) -> None:
    class Watching(MemoryPolicy):
        def act(self, observation: str, info: Info) -> Decision:
            offered.append(list(info["admissible_actions"] or []))
            return super().act(observation, info)

    def played(engine: str, task_id: str) -> tuple[Episode, list[list[str]]]:
        offered.clear()
        env = gym.make("llm_gym/ALFWorld-v1", games=official_store.folder, engine=engine, max_episode_steps=50)
        episode = play(env, Watching(), task_id)
        env.close()
        return episode, list(offered)

    offered: list[list[str]] = []
    for entry in official_store.entries("valid_unseen")[::70]:
        assert played("textworld", entry.task_id) == played("native", entry.task_id)
