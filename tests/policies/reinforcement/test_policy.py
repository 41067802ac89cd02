"""The actor-critic as a policy, around networks whose probabilities are given."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gymnasium as gym
import pytest

pytest.importorskip("torch", reason="needs the extra torch")

import torch

from llm_gym.errors import DataMismatch, InvalidSetting, MissingData, UnknownName
from llm_gym.policies.reinforcement.candidates import instruction_only
from llm_gym.policies.reinforcement.network import Judgement, Situation
from llm_gym.policies.reinforcement.policy import A2CPolicy, queries_of
from llm_gym.rollout import play

if TYPE_CHECKING:
    from llm_gym.policies.reinforcement.bert import BertActorCritic

pytestmark = pytest.mark.torch


class Given:
    """Gives each action the probability that stands in a table; those that do not stand there share the rest."""

    def __init__(self, shares: Mapping[str, float]) -> None:
        self.shares = shares
        self.seen: list[Situation] = []

    def judge(self, situations: Sequence[Situation]) -> Judgement:
        (one,) = situations
        self.seen.append(one)
        others = [action for action in one.actions if action not in self.shares]
        rest = 1 - sum(self.shares.get(action, 0) for action in one.actions)
        shares = [self.shares.get(action, rest / max(len(others), 1)) for action in one.actions]
        return Judgement(torch.tensor([shares]).log(), torch.zeros(1))


def policy(shares: Mapping[str, float], queries: Any = instruction_only, **settings: Any) -> A2CPolicy:
    made = A2CPolicy.of(Given(shares), queries, **settings)  # type: ignore[arg-type]
    made.reset(seed=0)
    return made


ROOM: Any = {"goal": "out", "page": "a room", "admissible_actions": ["left", "right", "open"]}
SHARES = {"left": 0.2, "right": 0.7, "open": 0.1}


def test_the_best_is_taken_that_was_not_yet_taken_on_the_same_page() -> None:
    made = policy(SHARES)
    taken = [made.act("a room", ROOM).action for _ in range(4)]
    assert taken == ["right", "left", "open", "right"]
    assert made.act("another", {**ROOM, "page": "another"}).action == "right"


def test_what_somebody_else_did_counts_and_a_new_episode_forgets_it() -> None:
    made = policy(SHARES)
    made.note("a room", ROOM, "right")
    assert made.act("a room", ROOM).action == "left"
    made.reset(seed=0)
    assert made.act("a room", ROOM).action == "right"


def test_the_most_probable_may_be_taken_for_ever() -> None:
    made = policy(SHARES, draw="argmax")
    assert [made.act("a room", ROOM).action for _ in range(3)] == ["right"] * 3


def test_samples_are_drawn_in_proportion() -> None:
    made = policy(SHARES, draw="sample")
    drawn = [made.act("a room", ROOM).action for _ in range(500)]
    for action, share in SHARES.items():
        assert drawn.count(action) / 500 == pytest.approx(share, abs=0.07)


def test_advice_is_ordered_and_leaves_no_trace() -> None:
    made = policy(SHARES)
    opinions = made.advise("a room", ROOM, 2)
    assert [(one.action, pytest.approx(one.confidence, abs=1e-6)) for one in opinions] == [
        ("right", 0.7),
        ("left", 0.2),
    ]
    assert made.act("a room", ROOM).action == "right"


def test_a_search_is_one_of_the_candidates(pages: Any) -> None:
    made = policy({"search[red shoe]": 0.6}, lambda goal: ["shoe", "red shoe"])
    info = pages("i want a red shoe").search()
    assert made.act("page", info).action == "search[red shoe]"
    assert len(made._network.seen[0].actions) == 3  # type: ignore[union-attr]


def test_results_are_clicked_by_their_ids(pages: Any) -> None:
    made = policy({"click[item - red shoe]": 0.9})
    info = pages("i want a red shoe").results(("B01", "Blue Shoe", "$1"), ("B02", "Red Shoe", "$2"))
    assert made.act("page", info).action == "click[b02]"


def test_where_nothing_can_be_done_it_stops(pages: Any) -> None:
    info = pages("i want a red shoe").done()
    assert policy({}).act("page", info).action is None
    assert policy({}).advise("page", info) == []


# -- folders -------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(make_bert: Callable[..., BertActorCritic], tmp_path: Path) -> Path:
    pytest.importorskip("transformers", reason="needs the extra torch")
    make_bert().save(tmp_path / "model")
    return tmp_path / "model"


def test_a_trained_network_plays_wherever_it_is_sent(folder: Path, tmp_path: Path) -> None:
    env = gym.make("llm_gym/Corridor-v0", max_episode_steps=10)
    made = A2CPolicy(folder, search="instruction", draw="sample")
    played = play(env, made, "corridor-1", seed=3)
    copy = pickle.loads(pickle.dumps(made))
    assert copy._network is None
    assert play(env, copy, "corridor-1", seed=3) == played
    made.save_pretrained(tmp_path / "copy")
    moved = A2CPolicy(tmp_path / "copy", search="instruction", draw="sample")
    assert moved.settings() == made.settings()
    assert A2CPolicy(folder, search="instruction").settings() != made.settings()


def test_a_folder_is_checked_when_the_policy_is_made_from_it(folder: Path, tmp_path: Path) -> None:
    assert A2CPolicy.from_pretrained(folder).folder == folder
    with pytest.raises(MissingData, match="nowhere"):
        A2CPolicy.from_pretrained(tmp_path / "nowhere")


def test_a_network_of_another_kind_is_refused(folder: Path) -> None:
    class Other(A2CPolicy):
        kind = "webshop-a2c-other"

    with pytest.raises(DataMismatch, match="'webshop-a2c-bert', not 'webshop-a2c-other'"):
        Other.from_pretrained(folder)


def test_nothing_is_copied_over_something(folder: Path) -> None:
    with pytest.raises(InvalidSetting, match="exists already"):
        A2CPolicy(folder).save_pretrained(folder)


def test_unknown_draws_and_no_queries_are_refused() -> None:
    with pytest.raises(UnknownName, match="argmax"):
        A2CPolicy(draw="argmx")  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting, match="1 query at least"):
        queries_of(None, 0)
