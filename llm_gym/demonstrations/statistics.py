"""Demonstrations in a shop beside what is known of people in the original one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from llm_gym.demonstrations.queries import RELATIONS, QueryStatistics, Relation
from llm_gym.demonstrations.record import Demonstration
from llm_gym.demonstrations.sessions import Following, Kind, SessionStatistics, session_of

_QUANTILES = {0: "5 %", 2: "median", 4: "95 %"}
"""Those that a table shows of five."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One number beside those of people."""

    name: str
    value: float
    people: float | None
    """Of the 50 published sessions of the original shop, workers of average skill; of queries, of the 1,506 goals of
    `goal_query_map.json`."""
    experts: float | None = None
    """Of the workers whose sessions the imitation expert of the paper learned from, where the paper tells."""
    is_share: bool = False


@dataclass(frozen=True, slots=True)
class ShopStatistics:
    """All that is counted of demonstrations in a shop."""

    sessions: SessionStatistics
    queries: QueryStatistics

    @classmethod
    def of(cls, demonstrations: Iterable[Demonstration]) -> ShopStatistics:
        """Count; what is no session in a shop is left out. Only the counts are kept in memory."""
        every = [session for one in demonstrations if (session := session_of(one)) is not None]
        return cls(SessionStatistics.of(every), QueryStatistics.of((one.goal, one.queries) for one in every))

    def beside_people(self) -> list[Measured]:
        """Every number with that of people, in the order of a table; of queries alone, where nothing was opened."""
        shopping = [*_outcome(self.sessions), *_session(self.sessions), *_transitions(self.sessions)]
        return [*(shopping if self.sessions.items > 0 else []), *(_query(self.queries) if self.queries.goals else [])]


def _outcome(here: SessionStatistics) -> list[Measured]:
    return [
        Measured("score", here.score, 65.2, 82.1),
        _share("success", here.success, 0.36, 0.596),
        _share("bought", here.bought, 1.0),
    ]


def _session(here: SessionStatistics) -> list[Measured]:
    rank, second, page, beyond = here.first_rank
    return [
        *_quantiles("pages", here.pages, (4, 6, 7, 11, 44)),
        Measured("pages, mean", here.pages_mean, 12.5, 11.3),
        Measured("searches", here.searches, 1.62, 1.40),
        _share("one search", here.one_search, 0.74, 0.748),
        Measured("items opened", here.items, 1.68, 1.9),
        _share("one item opened", here.one_item, 0.74),
        _share("first opened: rank 1", rank, 0.60),
        _share("first opened: rank 2", second, 0.18),
        _share("first opened: ranks 3 to 10", page, 0.14),
        _share("first opened: beyond page one", beyond, 0.08),
        _share("bought the first opened item", here.bought_first_opened, 0.76),
        Measured("sub pages", here.sub_pages, 1.06),
        _share("with a sub page", here.with_sub_page, 0.44),
        Measured("option clicks", here.option_clicks, 1.28),
        _share("with an option click", here.with_option, 0.56),
        _share("with a next page", here.with_next_page, 0.26),
        Measured("returns to search", here.returns_to_search, 0.70),
    ]


_PEOPLE_GO: Mapping[Kind, Mapping[Following, float]] = {
    "search": {"search": 0.04, "results": 0.95, "item": 0.01},
    "results": {"search": 0.10, "results": 0.38, "item": 0.52},
    "item": {"search": 0.02, "results": 0.13, "item": 0.29, "sub": 0.27, "buy": 0.29},
    "sub": {"search": 0.04, "item": 0.96},
}
"""Share of each following page in the published sessions, the two longest left out of the rows results and item."""


def _transitions(here: SessionStatistics) -> list[Measured]:
    return [
        _share(f"{kind} → {following}", here.transitions.get(kind, {}).get(following, 0.0), share)
        for kind, row in _PEOPLE_GO.items()
        for following, share in row.items()
    ]


_FIRST = (0.003, 0.396, 0.158, 0.155, 0.047, 0.129, 0.048, 0.064)
_LAST = (0.005, 0.188, 0.161, 0.212, 0.061, 0.225, 0.058, 0.090)
"""Share of each relation of a query to its instruction, of people's first queries and of the last of several."""


def _query(here: QueryStatistics) -> list[Measured]:
    return [
        *_quantiles("words of the first query", here.words, (3, 5, 6, 8, 12)),
        Measured("words of the first query, mean", here.words_mean, 6.7),
        *_quantiles("query length / instruction", here.length_ratio, (0.22, 0.36, 0.50, 0.63, 0.79)),
        _share("first query without a price", here.without_price, 0.947),
        *(_share(f"first query: {one}", here.first[one], share) for one, share in zip(RELATIONS, _FIRST, strict=True)),
        *(
            _share(f"last of several: {one}", here.last[one], share)
            for one, share in zip(RELATIONS, _LAST, strict=True)
        ),
    ]


def _relations(name: str, shares: Mapping[Relation, float], people: Sequence[float]) -> list[Measured]:
    return [_share(f"{name}: {one}", shares[one], share) for one, share in zip(RELATIONS, people, strict=True)]


def _quantiles(name: str, values: Sequence[float], people: Sequence[float]) -> list[Measured]:
    return [Measured(f"{name}, {level}", values[at], people[at]) for at, level in _QUANTILES.items()]


def _share(name: str, value: float, people: float | None, experts: float | None = None) -> Measured:
    return Measured(name, value, people, experts, is_share=True)
