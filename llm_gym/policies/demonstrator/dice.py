"""Chances that depend on what they decide, never on what was asked before."""

from __future__ import annotations

import random

from llm_gym.core import derive_seed


class Dice:
    """Random streams of one episode, one for each thing to decide.

    A shopper that is asked twice about the same thing decides alike, so that being asked for advice leaves no trace.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def stream(self, *about: str | int) -> random.Random:
        """The stream of one decision."""
        return random.Random(derive_seed(self._seed, *about))

    def happens(self, probability: float, *about: str | int) -> bool:
        return self.stream(*about).random() < probability
