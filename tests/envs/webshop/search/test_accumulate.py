"""Scores are the same whichever way they are added up."""

from __future__ import annotations

import numpy as np
import pytest

from llm_gym.envs.webshop.search.accumulate import Part, total_scores, total_with_numba, total_with_numpy
from llm_gym.extras import installed


def _parts(documents: int) -> list[Part]:
    generator = np.random.default_rng(0)
    chosen = [np.sort(generator.choice(documents, size, replace=False)).astype(np.int32) for size in (1, 40, 900)]
    return [(numbers, generator.random(len(numbers), np.float32)) for numbers in chosen]


def test_scores_are_sums_of_impacts() -> None:
    first = np.array([0, 2], np.int32), np.array([1.5, 2.0], np.float32)
    second = np.array([2], np.int32), np.array([0.25], np.float32)
    assert total_scores([first, second], 4).tolist() == [1.5, 0.0, 2.25, 0.0]


@pytest.mark.skipif(not installed("numba"), reason="numba is not installed: pip install 'llm-gym[numba]'")
@pytest.mark.parametrize("documents", [1_000, 60_000])
def test_numba_gives_the_same_scores(documents: int) -> None:
    parts = _parts(documents)
    expected = total_with_numpy(parts, documents)
    assert np.array_equal(total_with_numba(parts, documents), expected)
    assert np.array_equal(total_scores(parts, documents), expected)
