"""Bi-attention against its formula, and the original's defect on paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs the extra torch")

pytestmark = pytest.mark.torch

Array = Any


def attention(width: int, legacy: bool = False) -> Any:
    from llm_gym.policies.imitation.bi_attention import BiAttention

    return BiAttention(width, legacy)


def by_the_formula(one: Any, action: Array, memory: Array) -> Array:
    """The features of the real tokens of one action, each number written out as the paper's code defines it."""
    w1, w2, w3 = (
        values.detach().numpy().reshape(-1)
        for values in (one.action_weight.weight, one.memory_weight.weight, one.dot_scale)
    )
    att = np.array([[w1 @ a + w2 @ s + (a * w3) @ s for s in memory] for a in action])
    u = np.array([sum(p * s for p, s in zip(softmax(row), memory, strict=True)) for row in att])
    v = sum(p * a for p, a in zip(softmax(att.max(1)), action, strict=True))
    return np.array([np.concatenate([a, found, a * found, v * found]) for a, found in zip(action, u, strict=True)])


def softmax(values: Array) -> Array:
    exponentials = np.exp(values - values.max())
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("seed", range(5))
def test_features_are_those_of_the_formula_over_the_real_tokens(seed: int) -> None:
    rng = np.random.default_rng(seed)
    width, counts, remembered = 4, rng.integers(1, 6, 3), int(rng.integers(1, 7))
    actions, memory = rng.normal(size=(3, 5, width)), rng.normal(size=(7, width))
    mask = np.arange(5) < counts[:, None]
    one = attention(width).double()
    features = one(
        torch.tensor(actions), torch.tensor(mask), torch.tensor(memory), torch.arange(7) < remembered
    ).detach()
    for action, count, its_features in zip(actions, counts, features, strict=True):
        expected = by_the_formula(one, action[:count], memory[:remembered])
        assert its_features[:count].numpy() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(("legacy", "gist"), [(False, 2.0), (True, 2 * math.e**2 / (math.e**2 + 1))])
def test_only_the_original_lets_padding_into_the_gist(legacy: bool, gist: float) -> None:
    """Width 1, w1 = w2 = 0, w3 = 1, one state token of 1: att_i = a_i.

    The action is one token of 2 and one padding that the encoder turned into 0. Of the real token alone v = 2; over
    both v = (2·e² + 0·e⁰) / (e² + e⁰).
    """
    one = attention(1, legacy)
    with torch.no_grad():
        one.action_weight.weight.zero_()
        one.memory_weight.weight.zero_()
        one.dot_scale.fill_(1)
    mask = torch.tensor([[True, False]])
    features = one(torch.tensor([[[2.0], [0.0]]]), mask, torch.tensor([[1.0]]), torch.tensor([True]))
    assert features[0, 0].tolist() == pytest.approx([2, 1, 2, gist])


def test_the_scale_of_products_begins_between_one_over_the_root_of_the_width_and_one() -> None:
    scale = attention(400).dot_scale
    assert 1 / 20 <= scale.min() < 0.1
    assert 0.95 < scale.max() <= 1
