"""The recurrent network as a policy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import gymnasium as gym
import pytest

pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.core import Info
from llm_gym.envs.base import panel_of
from llm_gym.errors import DataMismatch
from llm_gym.policies.reinforcement.policy import A2CPolicy
from llm_gym.policies.reinforcement.rnn import RecurrentActorCritic
from llm_gym.policies.reinforcement.rnn_config import RecurrentConfig
from llm_gym.policies.reinforcement.rnn_policy import RNNPolicy
from llm_gym.rollout import play
from llm_gym.training.a2c.words import word_tokenizer

if TYPE_CHECKING:
    from llm_gym.policies.reinforcement.bert import BertActorCritic

pytestmark = pytest.mark.torch


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An untrained network, which judges differently from one page to the next."""
    network = RecurrentActorCritic.create(RecurrentConfig(words=4, width=4), word_tokenizer(["open left right"], None))
    network.save(tmp_path / "rnn")
    return tmp_path / "rnn"


def test_the_instruction_is_the_only_query_unless_others_are_wanted(folder: Path) -> None:
    env = gym.make("llm_gym/WebShop-v1", split="dev")
    observation, info = env.reset(options={"task": panel_of(env)[0]})
    policy = RNNPolicy(folder)
    policy.reset(seed=0)
    (opinion,) = policy.advise(observation, cast(Info, info), 5)
    assert opinion.action == f"search[{info['goal'].lower()}]"
    assert opinion.source == "rnn"
    assert opinion.confidence == pytest.approx(1)
    assert policy.settings()["search"] == "instruction"


def test_a_network_of_another_kind_is_refused(
    folder: Path, make_bert: Callable[..., BertActorCritic], tmp_path: Path
) -> None:
    make_bert().save(tmp_path / "bert")
    with pytest.raises(DataMismatch, match=r"kind 'webshop-a2c-bert', not 'webshop-a2c-rnn'"):
        RNNPolicy.from_pretrained(tmp_path / "bert")
    with pytest.raises(DataMismatch, match=r"kind 'webshop-a2c-rnn', not 'webshop-a2c-bert'"):
        A2CPolicy.from_pretrained(folder)


def test_a_copy_in_another_folder_plays_alike(folder: Path, tmp_path: Path) -> None:
    policy = RNNPolicy.from_pretrained(folder)
    policy.save_pretrained(tmp_path / "copy")
    copy = RNNPolicy.from_pretrained(tmp_path / "copy")
    assert copy.settings() == policy.settings()
    env = gym.make("llm_gym/Corridor-v0", max_episode_steps=10)
    played = [play(env, one, "corridor-1").steps for one in (policy, copy)]
    assert played[0] == played[1]


def test_the_shipped_network_searches_opens_a_result_and_buys() -> None:
    env = gym.make("llm_gym/WebShop-v1", split="dev")
    for task in panel_of(env)[:3]:
        episode = play(env, RNNPolicy(), task)
        assert episode.ended_by == "task"
        assert [step.action is not None and step.action.partition("[")[0] for step in episode.steps[:2]] == [
            "search",
            "click",
        ]
        assert len(episode.steps) < 20
