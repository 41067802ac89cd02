"""What the agent reads: the text of the game, tidied, and the few observations that it keeps (its appendix B)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from llm_gym.envs.alfworld.wording import NOTHING_HAPPENS, TASK_PREFIX, WELCOME

SEPARATOR = " [SEP] "
"""Between observations, and between an observation and the action before it."""
RESTART = "restart"
"""The action before the first observation."""

_LIST = re.compile(r"(?<=you see )(?!nothing)[^.]+")


def tidied(observation: str) -> str:
    r"""One line without greeting and task, every list of things in alphabetical order, without articles and commas.

    >>> tidied("On the shelf 1, you see a vase 2,\n a book 1, and a vase 1.")
    'On the shelf 1, you see book 1 vase 1 vase 2.'
    """
    text = observation.removeprefix(WELCOME).partition(TASK_PREFIX)[0]
    return _LIST.sub(lambda found: _sorted(found[0]), " ".join(text.split()))


def _sorted(things: str) -> str:
    return " ".join(sorted(thing.removeprefix("and ").removeprefix("a ") for thing in things.split(", ")))


@dataclass(frozen=True, slots=True)
class ObservationPool:
    """What of an episode is still before the agent's eyes: what it saw first, and the last few that differ."""

    capacity: int
    first: str = ""
    """What was seen first; empty before that."""
    recent: tuple[str, ...] = ()
    """Each with the action before it, the oldest first, at most `capacity`."""

    def after(self, observation: str, action: str) -> ObservationPool:
        """The pool when something more was seen.

        Args:
            observation: as the game says it.
            action: that led to it; `RESTART` for the first one.
        """
        text = tidied(observation)
        if action == RESTART:
            return ObservationPool(self.capacity, text)
        entry = text + SEPARATOR + action
        if text == NOTHING_HAPPENS or entry in self.recent:
            return self
        return replace(self, recent=(*self.recent, entry)[-self.capacity :])
