"""What a plan holds, and when two are the same."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import orjson
import pytest
from gymnasium.utils import RecordConstructorArgs

from llm_gym.core import Decision, Info
from llm_gym.errors import BadRecord, InvalidSetting
from llm_gym.evaluation.plan import Plan, described, plan_of
from llm_gym.policies.base import Policy
from llm_gym.policies.uniform import RandomPolicy

Plans = Callable[..., Plan]


class Tuned(Policy):
    name = "tuned"

    def __init__(self, top: int = 1) -> None:
        self.top = top

    def act(self, observation: str, info: Info) -> Decision:
        return Decision(None)

    def settings(self) -> dict[str, Any]:
        return {"top": self.top, "path": Path("/x"), "weights": np.array([1.5])}


class Hinted(gym.Wrapper[str, str, str, str], RecordConstructorArgs):
    def __init__(self, env: gym.Env[str, str], expert: Policy) -> None:
        RecordConstructorArgs.__init__(self, expert=expert)
        gym.Wrapper.__init__(self, env)


def test_a_plan_names_environment_policy_and_panel(corridor: gym.Env[str, str]) -> None:
    plan = plan_of(Tuned(3), corridor, n=7, seed=2)
    assert plan.environment["id"] == "llm_gym/Corridor-v0"
    assert plan.environment["max_episode_steps"] == 30
    assert plan.description == {"length": 5, "split": "all", "tasks": 200}
    assert plan.panel["size"] == 200
    assert plan.policy["settings"] == {"top": 3, "path": "/x", "weights": [1.5]}


def test_the_fingerprint_survives_the_file(corridor: gym.Env[str, str]) -> None:
    plan = plan_of(Tuned(), corridor, n=7)
    again = Plan.from_bytes(plan.to_bytes(), "plan.json")
    assert again == plan
    assert again.fingerprint == plan.fingerprint


def test_the_fingerprint_is_the_hash_of_the_sorted_json(plan: Plans) -> None:
    fields = {name: value for name, value in plan().to_dict().items() if name != "llm_gym_version"}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    assert plan().fingerprint == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize("change", [{"n": 4}, {"repeats": 2}, {"trials": 2}, {"seed": 1}, {"description": {}}])
def test_every_setting_changes_the_fingerprint(plan: Plans, change: dict[str, Any]) -> None:
    assert plan().fingerprint != plan(**change).fingerprint


def test_a_wrapper_and_its_experts_settings_change_the_fingerprint(corridor: gym.Env[str, str]) -> None:
    prints = {
        plan_of(RandomPolicy(), env, n=1).fingerprint
        for env in (corridor, Hinted(corridor, Tuned(1)), Hinted(corridor, Tuned(2)))
    }
    assert len(prints) == 3


def test_the_version_of_the_package_is_recorded_but_not_fingerprinted(plan: Plans) -> None:
    older, newer = plan(llm_gym_version="0.1"), plan(llm_gym_version="0.2")
    assert older.fingerprint == newer.fingerprint
    assert older.difference(newer) == []
    assert older.to_dict()["llm_gym_version"] == "0.1"


def test_the_same_data_in_another_folder_is_the_same_plan(plan: Plans) -> None:
    here, there, other = (
        plan(environment={"id": "E-v0", "kwargs": {"catalogue": path}, "wrappers": []})
        for path in ("/home/a/shop", "/data/shop", "/data/books")
    )
    assert here.fingerprint == there.fingerprint
    assert here.to_bytes() != there.to_bytes()
    assert here.difference(other) == ['environment.kwargs.catalogue: "shop" → "books"']


def test_a_policys_folder_is_part_of_the_plan(plan: Plans) -> None:
    first, second = (
        plan(policy={"name": "p", "class": "m:P", "settings": {"weights": path}}) for path in ("/a/best", "/b/best")
    )
    assert first.fingerprint != second.fingerprint


def test_the_difference_is_readable(plan: Plans) -> None:
    other = replace(plan(), n=100, description={"split": "train", "engine": "bm25"})
    assert plan().difference(other) == [
        'description.split: "test" → "train"',
        "description.products: 1000 → (not there)",
        "n: 3 → 100",
        'description.engine: (not there) → "bm25"',
    ]


def test_true_is_not_1_in_a_difference(plan: Plans) -> None:
    assert plan(description={"strict": True}).difference(plan(description={"strict": 1}))


def test_an_environment_without_a_panel_is_refused() -> None:
    with pytest.raises(InvalidSetting, match="CartPoleEnv has no task panel"):
        plan_of(RandomPolicy(), gym.make("CartPole-v1"), n=1)


def test_an_environment_that_gymnasium_did_not_make_is_told_by_its_class(corridor: gym.Env[str, str]) -> None:
    bare = gym.wrappers.TimeLimit(type(corridor.unwrapped)(), 7)
    environment = plan_of(RandomPolicy(), bare, n=1).environment
    assert environment["id"] == "llm_gym.envs.corridor:Corridor"
    assert environment["wrappers"][0]["kwargs"] == {"max_episode_steps": 7}


def test_the_step_limit_of_a_plan_is_the_one_in_force(corridor: gym.Env[str, str]) -> None:
    bare = corridor.unwrapped
    limits = [
        plan_of(RandomPolicy(), env, n=1).environment["max_episode_steps"]
        for env in (corridor, bare, gym.wrappers.TimeLimit(bare, 7), gym.wrappers.TimeLimit(corridor, 70))
    ]
    assert limits == [30, None, 7, 30]


@dataclass
class Price:
    low: int


def test_objects_are_described_by_what_they_tell() -> None:
    assert described({1: (Price(2), {"b", "a"}, np.float64(0.5), int)}) == {
        "1": [{"class": f"{__name__}:Price", "settings": {"low": 2}}, ["a", "b"], 0.5, "builtins:int"]
    }


def test_an_object_that_tells_nothing_is_described_without_its_address() -> None:
    assert described(object()) == "builtins:object"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "not the plan"),
        (b'{"format_version": 99}', "format version 99"),
        (b'{"format_version": 1, "llm_gym_version": 3}', "'llm_gym_version' must be"),
    ],
)
def test_a_malformed_plan_is_told_with_its_file(content: bytes, message: str) -> None:
    with pytest.raises(BadRecord, match=f"plan.json.*{message}"):
        Plan.from_bytes(content, "plan.json")


def test_a_plan_without_a_policys_name_is_malformed(plan: Plans) -> None:
    fields = {**plan().to_dict(), "policy": {}}
    with pytest.raises(BadRecord, match="'policy' has no 'name'"):
        Plan.from_bytes(orjson.dumps(fields), "plan.json")
