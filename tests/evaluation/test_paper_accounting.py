"""How the authors counted, beside what happened; every expected number is worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.evaluation.paper_accounting import Counted, as_it_was, as_published, both_accountings

Row = dict[str, Any]


def episode(
    *rewards: float, ended_by: str, purchase: bool | None = None, task: str = "a", success: bool = False
) -> Row:
    """A row with one step for each reward; the last one of an agent that stops has no action."""
    steps = [{"observation": "", "action": f"click[{at}]", "reward": reward} for at, reward in enumerate(rewards)]
    if ended_by == "agent":
        steps[-1]["action"] = None
    return {
        "task_id": task,
        "repeat": 0,
        "trial": 0,
        "success": success,
        "score": 100 * sum(rewards),
        "ended_by": ended_by,
        "metrics": {} if purchase is None else {"purchase": purchase},
        "trajectory": steps,
    }


BOUGHT = episode(0, 0, 0.5, ended_by="task", purchase=True)
GAVE_UP = episode(0, 0, 0, ended_by="agent", purchase=False)
BOUGHT_AND_SAID_SO = episode(0, 0.5, 0, ended_by="agent", purchase=True)
BOUGHT_AND_WENT_ON = episode(0, 1.0, 0, ended_by="task", purchase=True)
NEVER_BOUGHT = episode(0, 0, 0, ended_by="limit", purchase=False)


def test_a_purchase_that_nobody_was_asked_about_counts_as_the_world_has_it() -> None:
    assert as_published(BOUGHT, loops=20, asked_after_end=False) == Counted(True, 50.0)
    assert as_it_was(BOUGHT) == Counted(True, 50.0)


def test_a_purchase_at_the_last_loop_is_lost() -> None:
    assert as_published(BOUGHT, loops=3, asked_after_end=False) == Counted(False, 0.0)
    assert as_published(BOUGHT, loops=4, asked_after_end=False) == Counted(True, 50.0)


def test_an_agent_that_stops_without_buying_has_bought_for_the_authors() -> None:
    assert as_published(GAVE_UP, loops=20, asked_after_end=False) == Counted(True, 0.0)
    assert as_it_was(GAVE_UP) == Counted(False, 0.0)


def test_an_agent_that_stops_at_once_has_no_message_before_it() -> None:
    assert as_published(episode(0, ended_by="agent"), loops=20, asked_after_end=True) == Counted(True, 0.0)


def test_a_purchase_counts_when_the_reply_to_it_is_finish() -> None:
    assert as_published(BOUGHT_AND_SAID_SO, loops=20, asked_after_end=True) == Counted(True, 50.0)


def test_a_purchase_is_lost_when_the_reply_to_it_is_anything_else() -> None:
    assert as_published(BOUGHT_AND_WENT_ON, loops=20, asked_after_end=True) == Counted(False, 0.0)
    assert as_it_was(BOUGHT_AND_WENT_ON) == Counted(True, 100.0)


@pytest.mark.parametrize("ended_by", ["limit", "error"])
def test_an_episode_that_did_not_end_is_no_purchase(ended_by: str) -> None:
    row = episode(0, 0, ended_by=ended_by, purchase=False)
    assert as_published(row, loops=20, asked_after_end=True) == Counted(False, 0.0) == as_it_was(row)


def test_where_nobody_buys_an_agent_that_stops_has_completed() -> None:
    assert as_it_was(episode(0, 0, ended_by="agent")).finished
    assert not as_it_was(episode(0, 0, ended_by="limit")).finished


def test_both_tables_of_four_episodes() -> None:
    rows = [
        {**row, "task_id": str(number), "success": row["score"] == 100.0}
        for number, row in enumerate([BOUGHT_AND_SAID_SO, GAVE_UP, BOUGHT_AND_WENT_ON, NEVER_BOUGHT])
    ]
    world, authors = both_accountings(rows, loops=20, asked_after_end=True)
    # world: two purchases of 50 and 100; authors: one of 50, one of 0
    assert [float(x) for x in (world.success, world.reward, world.precision, world.finished)] == [0.25, 37.5, 0.5, 0.5]
    assert [float(x) for x in (authors.success, authors.reward, authors.precision, authors.finished)] == [
        0,
        12.5,
        0,
        0.5,
    ]


def test_precision_of_no_finished_episode_is_nothing() -> None:
    world, authors = both_accountings([NEVER_BOUGHT], loops=20, asked_after_end=False)
    assert (world.precision.n, authors.precision.n) == (0, 0)
