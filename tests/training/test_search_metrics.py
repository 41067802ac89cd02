"""How good queries are, worked out by hand or looked up in the shop itself."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing

import gymnasium as gym
import numpy as np
import pytest

from llm_gym.errors import InvalidSetting
from llm_gym.training.search_metrics import Asked, Ranks, agreement, asked_in, gained, ranks, token_f1

MakeEnv = Callable[..., gym.Env[str, str]]


@pytest.mark.parametrize(
    ("query", "reference", "expected"),
    [("a b", "b a", 1), ("a a b", "a b c", 2 / 3), ("a", "b", 0), ("", "a", 0), ("a a a a", "a", 0.4)],
)
def test_words_are_counted_as_often_as_they_occur(query: str, reference: str, expected: float) -> None:
    assert token_f1(query, reference) == pytest.approx(expected)


def test_a_query_is_held_against_the_nearest_of_peoples() -> None:
    references = {"a red shoe": ["shoe", "red shoe"], "a blue hat": ["hat blue wool"]}
    found = agreement(lambda goal: goal.removeprefix("a "), references)
    assert found == {"goals": 2, "exact": 0.5, "token_f1": pytest.approx((1 + 0.8) / 2)}


def test_recall_and_reciprocal_rank() -> None:
    found = Ranks(np.array([1, 4, np.inf, 20])).to_json()
    expected = {"recall@1": 0.25, "recall@10": 0.5, "recall@50": 0.75, "mrr": (1 + 0.25 + 0 + 0.05) / 4}
    assert found == pytest.approx(expected)


def test_the_difference_is_of_the_same_goals_and_its_interval_of_products() -> None:
    asked = [Asked("", "A"), Asked("", "A"), Asked("", "B"), Asked("", "B")]
    first, second = Ranks(np.array([1, 1, 2, 2.0])), Ranks(np.array([2, 2, 2, 2.0]))
    found = gained(first, second, asked)
    assert found["recall@1"] == [0.5, 0, 1]  # product A gains on both of its goals, B on none
    assert found["mrr"] == [0.25, 0, 0.5]
    assert found["recall@10"] == [0, 0, 0]


def test_places_are_those_of_the_pages_of_results(make_env: MakeEnv) -> None:
    with closing(make_env("llm_gym/WebShop-v1", split="dev")) as env:
        asked = asked_in(env)[:6]
        found = ranks(env, asked, lambda goal: " ".join(goal.split()[3:9])).places
        for one, place in zip(asked, found, strict=True):
            env.reset()
            *_, info = env.step(f"search[{' '.join(one.instruction.split()[3:9])}]")
            page = [result.asin for result in info["results"]]
            assert (one.asin in page) == (place <= 10)
            assert one.asin not in page or page.index(one.asin) + 1 == place


def test_a_world_that_is_no_shop_is_told(make_env: MakeEnv) -> None:
    with pytest.raises(InvalidSetting, match="Corridor is none"):
        asked_in(make_env("llm_gym/Corridor-v0"))
