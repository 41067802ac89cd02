"""Sessions in a shop, counted; every expected number was counted by hand from the walk."""

from __future__ import annotations

import math
from typing import Any

import pytest

from llm_gym.demonstrations.sessions import SessionStatistics, kind_of, session_of

BACK, NEXT, PREVIOUS, BUY = "click[back to search]", "click[next >]", "click[< prev]", "click[buy now]"


@pytest.fixture
def straight(make: Any, shopper: Any) -> Any:
    """Search, open the second result, read, choose, buy."""
    walk = shopper().search("red shoe").results("click[b]").item("click[features]").sub().item("click[red]").item(BUY)
    return make("t1", walk.steps, goal="i need a red shoe", success=True, score=100.0)


@pytest.fixture
def wandering(make: Any, shopper: Any) -> Any:
    """Turn a page, open, leave, search again, open two, go back to the first one and buy it; fails."""
    second = ("click[k]", "click[l]")
    walk = shopper().search("shoe").results(NEXT).results("click[l]", second, page=2).item(PREVIOUS)
    walk.results(BACK, second, page=2).search("red shoe").results("click[a]").item(PREVIOUS)
    walk.results("click[l]", ("click[a]", "click[l]")).item("click[blue]").item("click[red]").item(BUY)
    return make("t2", walk.steps, goal="i need a red shoe", success=False, score=50.0)


def test_the_kind_of_a_page_is_known_by_what_can_be_clicked(straight: Any) -> None:
    assert [kind_of(step) for step in straight.steps] == ["search", "results", "item", "sub", "item", "item"]


def test_a_straight_session_is_counted(straight: Any) -> None:
    session = session_of(straight)
    assert session is not None
    assert (session.queries, session.pages, session.opened) == (("red shoe",), 7, ("click[b]",))
    assert (session.first_rank, session.bought) == (2, "click[b]")
    assert (session.sub_pages, session.option_clicks, session.next_pages, session.returns_to_search) == (1, 1, 0, 0)
    assert session.transitions == {
        ("search", "results"): 1,
        ("results", "item"): 1,
        ("item", "sub"): 1,
        ("sub", "item"): 1,
        ("item", "item"): 1,
        ("item", "buy"): 1,
    }


def test_a_wandering_session_is_counted(wandering: Any) -> None:
    session = session_of(wandering)
    assert session is not None
    assert session.queries == ("shoe", "red shoe")
    assert (session.pages, session.opened) == (13, ("click[l]", "click[a]", "click[l]"))
    assert session.first_rank == 12
    assert (session.sub_pages, session.option_clicks, session.next_pages, session.returns_to_search) == (0, 2, 1, 1)
    assert session.bought == session.opened[0]
    assert session.transitions["results", "results"] == 1
    assert session.transitions["results", "search"] == 1
    assert session.transitions["item", "results"] == 2


def test_a_session_without_a_purchase_bought_nothing(make: Any, shopper: Any) -> None:
    session = session_of(make(steps=shopper().search("shoe").results("click[a]").item(PREVIOUS).steps))
    assert session is not None
    assert (session.bought, session.pages) == (None, 4)
    assert ("item", "buy") not in session.transitions


def test_other_worlds_are_no_shop(make: Any) -> None:
    assert session_of(make()) is None


def test_sessions_together(straight: Any, wandering: Any) -> None:
    both = SessionStatistics.of([session_of(straight), session_of(wandering)])  # type: ignore[list-item]
    assert (both.sessions, both.pages_mean, both.pages[2]) == (2, 10.0, 10.0)
    assert (both.searches, both.one_search, both.items, both.one_item) == (1.5, 0.5, 1.5, 0.5)
    assert (both.sub_pages, both.with_sub_page, both.option_clicks, both.with_option) == (0.5, 0.5, 1.5, 1.0)
    assert (both.with_next_page, both.returns_to_search) == (0.5, 0.5)
    assert both.first_rank == (0.0, 0.5, 0.0, 0.5)
    assert (both.bought, both.bought_first_opened) == (1.0, 1.0)
    assert (both.success, both.score) == (0.5, 75.0)
    assert both.transitions["search"] == {"results": 1.0}
    assert both.transitions["item"] == pytest.approx({"results": 2 / 8, "sub": 1 / 8, "item": 3 / 8, "buy": 2 / 8})


def test_the_longest_sessions_are_no_part_of_the_transitions(straight: Any, make: Any, shopper: Any) -> None:
    lost = shopper().search("shoe")
    for page in range(1, 40):
        lost.results(NEXT, page=page)
    sessions = [session_of(straight)] * 49 + [session_of(make(steps=lost.steps))]
    together = SessionStatistics.of(sessions)  # type: ignore[arg-type]
    assert together.transitions["results"] == {"item": 1.0}
    assert together.with_next_page == 0.02


def test_what_nobody_did_has_no_mean() -> None:
    nothing = SessionStatistics.of([])
    assert nothing.sessions == 0
    assert all(map(math.isnan, (nothing.searches, nothing.success, nothing.pages_mean, *nothing.pages)))
    assert nothing.transitions == {}
