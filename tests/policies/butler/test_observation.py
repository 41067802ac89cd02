"""What the text agent keeps before its eyes."""

from __future__ import annotations

from llm_gym.policies.butler.observation import RESTART, ObservationPool, tidied

ROOM = (
    "-= Welcome to TextWorld, ALFRED! =-\n\nYou are in the middle of a room. Looking quickly around you, you see a "
    "shelf 2, a shelf 1, and a desk 1.\n\nYour task is to: put a mug in desk."
)
TIDY_ROOM = "You are in the middle of a room. Looking quickly around you, you see desk 1 shelf 1 shelf 2"


def test_greeting_task_and_line_breaks_go_and_things_are_sorted() -> None:
    assert tidied(ROOM) == f"{TIDY_ROOM}."


def test_nothing_stays_nothing() -> None:
    assert tidied("On the shelf 1, you see nothing.") == "On the shelf 1, you see nothing."


def test_every_list_of_a_text_is_sorted_by_itself() -> None:
    text = "You are facing the desk 1. Next to it, you see a pen 2, and a mug 1."
    assert tidied(text) == "You are facing the desk 1. Next to it, you see mug 1 pen 2."


def pool_of(*steps: tuple[str, str]) -> ObservationPool:
    pool = ObservationPool(3).after(ROOM, RESTART)
    for observation, action in steps:
        pool = pool.after(observation, action)
    return pool


def test_what_was_seen_first_stands_without_the_restart() -> None:
    pool = pool_of()
    assert (pool.first, pool.recent) == (f"{TIDY_ROOM}.", ())


def test_the_last_three_stay_each_with_the_action_before_it() -> None:
    pool = pool_of(*((f"Seen {number}.", f"do {number}") for number in range(5)))
    assert pool.first == f"{TIDY_ROOM}."
    assert pool.recent == ("Seen 2. [SEP] do 2", "Seen 3. [SEP] do 3", "Seen 4. [SEP] do 4")


def test_what_is_there_already_is_not_put_in_again() -> None:
    once = pool_of(("Seen 1.", "do 1"), ("Seen 2.", "do 2"))
    assert once.after("Seen 1.", "do 1") == once
    assert once.after("Seen 1.", "do 3").recent[-1] == "Seen 1. [SEP] do 3"


def test_a_command_that_failed_leaves_nothing_behind() -> None:
    before = pool_of(("Seen 1.", "do 1"))
    assert before.after("Nothing happens.", "do 2") == before


def test_a_restart_forgets_the_game_before() -> None:
    assert pool_of(("Seen 1.", "do 1")).after(ROOM, RESTART) == pool_of()
