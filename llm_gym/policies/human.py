"""A person at a terminal as a policy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from llm_gym.core import Decision, Info
from llm_gym.policies.base import Policy

QUIT = "quit"
_QUESTION = "Your action (a number, the action itself, or quit): "


def show_in_terminal(text: str) -> None:
    """Write a paragraph to standard output."""
    sys.stdout.write(f"{text}\n\n")


class HumanPolicy(Policy):
    """Shows the page with numbered actions and takes a number or an action in words.

    "quit", or the end of the input (Ctrl-D), stops the episode. Words need not be among the actions shown: the world
    judges them, as it does for every agent.

    Args:
        ask: puts a question and returns the answer; raises `EOFError` when there will be no more.
        show: shows a paragraph.
    """

    name = "human"

    def __init__(self, ask: Callable[[str], str] = input, show: Callable[[str], None] = show_in_terminal) -> None:
        self.ask = ask
        self.show = show

    def act(self, observation: str, info: Info) -> Decision:
        numbered = {str(number): action for number, action in enumerate(info.get("admissible_actions") or [], 1)}
        if "invalid_action" in info:
            self.show(f"Nothing happened: {info['invalid_action']}")
        self.show(observation)
        if numbered:
            self.show("\n".join(f"{number:>3}  {action}" for number, action in numbered.items()))
        return Decision(self._answer(numbered))

    def _answer(self, numbered: Mapping[str, str]) -> str | None:
        """The action chosen; None to stop. Asks until the answer can be one."""
        while True:
            try:
                answer = self.ask(_QUESTION).strip()
            except EOFError:
                return None
            if answer.lower() == QUIT:
                return None
            if not answer:
                self.show("Please answer with a number, an action, or quit.")
            elif answer in numbered:
                return numbered[answer]
            elif numbered and answer.isdecimal():
                self.show(f"There is no action {answer}: the numbers go from 1 to {len(numbered)}.")
            else:
                return answer
