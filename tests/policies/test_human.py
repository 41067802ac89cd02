"""A person as a policy, with somebody else's fingers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from llm_gym.policies import HumanPolicy
from llm_gym.policies.human import show_in_terminal

ACTIONS = ["left", "right", "open"]


class Person:
    """Types prepared answers and then nothing more; keeps what it was shown."""

    def __init__(self, *answers: str) -> None:
        self._answers: Iterator[str] = iter(answers)
        self.shown: list[str] = []

    def ask(self, question: str) -> str:
        for answer in self._answers:
            return answer
        raise EOFError

    def act(self, **info: Any) -> str | None:
        known: Any = {"admissible_actions": ACTIONS, **info}
        decision = HumanPolicy(self.ask, self.shown.append).act("You are in a room.", known)
        return decision.action


@pytest.mark.parametrize(
    ("answer", "action"),
    [("1", "left"), ("3", "open"), (" 2 ", "right"), ("jump up", "jump up"), ("quit", None), ("QUIT", None)],
)
def test_a_number_an_action_or_quit(answer: str, action: str | None) -> None:
    assert Person(answer).act() == action


def test_the_end_of_the_input_stops() -> None:
    assert Person().act() is None


def test_the_page_is_shown_and_then_the_numbered_actions() -> None:
    person = Person("1")
    person.act()
    assert person.shown == ["You are in a room.", "  1  left\n  2  right\n  3  open"]


@pytest.mark.parametrize("number", ["0", "4", "99999999999999999999", "²"])
def test_a_number_that_is_not_shown_is_asked_for_again(number: str) -> None:
    person = Person(number, "2")
    answer = person.act()
    if number == "²":  # no decimal digit: a word like any other
        assert answer == "²"
        return
    assert answer == "right"
    assert person.shown[-1] == f"There is no action {number}: the numbers go from 1 to 3."


def test_an_empty_answer_is_asked_for_again() -> None:
    person = Person("", "  ", "1")
    assert person.act() == "left"
    assert person.shown[-1] == "Please answer with a number, an action, or quit."


def test_where_no_actions_are_listed_a_number_is_an_action() -> None:
    person = Person("42")
    assert person.act(admissible_actions=None) == "42"
    assert person.shown == ["You are in a room."]


def test_why_nothing_happened_is_shown_first() -> None:
    person = Person("1")
    person.act(invalid_action="There is a wall.")
    assert person.shown[0] == "Nothing happened: There is a wall."


def test_the_terminal_shows_a_paragraph(capsys: pytest.CaptureFixture[str]) -> None:
    show_in_terminal("[button] Buy Now [button_]")
    assert capsys.readouterr().out == "[button] Buy Now [button_]\n\n"
