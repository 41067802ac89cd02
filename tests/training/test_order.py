"""In which order examples come, and which share a batch."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from llm_gym.training.order import Batches

LENGTHS = [9, 1, 8, 2, 7, 3, 6, 4, 5, 5, 5]


@given(st.lists(st.integers(0, 99), min_size=1, max_size=50), st.integers(1, 9), st.integers(1, 5))
def test_every_example_comes_once_an_epoch(lengths: list[int], size: int, accumulate: int) -> None:
    found = list(Batches(lengths, size, accumulate, seed=3))
    assert sorted(number for batch in found for number in batch) == list(range(len(lengths)))
    assert len(found) == len(Batches(lengths, size, accumulate, seed=3))
    assert all(len(batch) == size for batch in found[:-1])


def test_an_update_sees_the_same_examples_however_they_are_divided() -> None:
    halves, quarters = list(Batches(LENGTHS, 4, 2, seed=1)), list(Batches(LENGTHS, 2, 4, seed=1))
    assert {*halves[0], *halves[1]} == {number for batch in quarters[:4] for number in batch}


def test_the_lengths_of_an_update_ascend() -> None:
    first, second, third = Batches(LENGTHS, 4, 2, seed=1)
    lengths = [LENGTHS[number] for number in (*first, *second)]
    assert lengths == sorted(lengths)
    assert [LENGTHS[number] for number in third] == sorted(LENGTHS[number] for number in third)


def test_every_epoch_and_every_seed_has_an_order_of_its_own() -> None:
    batches = Batches(LENGTHS, 11, 1, seed=1)
    unsorted = Batches([0] * 11, 11, 1, seed=1)
    first = list(unsorted)
    assert list(unsorted) == first
    unsorted.set_epoch(1)
    assert list(unsorted) != first
    assert list(Batches([0] * 11, 11, 1, seed=2)) != first
    assert [LENGTHS[number] for batch in batches for number in batch] == sorted(LENGTHS)
