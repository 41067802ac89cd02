"""The arithmetic of Lucene's BM25, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from llm_gym.envs.webshop.search import weights


@pytest.mark.parametrize(
    ("length", "kept"),
    # Above 23: 24 plus the excess with three bits behind its leading one: 100 - 24 = 76 = 1001100b, kept as 1001000b.
    [(0, 0), (1, 1), (23, 23), (24, 24), (39, 39), (40, 40), (41, 40), (42, 42), (100, 96), (1000, 984)],
)
def test_lengths_are_exact_to_39_and_rounded_down_above(length: int, kept: int) -> None:
    code = weights.encode_lengths(np.array([length]))
    assert weights.DECODED_LENGTHS[code] == [kept]


def test_every_code_stands_for_a_length_that_has_this_code() -> None:
    assert weights.encode_lengths(weights.DECODED_LENGTHS).tolist() == list(range(256))


def test_weight_of_a_term() -> None:
    # ln(1 + (3 - 1 + 0.5) / (1 + 0.5)) = ln(8 / 3)
    assert weights.term_weight(1, 1, 3) == np.float32(0.98082925301)
    assert weights.term_weight(2, 1, 3) == np.float32(2) * np.float32(0.98082925301)


def test_impact_of_a_term() -> None:
    # length 4, average 5: norm 1 / (0.9 · (0.6 + 0.4 · 0.8)) = 1.2077; twice in the document: 1 - 1 / (1 + 2.4155)
    norms = weights.inverse_norms(np.float32(5))[[4]]
    assert norms == pytest.approx(1.2077295)
    assert weights.impacts(np.float32(1), np.array([2], np.uint16), norms) == pytest.approx(0.70721358)
