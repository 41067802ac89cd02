"""The losses against NumPy, and where their gradients go."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

from llm_gym.policies.reinforcement.network import Judgement  # noqa: E402
from llm_gym.training.a2c.losses import Losses, losses  # noqa: E402

pytestmark = pytest.mark.torch

COUNTS = ((3, 2), (1, 4), (2, 2))
"""Actions of each situation; (T, N)."""
CHOSEN = [[2, 0], [0, 1], [1, 1]]
RETURNS = np.array([[1.0, -2.0], [0.5, 3.0], [0.0, 4.0]])


def scores() -> list[list[Any]]:
    """A score for each action, with a gradient; (T, N) of (A,)."""
    rng = np.random.default_rng(0)
    return [[torch.tensor(rng.normal(size=count), requires_grad=True) for count in step] for step in COUNTS]


def judgements(scored: list[list[Any]], values: Any) -> list[Judgement]:
    def padded(step: list[Any]) -> Any:
        rows = [row.log_softmax(0) for row in step]
        return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=-torch.inf)

    return [Judgement(padded(step), row) for step, row in zip(scored, values, strict=True)]


@pytest.fixture
def values() -> Any:
    return torch.tensor([[0.2, 1.0], [-1.0, 0.3], [2.0, 5.0]], dtype=torch.float64, requires_grad=True)


def found(scored: list[list[Any]], values: Any) -> Losses:
    return losses(judgements(scored, values), CHOSEN, torch.tensor(RETURNS))


def test_they_are_the_means_over_steps_of_the_means_over_environments_or_actions(values: Any) -> None:
    scored = scored_ = scores()
    policy, value, entropy, imitation = [], [], [], []
    for step, row in enumerate(scored_):
        shares = [np.exp(one.detach().numpy()) / np.exp(one.detach().numpy()).sum() for one in row]
        advantages = RETURNS[step] - values.detach().numpy()[step]
        logarithms = np.log([share[action] for share, action in zip(shares, CHOSEN[step], strict=True)])
        everything = np.concatenate(shares)
        policy.append(-np.mean(logarithms * advantages))
        value.append(np.mean(advantages**2))
        entropy.append(np.mean(everything * np.log(everything)))
        imitation.append(-np.mean(np.log(everything)))
    expected = [np.mean(part) for part in (policy, value, entropy, imitation)]
    assert [float(part.detach()) for part in found(scored, values)] == pytest.approx(expected)


def test_the_policy_learns_from_the_advantage_and_does_not_move_the_value(values: Any) -> None:
    scored = scores()
    found(scored, values).policy.backward()
    assert values.grad is None
    for step, row in enumerate(scored):
        for place, one in enumerate(row):
            advantage = RETURNS[step, place] - float(values.detach()[step, place])
            share = one.detach().softmax(0).numpy()
            chosen = np.eye(len(share))[CHOSEN[step][place]]
            expected = -advantage * (chosen - share) / RETURNS.size  # d log π(a) / d score = [a] - π
            assert one.grad.numpy() == pytest.approx(expected)


def test_the_value_is_drawn_to_the_return_and_does_not_move_the_policy(values: Any) -> None:
    scored = scores()
    found(scored, values).value.backward()
    assert all(one.grad is None for row in scored for one in row)
    assert values.grad.numpy() == pytest.approx(-2 * (RETURNS - values.detach().numpy()) / RETURNS.size)


def test_the_entropy_loss_makes_choices_more_even(values: Any) -> None:
    scored = scores()
    found(scored, values).entropy.backward()
    for row in scored:
        for one in row:
            moved = (one - 0.1 * one.grad).detach().softmax(0)
            before = one.detach().softmax(0)
            if len(one) > 1:
                assert -(moved * moved.log()).sum() > -(before * before.log()).sum()


def test_what_is_padded_gives_no_gradient_that_is_no_number(values: Any) -> None:
    scored = scores()
    sum(found(scored, values)).backward()
    assert all(np.isfinite(one.grad.numpy()).all() for row in scored for one in row)


def test_a_score_that_is_no_number_is_not_hidden(values: Any) -> None:
    scored = scores()
    scored[1][1] = torch.tensor([np.nan, 0.0, 1.0, 2.0])
    assert torch.isnan(found(scored, values).policy)
