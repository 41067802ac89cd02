"""A policy that follows suggestions, now and then."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import binomtest

from llm_gym.core import Decision, Opinion
from llm_gym.errors import InvalidSetting
from llm_gym.policies import HeedingPolicy, Policy


class Stays(Policy):
    """Stays, and keeps what it is told."""

    name = "stays"

    def __init__(self) -> None:
        self.noted: list[str] = []

    def act(self, observation: str, info: Any) -> Decision:
        return Decision("stay")

    def note(self, observation: str, info: Any, action: str) -> None:
        self.noted.append(action)


ADVISED: Any = {"opinions": [Opinion("go"), Opinion("run")]}


def test_it_takes_the_first_opinion_and_says_so_to_its_policy() -> None:
    stays = Stays()
    assert HeedingPolicy(stays).act("", ADVISED).action == "go"
    assert stays.noted == ["go"]


@pytest.mark.parametrize("info", [{}, {"opinions": []}])
def test_without_opinions_its_policy_decides(info: Any) -> None:
    assert HeedingPolicy(Stays()).act("", info).action == "stay"


def test_it_heeds_with_the_probability_given() -> None:
    policy = HeedingPolicy(Stays(), 0.3)
    policy.reset(seed=1)
    heeded = sum(policy.act("", ADVISED).action == "go" for _ in range(4_000))
    assert binomtest(heeded, 4_000, 0.3).pvalue > 0.001
    never = HeedingPolicy(Stays(), 0.0)
    assert not any(never.act("", ADVISED).action == "go" for _ in range(100))


def test_a_probability_lies_between_0_and_1() -> None:
    with pytest.raises(InvalidSetting, match=r"probability must lie between 0 and 1, got 1\.5"):
        HeedingPolicy(Stays(), 1.5)
