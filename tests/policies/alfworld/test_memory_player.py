"""Which errand the memory student thinks that it is on."""

from __future__ import annotations

from collections.abc import Set

import pytest

from llm_gym.policies.alfworld.goal_reader import GoalReader
from llm_gym.policies.alfworld.goals import Errand, Look, Put
from llm_gym.policies.alfworld.memory.features import STATE_FLAGS, Choices, Vocabulary
from llm_gym.policies.alfworld.memory.player import Player

WORDS = Vocabulary(["desk", "desklamp", "mug", "pen", "shelf"])
COMMANDS = ["look", "inventory", "go to desk 1", "go to shelf 1"]
MUG, PEN, LAMP = Put("mug", "desk"), Put("pen", "shelf"), Look("pen", "desklamp")
GOAL = "Bring the thing over there."


class Listed(GoalReader):
    """Reads every goal alike, and keeps what it was asked."""

    def __init__(self, *errands: Errand) -> None:
        super().__init__()
        self.errands = list(errands)
        self.asked: list[tuple[str, Set[str]]] = []

    def readings(self, goal: str, places: Set[str]) -> list[Errand]:
        self.asked.append((goal, places))
        return self.errands


def nouns(player: Player, page: str, goal: str = GOAL, *more: str) -> list[str]:
    """What is wanted, and where it belongs."""
    seen = player.see("", {"goal": goal, "page": page, "admissible_actions": [*COMMANDS, *more]})
    assert isinstance(seen, Choices)
    return [WORDS.words[number - 2] for number in seen.nouns[:2]]


def test_a_template_is_read_without_a_reader() -> None:
    reader = Listed(MUG)
    assert nouns(Player(WORDS, reader), "", "put some pen on shelf.") == ["pen", "shelf"]
    assert reader.asked == []


def test_another_goal_is_read_by_the_reader_with_the_places_of_the_room() -> None:
    reader = Listed(MUG, PEN)
    assert nouns(Player(WORDS, reader), "") == ["mug", "desk"]
    assert reader.asked == [(GOAL, {"desk", "shelf"})]


def test_a_reading_that_was_in_vain_is_given_up_for_good() -> None:
    player = Player(WORDS, Listed(MUG, PEN, LAMP))
    assert nouns(player, "On the desk 1, you see a mug 1.") == ["pen", "shelf"]  # done, and the game goes on
    assert nouns(player, "On the desk 1, you see nothing.") == ["pen", "shelf"]
    assert nouns(player, "On the shelf 1, you see a pen 2.") == ["pen", "desklamp"]


def test_when_all_readings_were_in_vain_the_likeliest_is_kept() -> None:
    player = Player(WORDS, Listed(MUG, PEN))
    assert nouns(player, "On the desk 1, you see a mug 1. On the shelf 1, you see a pen 1.") == ["mug", "desk"]


def test_a_goal_without_a_reading_is_told() -> None:
    seen = Player(WORDS, Listed()).see("", {"goal": "Be happy!", "admissible_actions": COMMANDS})
    assert seen == "I do not understand the goal: Be happy!"


@pytest.mark.parametrize(("remembers", "known"), [(True, True), (False, False)])
def test_what_is_out_of_view_is_remembered_or_not(remembers: bool, known: bool) -> None:
    player = Player(WORDS, Listed(), remembers=remembers)
    goal = "put a mug in desk."
    player.see("", {"goal": goal, "page": "On the shelf 1, you see a mug 1.", "admissible_actions": COMMANDS})
    seen = player.see("", {"goal": goal, "page": "On the desk 1, you see nothing.", "admissible_actions": COMMANDS})
    assert isinstance(seen, Choices)
    assert bool(seen.state[STATE_FLAGS.index("wanted known")]) is known
