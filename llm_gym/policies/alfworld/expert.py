"""An expert of ALFWorld that sees what any player sees."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, Literal

from llm_gym.core import Decision, Info, Opinion
from llm_gym.errors import UnknownName
from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goals import Errand, read_goal
from llm_gym.policies.alfworld.paraphrases import readings
from llm_gym.policies.alfworld.places import word_of
from llm_gym.policies.alfworld.tactics import best_commands, is_vain
from llm_gym.policies.base import Policy

READERS: Final = ("learned", "rules")

_ALWAYS_ADMISSIBLE = {"look", "inventory"}
_DEAD_END = "Nothing that I know of would help: what I hold can be put nowhere, or what I need is not here."


class ALFWorldExpertPolicy(Policy):
    """Search the likeliest place for its trouble, open what is shut, remember what was seen, do what the goal asks.

    It reads observation, goal and admissible commands, nothing of the world. Whatever somebody else did meanwhile, it
    goes on from there, so it can be asked for advice at any state, as long as it is shown every observation.

    Args:
        goals: how goals in people's own words are read: "learned" by a `GoalReader`, or by "rules" and a list of
            phrases. The sentences of the releases leave no doubt.
    """

    name = "expert"

    def __init__(self, goals: Literal["learned", "rules"] = "learned") -> None:
        if goals not in READERS:
            raise UnknownName("reader of goals", goals, READERS)
        self.goals = goals
        self.reset()

    def settings(self) -> dict[str, Any]:
        return {"goals": _learned().digest if self.goals == "learned" else self.goals}

    def reset(self, seed: int | None = None, trial: int = 0) -> None:
        self._belief = Belief()
        self._vain: set[Errand] = set()
        """Readings of the goal that were tried, and were not what was meant."""

    def act(self, observation: str, info: Info) -> Decision:
        commands, rationale = self._considered(observation, info)
        return Decision(commands[0] if commands else None, rationale)

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]:
        """Up to `k` commands, all equally good: of two drawers never opened neither is the better."""
        commands, _ = self._considered(observation, info)
        return [Opinion(command, source=self.name) for command in commands[:k]]

    def _considered(self, observation: str, info: Info) -> tuple[list[str], str]:
        """The equally good commands, and why there are none."""
        admissible = info.get("admissible_actions") or []
        if not _ALWAYS_ADMISSIBLE.issubset(admissible):
            return [], "This is no game of ALFWorld, or it is over."
        self._belief.see(info.get("page", observation), admissible)
        goal = info.get("goal", "")
        errands = _errands(goal, frozenset(map(word_of, self._belief.places)), self.goals)
        self._vain.update(errand for errand in errands if is_vain(errand, self._belief))
        for errand in sorted(errands, key=lambda one: (one in self._vain, not self._belief.knows(one.thing))):
            if commands := best_commands(errand, self._belief):
                return commands, ""
        return [], _DEAD_END if errands else f"I do not understand the goal: {goal}"


@lru_cache(maxsize=1024)
def _errands(goal: str, places: frozenset[str], reader: str) -> tuple[Errand, ...]:
    """What a goal may ask for, the best guess first; the sentences of the releases leave no doubt."""
    errand = read_goal(goal)
    if errand is not None:
        return (errand,)
    return tuple(_learned().readings(goal, places) if reader == "learned" else readings(goal, places))


@lru_cache(maxsize=1)
def _learned() -> GoalReader:
    """The reader that comes with the package; its model is read when it is first needed."""
    return GoalReader()
