"""Follows an episode of ALFWorld for the memory student: what is seen becomes what its network reads."""

from __future__ import annotations

from llm_gym.core import Info
from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goals import Errand, read_goal
from llm_gym.policies.alfworld.memory.features import Choices, Vocabulary, choices
from llm_gym.policies.alfworld.places import word_of
from llm_gym.policies.alfworld.tactics import is_vain

_ALWAYS_ADMISSIBLE = {"look", "inventory"}


class Player:
    """The memory of one episode.

    Args:
        vocabulary: of the network.
        reader: of goals in people's own words.
        remembers: False: forget before each observation what was known, and see only what is in view.
    """

    def __init__(self, vocabulary: Vocabulary, reader: GoalReader, *, remembers: bool = True) -> None:
        self._vocabulary = vocabulary
        self._reader = reader
        self._remembers = remembers
        self._belief = Belief()
        self._vain: set[Errand] = set()
        """Readings of the goal that were tried, and were not what was meant."""

    def see(self, observation: str, info: Info) -> Choices | str:
        """The choices that are open now; or why there are none, in a sentence."""
        admissible = info.get("admissible_actions") or []
        if not _ALWAYS_ADMISSIBLE.issubset(admissible):
            return "This is no game of ALFWorld, or it is over."
        if not self._remembers:
            self._belief = Belief()
        self._belief.see(info.get("page", observation), admissible)
        goal = info.get("goal", "")
        errand = read_goal(goal) or self._read_freely(goal)
        if errand is None:
            return f"I do not understand the goal: {goal}"
        return choices(errand, self._belief, admissible, self._vocabulary)

    def _read_freely(self, goal: str) -> Errand | None:
        """The likeliest reading of a goal that is no template's, of those not tried in vain if there are any."""
        readings = self._reader.readings(goal, frozenset(map(word_of, self._belief.places)))
        self._vain.update(errand for errand in readings if is_vain(errand, self._belief))
        return min(readings, key=self._vain.__contains__, default=None)
