"""Goals in people's own words, with what the games that they describe ask for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.store import GameStore
from llm_gym.errors import MissingData
from llm_gym.policies.alfworld.goals import Errand, read_goal
from llm_gym.policies.alfworld.places import word_of


class GoalExample(NamedTuple):
    """A sentence of somebody who saw the solution, the kinds of places of the room, and what was meant."""

    game: str
    """Its task id."""
    sentence: str
    places: frozenset[str]
    errand: Errand


def goal_examples(store: GameStore, split: str, *, templated: bool = False) -> list[GoalExample]:
    """Every sentence about the games of a split; a game whose task is none of the six kinds is left out.

    Args:
        store: of games.
        split: name of one of its splits.
        templated: the games' own sentences instead of people's, which every store has: to try a training.

    Raises:
        MissingData: nobody wrote about these games, or there are none.
    """
    found: list[GoalExample] = []
    for entry in store.entries(split):
        game = store.game(split, entry.task_id)
        errand = read_goal(game.goal)
        sentences = (game.goal,) if templated else game.annotations
        if errand is not None and sentences:
            places = frozenset(map(word_of, House.of(game.problem).receptacle_names))
            found.extend(GoalExample(entry.task_id, sentence, places, errand) for sentence in sentences)
    if not found:
        raise MissingData(
            f"The games of split {split!r} of {store.name} have no goals that people wrote. Get games that have "
            "with `llm-gym download alfworld`."
        )
    return found


def vocabulary(parts: Iterable[Iterable[str]], least: int) -> tuple[str, ...]:
    """What occurs in at least so many of the parts, in alphabetical order."""
    counts: dict[str, int] = {}
    for part in parts:
        for one in set(part):
            counts[one] = counts.get(one, 0) + 1
    return tuple(sorted(one for one, count in counts.items() if count >= least))
