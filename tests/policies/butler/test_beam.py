"""The beam search against all sequences there are."""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

from llm_gym.policies.butler.beam import beams

END, SYMBOLS, LONGEST = 0, 3, 4
Tokens = tuple[int, ...]


def following(tokens: Tokens, seed: int) -> npt.NDArray[np.float64]:
    """A distribution of its own after every beginning."""
    shares = np.random.default_rng([seed, *tokens]).dirichlet(np.ones(SYMBOLS))
    logarithms: npt.NDArray[np.float64] = np.log(shares)
    return logarithms


def by_brute_force(seed: int) -> list[tuple[float, Tokens, float]]:
    """Minus mean log-probability, tokens, log-probability of all finished sequences, the best first."""
    found = []
    for length in range(LONGEST):
        for tokens in product(range(1, SYMBOLS), repeat=length):
            whole = (*tokens, END)
            total = sum(float(following(whole[:at], seed)[token]) for at, token in enumerate(whole))
            found.append((-total / len(whole), tokens, total))
    return sorted(found)


@pytest.mark.parametrize("seed", range(10))
def test_with_room_enough_it_finds_every_sequence_with_its_probability(seed: int) -> None:
    found = beams(lambda tokens: following(tokens, seed), END, longest=LONGEST, width=SYMBOLS, finished=1000)
    expected = by_brute_force(seed)
    assert [written.tokens for written in found] == [tokens for _, tokens, _ in expected]
    assert [written.log_probability for written in found] == pytest.approx([total for *_, total in expected])


def test_it_follows_the_better_beginning_first_and_stops_at_the_wanted_number() -> None:
    tree = {(): [0.1, 0.6, 0.3], (1,): [0.9, 0.05, 0.05], (2,): [0.5, 0.25, 0.25]}
    asked: list[Tokens] = []

    def extend(tokens: Tokens) -> npt.NDArray[np.float64]:
        asked.append(tokens)
        return np.log(tree[tokens])

    [best] = beams(extend, END, longest=3, width=3, finished=1)
    assert best.tokens == (1,)
    assert best.log_probability == pytest.approx(np.log(0.6 * 0.9))
    assert asked == [(), (1,)]


def test_a_sequence_that_does_not_end_in_time_is_dropped() -> None:
    assert beams(lambda tokens: np.log([0.0001, 0.9999]), END, longest=3, width=1) == []


def test_it_gives_up_when_too_much_waits() -> None:
    asked: list[Tokens] = []

    def extend(tokens: Tokens) -> npt.NDArray[np.float64]:
        asked.append(tokens)
        return np.log(np.full(10, 0.1))

    beams(extend, END, longest=50, width=10, finished=50, most=30)
    assert len(asked) == 4  # each adds nine: 9, 18, 27, then 36 or more wait
