"""What differs from one session of a shopper to the next."""

from __future__ import annotations

import random
from dataclasses import dataclass

from llm_gym.policies.demonstrator.habits import Habits

_CARELESS_SESSIONS, _CARELESS = 0.2, 4.0
_CAREFUL = (1 - _CARELESS_SESSIONS * _CARELESS) / (1 - _CARELESS_SESSIONS)
"""So that skips and slips happen as often as the habits say, most of them in careless sessions."""
_QUERIES = {1: 0.2, 2: 0.55, 3: 0.2, 4: 0.05}
"""How many sessions have so many searches at most."""
_NEVER_TURNS, _TURNS = 0.5, 0.6
"""Sessions that turn no page of results, and the chance of the others to do so."""


@dataclass(frozen=True, slots=True)
class Temper:
    """What a shopper is up to in one session."""

    hope: float
    """Share of the wish that the first item must meet to be bought."""
    interest: float
    """Share of the wish that some title must show for a page of results to be worth a closer look."""
    carelessness: float
    """Factor on the chances of skips and slips."""
    items: int
    """Items to open before the best of them is bought."""
    patience: int
    """Pages to see before the best item is bought."""
    queries: int
    """Searches at most, but for the way back to an item."""
    tires: float
    """Chance to look elsewhere than on this page of results after an item that was left."""
    turns: float
    """Chance that elsewhere is the next page of results rather than another search."""

    @staticmethod
    def draw(habits: Habits, stream: random.Random) -> Temper:
        """A session; one in twenty goes on and on, since nothing is ever good enough."""
        if stream.random() < habits.wanders:
            return Temper(
                hope=1.2,
                carelessness=1.0,
                interest=stream.uniform(0.3, 0.6),
                items=stream.randint(5, 8),
                patience=stream.randint(42, 75),
                queries=5,
                tires=0.8,
                turns=0.95,
            )
        return Temper(
            carelessness=_CARELESS if stream.random() < _CARELESS_SESSIONS else _CAREFUL,
            hope=stream.uniform(*habits.hopes),
            interest=stream.uniform(*habits.interest),
            items=stream.randint(*habits.items),
            patience=40,
            queries=stream.choices(list(_QUERIES), list(_QUERIES.values()))[0],
            tires=0.2,
            turns=stream.choices((0.0, _TURNS), (_NEVER_TURNS, 1 - _NEVER_TURNS))[0],
        )
