"""The matching expert with the model that comes with the package."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.envs.base import panel_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.policies.lexical import LexicalPolicy
from llm_gym.policies.matching import MatchPolicy
from llm_gym.policies.matching.model import CONFIG, SHIPPED, WEIGHTS, MatchModel
from llm_gym.policies.rule import RulePolicy
from llm_gym.rollout import play

TASKS = 25


@pytest.fixture(scope="module")
def policy() -> MatchPolicy:
    return MatchPolicy.pretrained()


@pytest.fixture
def env() -> gym.Env[str, str]:
    return gym.make("llm_gym/WebShop-v1", split="dev")


@pytest.fixture
def saved(policy: MatchPolicy, tmp_path: Path) -> Path:
    policy.save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_it_buys_something_in_time_and_does_better_than_the_rule(policy: MatchPolicy, env: gym.Env[str, str]) -> None:
    tasks = panel_of(env)[:TASKS]
    played = [play(env, policy, task_id) for task_id in tasks]
    assert {episode.ended_by for episode in played} == {"task"}
    assert max(len(episode.steps) for episode in played) <= 90
    assert not any(episode.invalid_actions for episode in played)
    by_rule = [play(env, RulePolicy(), task_id) for task_id in tasks]
    assert sum(episode.success for episode in played) >= sum(episode.success for episode in by_rule) + 5


def test_the_same_task_is_played_alike(policy: MatchPolicy, env: gym.Env[str, str]) -> None:
    task_id = panel_of(env)[3]
    assert play(env, policy, task_id, seed=1).steps == play(env, MatchPolicy(), task_id, seed=2).steps


def test_being_asked_leaves_no_trace(policy: MatchPolicy, env: gym.Env[str, str]) -> None:
    class Asked(MatchPolicy):
        def act(self, observation: str, info: Any) -> Any:
            self.advise(observation, info, 5)
            return super().act(observation, info)

    for task_id in panel_of(env)[:5]:
        assert play(env, Asked(), task_id).steps == play(env, policy, task_id).steps


def test_it_advises_whoever_makes_the_moves(policy: MatchPolicy, env: gym.Env[str, str]) -> None:
    shopper = LexicalPolicy()
    for task_id in panel_of(env)[:5]:
        observation, info = env.reset(options={"task": task_id})
        policy.reset()
        shopper.reset()
        ended = False
        while not ended:
            opinions = policy.advise(observation, info, 5)  # type: ignore[arg-type]
            actions = [opinion.action for opinion in opinions]
            assert actions
            assert len(set(actions)) == len(actions)
            assert info["screen"] == "search" or set(actions) <= set(info["admissible_actions"])
            confidences = [opinion.confidence for opinion in opinions]
            assert all(confidence is not None and 0 <= confidence <= 1 for confidence in confidences)
            assert confidences == sorted(confidences, key=lambda value: -(value or 0.0))
            action = shopper.act(observation, info).action  # type: ignore[arg-type]
            assert action is not None
            policy.note(observation, info, action)  # type: ignore[arg-type]
            observation, _, ended, _, info = env.step(action)


def test_put_on_an_item_it_never_saw_it_finds_a_way_to_buy(policy: MatchPolicy, pages: Any) -> None:
    policy.reset()
    shop = pages("i need a red shoe")
    assert policy.act("", shop.item({"color": ("red", "blue")})).action is not None


def test_a_click_that_is_refused_is_not_repeated(policy: MatchPolicy, pages: Any) -> None:
    policy.reset()
    page = pages("i need a red shoe").results(("B01", "red shoe", "$1.0"), ("B02", "red shoe", "$1.0"))
    first = policy.act("", page).action
    second = policy.act("", page | {"invalid_action": "There is nothing of this name."}).action
    assert second is not None
    assert second != first


def test_on_the_last_page_it_stops(policy: MatchPolicy, pages: Any) -> None:
    policy.reset()
    assert policy.act("", pages("i need a red shoe").done()).action is None


def test_a_pickle_travels_without_the_weights(policy: MatchPolicy) -> None:
    sent = pickle.dumps(policy)
    assert len(sent) < 5_000
    assert pickle.loads(sent).settings() == policy.settings()


def test_a_saved_model_is_the_same_model(policy: MatchPolicy, saved: Path, env: gym.Env[str, str]) -> None:
    copy = MatchPolicy.from_pretrained(saved)
    assert copy.settings() == policy.settings()
    task_id = panel_of(env)[0]
    assert play(env, copy, task_id).steps == play(env, policy, task_id).steps
    with pytest.raises(InvalidSetting, match="exists already"):
        policy.save_pretrained(saved)


def test_other_weights_have_another_digest(policy: MatchPolicy, saved: Path) -> None:
    config = (saved / CONFIG).read_text()
    (saved / CONFIG).write_text(config.replace('"telling": {', '"telling": {"zzz": 0.5, '))
    assert MatchPolicy(saved).settings() != policy.settings()


def test_the_shipped_model_is_small() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 1_000_000


def test_too_few_actions_are_refused() -> None:
    with pytest.raises(InvalidSetting, match="15"):
        MatchPolicy(actions=3)


# -- folders that hold no model ------------------------------------------------------------------------------------


def test_a_folder_without_model_is_missing_data(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="no trained matcher"):
        MatchPolicy.from_pretrained(tmp_path)


@pytest.mark.parametrize("length", [0, 10, 1000, -1])
def test_truncated_weights_are_a_bad_record(saved: Path, length: int) -> None:
    (saved / WEIGHTS).write_bytes((saved / WEIGHTS).read_bytes()[:length])
    with pytest.raises(BadRecord, match="truncated"):
        MatchModel.read(saved)


def test_objects_are_not_unpickled(saved: Path) -> None:
    np.savez(saved / WEIGHTS, **{"options.roots": np.array([{}], object)})  # type: ignore[arg-type]
    with pytest.raises(BadRecord, match="allow_pickle"):
        MatchModel.read(saved)


def test_arrays_of_another_model_are_a_bad_record(saved: Path) -> None:
    np.savez(saved / WEIGHTS, weights=np.zeros(3))
    with pytest.raises(BadRecord, match="options"):
        MatchModel.read(saved)


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        ('"kind": "webshop-match"', '"kind": "webshop-choice"', DataMismatch),
        ('"format": 1', '"format": 2', DataMismatch),
        ('"words missing"', '"words gone"', DataMismatch),
        ('"telling": {', '"telling": {"zzz": "much", ', BadRecord),
        ('"telling": {', '"telling": {"zzz": 7, ', BadRecord),
        ("{", "", BadRecord),
    ],
)
def test_a_wrong_configuration_is_refused(saved: Path, before: str, after: str, error: type[Exception]) -> None:
    config = (saved / CONFIG).read_text()
    assert before in config
    (saved / CONFIG).write_text(config.replace(before, after, 1))
    with pytest.raises(error):
        MatchModel.read(saved)


def test_a_configuration_that_is_no_object_is_refused(saved: Path) -> None:
    (saved / CONFIG).write_text("[1]")
    with pytest.raises(BadRecord, match="object"):
        MatchModel.read(saved)
