"""What happened in a demonstration in a shop: searches, openings, sub pages, options, the purchase."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from llm_gym.demonstrations.record import Demonstration, DemonstrationStep

Kind = Literal["search", "results", "item", "sub"]
Following = Literal["search", "results", "item", "sub", "buy"]

_BUY, _NEXT, _PREVIOUS, _BACK = "click[buy now]", "click[next >]", "click[< prev]", "click[back to search]"
_SUB_PAGES = frozenset(("click[description]", "click[features]", "click[reviews]", "click[attributes]"))
_SEARCH = "search["
_PER_PAGE = 10
"""Results on a page of the shop."""
TAIL = 0.04
"""Share of the sessions, the longest, that a transition matrix leaves out: two of the fifty published ones."""


def kind_of(step: DemonstrationStep) -> Kind | None:
    """The kind of page, by what can be clicked there; None of a page that is no shop's."""
    if all(action.startswith(_SEARCH) for action in step.actions):
        return "search"
    if _BUY in step.actions:
        return "item"
    if _NEXT in step.actions:
        return "results"
    return "sub" if _PREVIOUS in step.actions else None


@dataclass(frozen=True, slots=True)
class Session:
    """One demonstration in a shop, counted."""

    goal: str
    queries: tuple[str, ...]
    """In the order in which they were searched for."""
    pages: int
    """Pages seen, the last one, after the last action, included."""
    opened: tuple[str, ...]
    """Results, as they were clicked, in order; one that was opened twice stands here twice."""
    first_rank: int | None
    """Rank, from 1, of the result that was opened first."""
    sub_pages: int
    option_clicks: int
    next_pages: int
    """Clicks on the next page of results."""
    returns_to_search: int
    bought: str | None
    """The result that was bought, as it was clicked."""
    transitions: Mapping[tuple[Kind, Following], int]
    """How often a page of the second kind, or the purchase, followed one of the first."""
    success: bool | None
    score: float | None


def session_of(demonstration: Demonstration) -> Session | None:
    """The demonstration, counted; None when it is no session in a shop."""
    kinds = [kind_of(step) for step in demonstration.steps]
    if not all(kinds):
        return None
    places = [kind for kind in kinds if kind is not None]
    actions = [step.action for step in demonstration.steps]
    moves = list(zip(places, actions, strict=True))
    opened = [action for kind, action in moves if kind == "results" and action not in (_BACK, _NEXT, _PREVIOUS)]
    bought = actions[-1] == _BUY and bool(opened)
    on_items = Counter(action for kind, action in moves if kind == "item")
    elsewhere = sum(on_items[action] for action in (_BUY, _PREVIOUS, _BACK))
    sub_pages = sum(on_items[action] for action in _SUB_PAGES)
    followed: list[Following] = [*places[1:], *(("buy",) if bought else ())]
    return Session(
        goal=demonstration.goal,
        queries=tuple(_query(action) for action in actions if action.startswith(_SEARCH)),
        pages=len(places) + 1,
        opened=tuple(opened),
        first_rank=_first_rank(demonstration.steps, places),
        sub_pages=sub_pages,
        option_clicks=on_items.total() - elsewhere - sub_pages,
        next_pages=actions.count(_NEXT),
        returns_to_search=actions.count(_BACK),
        bought=opened[-1] if bought else None,
        transitions=Counter(zip(places, followed, strict=False)),
        success=demonstration.success,
        score=demonstration.score,
    )


def _query(action: str) -> str:
    return action[len(_SEARCH) :].removesuffix("]")


def _first_rank(steps: Sequence[DemonstrationStep], kinds: Sequence[Kind]) -> int | None:
    """Rank of the result that was opened first; pages before its own hold ten results each."""
    page = 0
    for step, kind in zip(steps, kinds, strict=True):
        if step.action.startswith(_SEARCH):
            page = 0
        elif step.action == _NEXT:
            page += 1
        elif kind == "results" and step.action == _PREVIOUS:
            page -= 1
        elif kind == "results" and step.action != _BACK:
            links = [action for action in step.actions if action not in (_BACK, _NEXT, _PREVIOUS)]
            return page * _PER_PAGE + links.index(step.action) + 1
    return None


@dataclass(frozen=True, slots=True)
class SessionStatistics:
    """Sessions of a shop together. Means are per session, shares lie in [0, 1]; NaN where there is nothing to count."""

    sessions: int
    pages: tuple[float, float, float, float, float]
    """Quantiles of the pages seen: 5, 25, 50, 75 and 95 %."""
    pages_mean: float
    searches: float
    one_search: float
    items: float
    """Different ones that were opened."""
    one_item: float
    sub_pages: float
    with_sub_page: float
    option_clicks: float
    with_option: float
    with_next_page: float
    returns_to_search: float
    first_rank: tuple[float, float, float, float]
    """Share of rank 1, 2, 3 to 10 and beyond, of the results that were opened first."""
    bought: float
    bought_first_opened: float
    """Of the sessions with a purchase."""
    transitions: Mapping[Kind, Mapping[Following, float]]
    """Share of each following page, without the longest sessions (`TAIL`)."""
    success: float
    """Where it is known."""
    score: float

    @classmethod
    def of(cls, sessions: Iterable[Session]) -> SessionStatistics:
        every = list(sessions)
        unique = [len(set(one.opened)) for one in every]
        bought = [one for one in every if one.bought is not None]
        pages = [one.pages for one in every]
        return cls(
            sessions=len(every),
            pages=quantiles(pages),
            pages_mean=mean(pages),
            searches=mean(len(one.queries) for one in every),
            one_search=mean(len(one.queries) == 1 for one in every),
            items=mean(unique),
            one_item=mean(count == 1 for count in unique),
            sub_pages=mean(one.sub_pages for one in every),
            with_sub_page=mean(one.sub_pages > 0 for one in every),
            option_clicks=mean(one.option_clicks for one in every),
            with_option=mean(one.option_clicks > 0 for one in every),
            with_next_page=mean(one.next_pages > 0 for one in every),
            returns_to_search=mean(one.returns_to_search for one in every),
            first_rank=_rank_shares([one.first_rank for one in every if one.first_rank is not None]),
            bought=mean(one.bought is not None for one in every),
            bought_first_opened=mean(one.bought == one.opened[0] for one in bought),
            transitions=_matrix(sorted(every, key=lambda one: one.pages)[: _without_tail(len(every))]),
            success=mean(one.success for one in every if one.success is not None),
            score=mean(one.score for one in every if one.score is not None),
        )


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of nothing."""
    listed = list(values)
    return float(sum(listed) / len(listed)) if listed else float("nan")


def quantiles(values: Sequence[float]) -> tuple[float, float, float, float, float]:
    """At 5, 25, 50, 75 and 95 %, interpolated; NaN of nothing."""
    found = np.quantile(values, (0.05, 0.25, 0.5, 0.75, 0.95)).tolist() if len(values) else [float("nan")] * 5
    first, second, third, fourth, fifth = found
    return first, second, third, fourth, fifth


def _without_tail(count: int) -> int:
    return count - int(TAIL * count)


def _rank_shares(ranks: Sequence[int]) -> tuple[float, float, float, float]:
    return (
        mean(rank == 1 for rank in ranks),
        mean(rank == 2 for rank in ranks),
        mean(2 < rank <= _PER_PAGE for rank in ranks),
        mean(rank > _PER_PAGE for rank in ranks),
    )


def _matrix(sessions: Iterable[Session]) -> dict[Kind, dict[Following, float]]:
    counts: Counter[tuple[Kind, Following]] = Counter()
    for session in sessions:
        counts.update(session.transitions)
    matrix: dict[Kind, dict[Following, float]] = {}
    for kind, pairs in itertools.groupby(sorted(counts.items()), key=lambda pair: pair[0][0]):
        row = {following: count for (_, following), count in pairs}
        matrix[kind] = {following: count / sum(row.values()) for following, count in row.items()}
    return matrix
