"""What the memory student reads of a state; observations written by hand after the rules of the game."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goals import Errand, Look, Put
from llm_gym.policies.alfworld.memory.command import Command, read_command
from llm_gym.policies.alfworld.memory.features import (
    COMMAND_FLAGS,
    STATE_FLAGS,
    Choices,
    Vocabulary,
    choices,
)
from llm_gym.policies.alfworld.places import word_of

WORDS = Vocabulary(["desk", "desklamp", "drawer", "fridge", "mug", "pen"])
ALWAYS = ["help", "inventory", "look"]
ROOM = (
    "You are in the middle of a room. Looking quickly around you, you see a desk 1, a drawer 1, a drawer 2, and a "
    "fridge 1.\n\nYour task is to: put a hot mug in desk."
)
ERRAND = Put("mug", "desk", treatment="heat")
LIGHT = Look("pen", "desklamp")


def going(*places: str) -> list[str]:
    """What is always possible, and ways to all places but these."""
    return [
        *ALWAYS,
        *(f"go to {place}" for place in ("desk 1", "drawer 1", "drawer 2", "fridge 1") if place not in places),
    ]


class Seen:
    """A player who has seen some observations, and what it reads now."""

    def __init__(self, *observations: tuple[str, Sequence[str]], errand: Errand = ERRAND) -> None:
        belief = Belief()
        for text, commands in observations:
            belief.see(text, commands)
        self.commands = list(observations[-1][1])
        self.choices: Choices = choices(errand, belief, self.commands, WORDS)

    def state(self) -> set[str]:
        return {name for name, value in zip(STATE_FLAGS, self.choices.state, strict=True) if value}

    def of(self, command: str) -> dict[str, float]:
        flags = self.choices.flags[self.commands.index(command)]
        return {name: float(value) for name, value in zip(COMMAND_FLAGS, flags, strict=True) if value}


START = (ROOM, going())
AT_DRAWER = (
    "You arrive at drawer 1. The drawer 1 is closed.",
    [*going("drawer 1"), "examine drawer 1", "open drawer 1"],
)
OPENED = (
    "You open the drawer 1. The drawer 1 is open. In it, you see a mug 1, and a pen 1.",
    [*going("drawer 1"), "examine drawer 1", "close drawer 1", "take mug 1 from drawer 1", "take pen 1 from drawer 1"],
)
HOLDING = (
    "You pick up the mug 1 from the drawer 1.",
    [*going("drawer 1"), "examine drawer 1", "examine mug 1", "close drawer 1", "move mug 1 to drawer 1"],
)
AT_DESK = (
    "You arrive at desk 1. On the desk 1, you see a desklamp 1, and a mug 2.",
    [*going("desk 1"), "examine desk 1", "examine mug 1", "move mug 1 to desk 1", "use desklamp 1"],
)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("go to drawer 12", Command("go", place="drawer 12")),
        ("open drawer 1", Command("open", place="drawer 1")),
        ("take mug 1 from drawer 1", Command("take", "mug 1", "drawer 1")),
        ("move mug 1 to drawer 1", Command("put", "mug 1", "drawer 1")),
        ("put mug 1 in/on drawer 1", Command("put", "mug 1", "drawer 1")),
        ("heat mug 1 with microwave 1", Command("heat", "mug 1", "microwave 1")),
        ("use desklamp 1", Command("use", "desklamp 1")),
        ("slice egg 1 with knife 2", Command("slice", "egg 1")),
        ("examine mug 1", Command("examine", "mug 1")),
        ("examine fridge 1", Command("examine", place="fridge 1")),
        ("look", Command("look")),
        ("inventory", Command("inventory")),
        ("help", Command("")),
        ("look under the bed", Command("")),
        ("", Command("")),
    ],
)
def test_commands_of_both_wordings_are_read(text: str, read: Command) -> None:
    assert read_command(text) == read


def test_at_the_beginning_only_the_goal_is_known() -> None:
    seen = Seen(START)
    assert seen.state() == {"kind heat", "nowhere"}
    assert seen.of("go to desk 1") == {"place is goal": 1, "place looked into longest ago": 1}
    assert seen.of("go to drawer 1") == {"place looked into longest ago": 1}
    assert seen.of("look") == {}


def test_a_shut_drawer_was_visited_and_not_looked_into() -> None:
    seen = Seen(START, AT_DRAWER)
    assert seen.state() == {"kind heat", "before a shut door"}
    assert seen.of("open drawer 1") == {"place near": 1, "place visited": 1, "place shut": 1}


def test_what_was_seen_is_remembered_after_one_went_on() -> None:
    seen = Seen(START, AT_DRAWER, OPENED, (AT_DESK[0], [*going("desk 1"), "examine desk 1", "take mug 2 from desk 1"]))
    assert seen.state() == {"kind heat", "wanted known", "wanted known elsewhere", "one done", "at a goal"}
    assert seen.of("go to drawer 1") == {
        "place visited": 1,
        "place looked into": 1,
        "place holds one wanted": 1,
        "place age of the look": pytest.approx(1 / 50),
    }
    assert "place looked into longest ago" in seen.of("go to drawer 2")


def test_what_is_in_hand_is_compared_with_the_errand() -> None:
    seen = Seen(START, AT_DRAWER, OPENED, HOLDING)
    assert seen.state() == {"kind heat", "holds something", "holds wanted"}
    put = seen.of("move mug 1 to drawer 1")
    assert {"thing is wanted", "thing is held", "place near", "place looked into"} <= put.keys()
    assert "place holds one wanted" not in put  # it was taken out


def test_a_treatment_is_remembered() -> None:
    hot = ("You heat the mug 1 using the microwave 1.", HOLDING[1])
    assert "holds treated" in Seen(START, OPENED, HOLDING, hot).state()
    assert "holds treated" not in Seen(START, OPENED, HOLDING, hot, errand=Put("mug", "desk")).state()
    assert "thing is treated" in Seen(START, OPENED, HOLDING, hot).of("examine mug 1")


def test_a_place_that_took_nothing_is_marked_for_its_kind() -> None:
    full = (HOLDING[0], [command for command in HOLDING[1] if not command.startswith("move")])
    seen = Seen(START, OPENED, full)
    assert "place refuses what is held" in seen.of("go to drawer 2")
    assert "place refuses what is held" not in seen.of("go to desk 1")


def test_a_lamp_is_known_where_it_can_be_used() -> None:
    there = Seen(START, AT_DESK, errand=LIGHT)
    assert {"kind look", "lamp known", "at the lamp"} <= there.state()
    assert there.of("use desklamp 1") == {"thing is goal": 1}
    away = Seen(START, AT_DESK, HOLDING, errand=LIGHT)
    assert "place has the lamp" in away.of("go to desk 1")
    assert "at the lamp" not in away.state()
    lit = ("You turn on the desklamp 1.", AT_DESK[1])
    assert Seen(START, AT_DESK, lit, errand=LIGHT).of("use desklamp 1") == {"thing is goal": 1, "thing is lit": 1}


def test_of_all_that_was_looked_into_the_oldest_is_marked() -> None:
    commands = going()
    texts = [f"On the {place} 1, you see nothing." for place in ("drawer", "desk", "fridge")]
    seen = Seen(START, *((text, commands) for text in [*texts, "On the drawer 2, you see nothing."]))
    assert "all looked into" in seen.state()
    oldest = [command for command in commands if "place looked into longest ago" in seen.of(command)]
    assert oldest == ["go to drawer 1"]


def test_two_of_a_kind_in_one_place_are_several() -> None:
    seen = Seen(("On the desk 1, you see a mug 1, and a mug 2.", going()), errand=Put("mug", "desk", count=2))
    assert {"kind two", "several done"} <= seen.state()
    assert "wanted known elsewhere" not in seen.state()
    assert "place holds several wanted" in seen.of("go to desk 1")


def test_words_are_numbered_and_unknown_ones_share_a_number() -> None:
    commands = [*ALWAYS, "go to footstool 1", "go to fridge 1", "take mug 1 from desk 1"]
    read = Seen((ROOM, commands)).choices
    assert read.places.tolist() == [WORDS.NONE] * 3 + [WORDS.UNKNOWN, WORDS.number("fridge"), WORDS.number("desk")]
    assert read.things.tolist() == [WORDS.NONE] * 5 + [WORDS.number("mug")]
    assert WORDS.number("fridge") == 2 + 3  # the fourth word
    assert read.nouns.tolist() == [WORDS.number("mug"), WORDS.number("desk"), WORDS.NONE, WORDS.NONE]


def test_flags_are_shares() -> None:
    seen = Seen(START, *[AT_DESK] * 70, HOLDING)
    assert ((seen.choices.flags >= 0) & (seen.choices.flags <= 1)).all()
    assert seen.of("go to desk 1")["place age of the look"] == pytest.approx(1 / 50)
    assert seen.choices.flags.dtype == np.float32


def test_the_vocabulary_of_the_games_holds_places_and_things() -> None:
    words = Vocabulary.of_games()
    assert {"fridge", "mug", "desklamp", "toiletpaperhanger"} <= set(words.words)
    assert all(word_of(f"{word} 1") == word for word in words.words)
