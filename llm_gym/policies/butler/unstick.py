"""How the text agent frees itself where its commands fail: it tries others of its beam search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from llm_gym.envs.alfworld.wording import NOTHING_HAPPENS


@dataclass(frozen=True, slots=True)
class Trouble:
    """What did not work, and what is left to try; empty while all goes well."""

    failed: frozenset[str] = frozenset()
    untried: tuple[str, ...] = ()

    def after(self, observation: str, action: str | None) -> Trouble:
        """What is known when an action, if any, was answered so."""
        if action is None or NOTHING_HAPPENS not in observation:
            return self
        return Trouble(self.failed | {action}, self.untried)

    def choice(self, greedy: str, last: str | None, alternatives: Callable[[], Sequence[str]]) -> tuple[str, Trouble]:
        """The action that is taken, and what is known then.

        As long as the greedy command is one that failed, the alternatives are tried in turn; when it is another, all
        is well again.

        Args:
            greedy: the likeliest command.
            last: the action before.
            alternatives: gives commands of a beam search, the best first; asked only where they are needed.
        """
        if greedy not in self.failed:
            return greedy, Trouble()
        untried = self.untried or tuple(alternatives())
        untried = tuple(command for command in untried if command != last)
        if not untried:
            return greedy, self
        return untried[0], Trouble(self.failed, untried[1:])
