"""Returns against sums that are written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.training.a2c.returns import discounted


def by_definition(rewards: list[float], ended: list[bool], beyond: float, discount: float, step: int) -> float:
    """Σ γ^k r_{t+k} up to the end of the episode, or to the end of what was played and then γ^n V."""
    total = 0.0
    for distance, at in enumerate(range(step, len(rewards))):
        total += discount**distance * rewards[at]
        if ended[at]:
            return total
    return float(total + discount ** (len(rewards) - step) * beyond)


def test_a_reward_counts_less_the_earlier_the_decision() -> None:
    returns = discounted(np.array([[0.0], [0.0], [10.0]]), np.array([[False], [False], [True]]), np.array([99.0]), 0.5)
    assert returns.tolist() == [[2.5], [5.0], [10.0]]


def test_what_was_not_played_is_estimated_by_the_value() -> None:
    returns = discounted(np.array([[1.0], [2.0]]), np.array([[False], [False]]), np.array([4.0]), 0.5)
    assert returns.tolist() == [[1 + 0.5 * (2 + 0.5 * 4)], [2 + 0.5 * 4]]


def test_nothing_of_the_next_episode_counts() -> None:
    returns = discounted(np.array([[1.0], [7.0]]), np.array([[True], [False]]), np.array([4.0]), 0.5)
    assert returns.tolist() == [[1.0], [9.0]]


@given(
    data=st.data(),
    steps=st.integers(1, 9),
    environments=st.integers(1, 4),
    discount=st.floats(0, 1),
)
def test_they_are_the_discounted_sums(data: st.DataObject, steps: int, environments: int, discount: float) -> None:
    numbers, flags = st.floats(-10, 10), st.booleans()
    rewards, ended = (
        [data.draw(st.lists(kind, min_size=steps, max_size=steps)) for _ in range(environments)]
        for kind in (numbers, flags)
    )
    beyond = data.draw(st.lists(numbers, min_size=environments, max_size=environments))
    found = discounted(np.array(rewards).T, np.array(ended).T, np.array(beyond), discount)
    for place in range(environments):
        for step in range(steps):
            expected = by_definition(rewards[place], ended[place], beyond[place], discount, step)
            assert found[step, place] == pytest.approx(expected, abs=1e-9)
