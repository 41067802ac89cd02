"""Sessions beside those of people: 50 published ones, the queries of 1,506 goals, the experts of the WebShop paper."""

from __future__ import annotations

import gymnasium as gym
import pytest

import llm_gym  # noqa: F401
from llm_gym.demonstrations import record
from llm_gym.demonstrations.statistics import ShopStatistics
from llm_gym.policies.demonstrator import DemonstratorPolicy


def statistics(level: str, number: int) -> ShopStatistics:
    env = gym.make("llm_gym/WebShop-v1", split="train")
    tasks = env.unwrapped.panel[:number]  # type: ignore[attr-defined]
    recorded = record(env, DemonstratorPolicy(level), tasks)  # type: ignore[arg-type]
    return ShopStatistics.of(one.demonstration for one in recorded if one.demonstration is not None)


@pytest.fixture(scope="module")
def expert() -> ShopStatistics:
    return statistics("expert", 150)


@pytest.mark.parametrize(
    ("name", "people", "apart"),
    [
        ("searches", 1.40, 0.25),  # of the paper's experts
        ("items", 1.9, 0.35),  # of the paper's experts
        ("pages_mean", 11.3, 2.5),  # of the paper's experts
        ("sub_pages", 1.2, 0.4),
        ("one_search", 0.75, 0.15),
        ("bought_first_opened", 0.76, 0.15),
        ("bought", 1.0, 0.0),
    ],
)
def test_sessions_are_like_those_of_people(expert: ShopStatistics, name: str, people: float, apart: float) -> None:
    assert getattr(expert.sessions, name) == pytest.approx(people, abs=apart)


@pytest.mark.parametrize(("name", "people", "apart"), [("words_mean", 6.7, 0.7), ("without_price", 0.947, 0.04)])
def test_queries_are_like_those_of_people(expert: ShopStatistics, name: str, people: float, apart: float) -> None:
    assert getattr(expert.queries, name) == pytest.approx(people, abs=apart)


@pytest.mark.parametrize(
    ("relation", "people"), [("copy", 0.0), ("span", 0.40), ("subset", 0.16), ("reordered", 0.16), ("inflected", 0.05)]
)
def test_queries_relate_to_instructions_as_those_of_people(
    expert: ShopStatistics, relation: str, people: float
) -> None:
    assert expert.queries.first[relation] == pytest.approx(people, abs=0.15)  # type: ignore[index]


def test_an_average_shopper_does_less_and_succeeds_less(expert: ShopStatistics) -> None:
    average = statistics("average", 150).sessions
    assert average.items < expert.sessions.items
    assert average.sub_pages < expert.sessions.sub_pages
    assert average.success < expert.sessions.success - 0.05
    assert 0.28 < average.success < 0.5  # people: 0.36 in the published sessions, 0.50 of all workers
