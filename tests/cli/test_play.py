"""`llm-gym play`."""

from __future__ import annotations

from llm_gym.cli.play import summary
from llm_gym.core import Episode, Step


def test_a_person_plays_by_number_and_by_word(run):
    # corridor-3 begins in room 3 and asks for room 0.
    ran = run("play", "Corridor-v0", "--task", "corridor-3", answers=["1", "left", "1", "open"])
    assert ran.code == 0
    assert "Open the door of room 0.\nYou are in room 3 of 5.\n" in ran.out
    assert "  1  left\n  2  right\n  3  open\n" in ran.out
    assert "The door is open." in ran.out
    assert ran.out.endswith("Success: score 100.0 of 100 in 4 steps, ended by the task. Task: corridor-3\n")


def test_what_is_not_possible_is_said_and_counted(run):
    ran = run("play", "Corridor-v0", "--task", "3", answers=["fly", "quit"])
    assert "You cannot 'fly' here" in ran.out
    assert ran.out.endswith("Actions that were not possible: 1.\n")


def test_the_end_of_the_input_stops(run):
    ran = run("play", "Corridor-v0", "--task", "3")
    assert ran.code == 0
    assert "No success: score 0.0 of 100 in 1 steps, ended by stopping." in ran.out


def test_a_task_is_found_by_number(run):
    assert "Task: corridor-7" in run("play", "Corridor-v0", "--task", "7", "--policy", "oracle").out


def test_a_seed_draws_the_same_task_again(run):
    words = ("play", "Corridor-v0", "--policy", "random", "--seed", "4")
    assert run(*words).out == run(*words).out


def test_a_policy_is_watched_step_by_step(run):
    ran = run("play", "Corridor-v0", "--task", "corridor-3", "--policy", "oracle", "--wrapper", "history:actions=1")
    assert ran.code == 0
    assert [line for line in ran.out.splitlines() if line.startswith("oracle > ")] == [
        "oracle > left",
        "oracle > left",
        "oracle > left",
        "oracle > open",
    ]
    assert "step 4" in ran.out
    assert "left [SEP] Open the door" in ran.out
    assert ran.out.count("The door is open.") == 1


def test_a_policy_that_stops_is_said_to(run, my_module):
    assert "breaker > (stops)" in run("play", "Corridor-v0", "--policy", f"{my_module}:Breaker", "--task", "0").out


def test_the_step_limit_ends_a_play(run):
    ran = run("play", "Corridor-v0", "--set", "max_episode_steps=1", "--task", "corridor-3", "--policy", "oracle")
    assert "ended by the step limit" in ran.out


def test_the_summary_tells_the_metrics_of_the_world():
    steps = (Step("page", "click[x]", 0.0, invalid="no"), Step("page", "click[buy now]", 0.5))
    metrics = {"purchase": True, "attributes": 0.5, "strict_success": False, "price": None}
    assert summary(Episode("B07.h0", "rule", steps, False, "task", metrics=metrics)) == [
        "No success: score 50.0 of 100 in 2 steps, ended by the task. Task: B07.h0",
        "Actions that were not possible: 1.",
        "purchase yes, attributes 0.50, strict success no, price unknown",
    ]
