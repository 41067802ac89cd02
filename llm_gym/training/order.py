"""In which order examples are seen, and which of them are computed together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Batches:
    """Numbers of the examples of each batch of an epoch; a batch sampler of torch.

    Every epoch has an order of its own, drawn from the seed. The examples of one update are then divided by length, so
    that batches need little padding: what an update sees, and so the update itself, does not depend on it.

    Args:
        lengths: of the examples, in any unit.
        batch_size: examples of a batch; the last of an epoch may have fewer.
        accumulate: batches of an update.
        seed: of the orders.
    """

    drop_last = False

    def __init__(self, lengths: Sequence[int], batch_size: int, accumulate: int, seed: int) -> None:
        self.lengths = np.asarray(lengths)
        self.batch_size = batch_size
        self.accumulate = accumulate
        self.seed = seed
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return math.ceil(len(self.lengths) / self.batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        order = np.random.default_rng((self.seed, self.epoch)).permutation(len(self.lengths))
        together = self.batch_size * self.accumulate
        for start in range(0, len(order), together):
            update = order[start : start + together]
            yield from batches(update[np.argsort(self.lengths[update], kind="stable")].tolist(), self.batch_size)


def batches(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """Portions of a list, in its order.

    >>> list(batches([4, 7, 1], 2))
    [[4, 7], [1]]
    """
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
