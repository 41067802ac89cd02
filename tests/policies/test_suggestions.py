"""Opinions in words."""

from __future__ import annotations

import ast
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from llm_gym.core import Opinion
from llm_gym.policies.prompts import prompt
from llm_gym.policies.suggestions import LONGER, phrased, suggested, suggestion_text

ONE = """\
Here is a suggestion for the next command: click with 'buy now'.
Take it as a reference and judge independently."""
SEVERAL = """\
Here are some suggestions for the next command: search with 'red shoe', click with '< prev', go to desk 1.
Take them as a reference and judge independently."""


def opinions(*actions: str) -> list[Opinion]:
    return [Opinion(action) for action in actions]


def test_one_suggestion_in_words() -> None:
    assert suggestion_text(opinions("click[buy now]")) == ONE


def test_several_suggestions_in_words() -> None:
    assert suggestion_text(opinions("search[red shoe]", "click[< prev]", "go to desk 1")) == SEVERAL


def test_no_suggestion_has_no_words() -> None:
    assert suggestion_text([]) == ""


def test_the_prompt_holds_nothing_but_its_texts() -> None:
    assert set(prompt("opinion")) == {"one", "several"}
    assert not any("<!--" in text or "#" in text for text in prompt("opinion").values())


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("search[a [b] c]", "search with 'a [b] c'"),
        ("search[]", "search with ''"),
        ("search[ shoe ]", "search with ' shoe '"),
        ("click[women's]", 'click with "women\'s"'),
        ("search[two\nlines]", r"search with 'two\nlines'"),
        ("search[{suggestion}]", "search with '{suggestion}'"),
        ("put mug 1 in/on desk 1", "put mug 1 in/on desk 1"),
        ("go, then look", "'go, then look'"),
        ("", "''"),
        ("search[half", "search[half"),
    ],
)
def test_an_action_in_words(action: str, words: str) -> None:
    assert phrased(action) == words


def read_back(text: str) -> list[str]:
    """The actions of a suggestion text, by a reader of its own."""
    listed = text.partition("next command: ")[2].rpartition(".\nTake ")[0]
    quoted = re.compile(r"""(?:(\w+) with )?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")
    actions: list[str] = []
    while listed:
        match = quoted.match(listed)
        if match:
            argument = ast.literal_eval(match[2])
            actions.append(f"{match[1]}[{argument}]" if match[1] else argument)
            listed = listed[match.end() :].removeprefix(", ")
        else:
            plain, _, listed = listed.partition(", ")
            actions.append(plain)
    return actions


tools = st.builds(lambda tool, argument: f"{tool}[{argument}]", st.from_regex(r"\w+", fullmatch=True), st.text())


@given(st.lists(tools | st.text(), min_size=1, max_size=4))
@example(["click['], click with ["])
@example(["a with b", "b[\\]", "x. \nTake "])
def test_the_actions_can_be_read_back_from_the_words(actions: list[str]) -> None:
    assert read_back(suggestion_text(opinions(*actions))) == actions


@given(tools | st.text(st.characters(), max_size=30))
def test_words_are_not_longer_than_promised(action: str) -> None:
    assert len(phrased(action)) + len(", ") <= LONGER * (len(action) + 1)


def test_opinions_come_after_those_that_are_there() -> None:
    info: Any = {"page": "p", "opinions": opinions("a")}
    text, seen = suggested("p", info, opinions("b"), append=True)
    assert seen["opinions"] == opinions("a", "b")
    assert text == f"p\n\n{suggestion_text(opinions('b'))}"
    assert info == {"page": "p", "opinions": opinions("a")}


def test_without_words_or_without_opinions_the_observation_stays() -> None:
    assert suggested("p", {}, opinions("b"), append=False)[0] == "p"
    assert suggested("p", {}, [], append=True) == ("p", {"opinions": []})
