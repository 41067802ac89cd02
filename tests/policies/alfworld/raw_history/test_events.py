"""What the history student reads of a text, in words and in numbers."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.core import Info
from llm_gym.envs.alfworld.wording import NOTHING_HAPPENS
from llm_gym.policies.alfworld.memory.features import Vocabulary
from llm_gym.policies.alfworld.raw_history.events import KINDS, Event, History, deed, known_words, sights

WORDS = Vocabulary(["drawer", "mug", "pen", "put", "shelf"])
"""Numbers 2 to 6; 0 is an unknown word, 1 none."""


def kind(name: str) -> int:
    return KINDS.index(name)


def info(page: str, *commands: str, goal: str = "put a mug in shelf.") -> Info:
    return {"page": page, "goal": goal, "admissible_actions": list(commands)}


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (
            "You arrive at shelf 2. On the shelf 2, you see a pen 1, and a mug 3.",
            [("see", "pen 1", "shelf 2"), ("see", "mug 3", "shelf 2")],
        ),
        ("You arrive at loc 7. On the shelf 2, you see a pen 1.", [("see", "pen 1", "shelf 2")]),
        ("You arrive at drawer 1. The drawer 1 is closed.", [("closed", "", "drawer 1")]),
        (
            "You open the drawer 1. The drawer 1 is open. In it, you see a pen 1, a pen 2, and a mug 1.",
            [("see", thing, "drawer 1") for thing in ("pen 1", "pen 2", "mug 1")],
        ),
        ("The drawer 1 is open. In it, you see nothing.", [("see", "", "drawer 1")]),
        ("You are carrying: a mug 2.", [("see", "mug 2", "")]),
        ("You close the drawer 1.", []),
        ("You are in the middle of a room. Looking quickly around you, you see a drawer 2, and a shelf 1.", []),
        (NOTHING_HAPPENS, []),
        ("", []),
    ],
)
def test_what_is_seen(text: str, events: list[tuple[str, str, str]]) -> None:
    assert sights(text) == [Event(*event) for event in events]


@pytest.mark.parametrize(
    ("command", "event"),
    [
        ("go to shelf 2", ("go", "", "shelf 2")),
        ("take mug 1 from shelf 2", ("take", "mug 1", "shelf 2")),
        ("move mug 1 to shelf 2", ("put", "mug 1", "shelf 2")),
        ("put mug 1 in/on shelf 2", ("put", "mug 1", "shelf 2")),
        ("use desklamp 1", ("use", "desklamp 1", "")),
        ("sing", ("", "", "")),
    ],
)
def test_what_was_done(command: str, event: tuple[str, str, str]) -> None:
    assert deed(command, "Something.") == Event(*event)
    assert deed(command, NOTHING_HAPPENS) == Event("refused", *event[1:])


def test_a_moment_in_numbers_by_hand() -> None:
    history = History(WORDS)
    first = history.see("You are in the middle of a room.", info("You are in …", "go to shelf 2", "look"))
    assert first.goal.tolist() == [5, 0, 3, 0, 6]
    assert first.events.tolist() == []
    assert first.commands.tolist() == [[kind("go"), 1, 0, 6, 2], [kind("look"), 1, 0, 1, 0]]
    assert first.counts.tolist() == [0, 0]
    history.did("go to shelf 2")
    second = history.see("", info("You arrive at shelf 2. On the shelf 2, you see a cup 7.", "take cup 7 from shelf 2"))
    assert second.events.tolist() == [[kind("go"), 1, 0, 6, 2], [kind("see"), 0, 7, 6, 2]]
    assert second.commands.tolist() == [[kind("take"), 0, 7, 6, 2]]


def test_numbers_beyond_the_last_count_as_it() -> None:
    seen = History(WORDS).see("", info("On the shelf 99, you see a mug 41."))
    assert seen.events.tolist() == [[kind("see"), 3, 40, 6, 40]]


def test_commands_are_counted_by_their_very_words_whoever_gave_them() -> None:
    history = History(WORDS)
    commands = ("go to shelf 1", "go to shelf 2", "look")
    for done in ("go to shelf 1", "look", "go to shelf 1"):
        history.see("…", info("…", *commands))
        history.did(done)
    assert history.see("…", info("…", *commands)).counts.tolist() == [2, 0, 1]


def test_a_state_that_is_shown_again_is_the_same_moment() -> None:
    history = History(WORDS)
    shown: Any = ("", info("On the shelf 1, you see a mug 1.", "look"))
    once, again = history.see(*shown), history.see(*shown)
    assert (once.events.tolist(), once.counts.tolist()) == (again.events.tolist(), again.counts.tolist())


def test_both_wordings_give_the_same_numbers() -> None:
    current, original = History(WORDS), History(WORDS)
    told = (
        (current, "move mug 1 to shelf 2", "You arrive at shelf 2. On the shelf 2, you see nothing."),
        (original, "put mug 1 in/on shelf 2", "You arrive at loc 3. On the shelf 2, you see nothing."),
    )
    rows = []
    for history, command, page in told:
        history.did(command)
        moment = history.see(page, info(page, command))
        rows.append((moment.events.tolist(), moment.commands.tolist(), moment.counts.tolist()))
    assert rows[0] == rows[1]


def test_the_known_words_are_those_of_goals_and_of_the_training_games() -> None:
    words = known_words()
    for word in ("put", "two", "under", "fridge", "desklamp", "saltshaker"):
        assert words.number(word) > 1
    assert words.number("teapot") == 0


def test_pages_without_commands_or_goal_are_read() -> None:
    moment = History(WORDS).see("a shop", {})
    assert (len(moment.goal), len(moment.events), len(moment.commands), len(moment.counts)) == (0, 0, 0, 0)
