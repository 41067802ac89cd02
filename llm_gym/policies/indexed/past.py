"""What was done in an episode so far: the one thing that the features know and the page does not say."""

from __future__ import annotations

from collections import Counter, deque

from llm_gym.policies.indexed.candidates import Candidate
from llm_gym.policies.lexical_match import words

_KEPT = 6
"""Actions whose words are in the state's vector."""


class Past:
    """The actions of an episode, as they were read."""

    def __init__(self) -> None:
        self.taken: Counter[str] = Counter()
        """Action → how often."""
        self.taken_here: Counter[tuple[str, str]] = Counter()
        """Observation and action → how often."""
        self.words: set[str] = set()
        """Of all that was done."""
        self._last: deque[str] = deque(maxlen=_KEPT)

    def remember(self, observation: str, candidate: Candidate) -> None:
        """It was chosen where this was seen."""
        self.taken[candidate.action] += 1
        self.taken_here[observation, candidate.action] += 1
        self.words.update(words(candidate.subject))
        self._last.append(candidate.text)

    @property
    def texts(self) -> tuple[str, ...]:
        """The last few actions, oldest first."""
        return tuple(self._last)

    def share_of(self, goal: str) -> float:
        """Of the goal's words, those that an action held."""
        wanted = frozenset(words(goal))
        return len(wanted & self.words) / max(1, len(wanted))

    @property
    def last_words(self) -> frozenset[str]:
        """Of the last action."""
        return frozenset(words(self._last[-1])) if self._last else frozenset()
