"""Queries against instructions."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from llm_gym.demonstrations.queries import RELATIONS, QueryStatistics, relation, words_of

INSTRUCTION = "i am looking for red leather shoes in size 10.5, and price lower than 40.00 dollars"


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("I am looking for red leather shoes in size 10.5", "copy"),
        ("red leather shoes", "span"),
        ("red shoes size 10.5", "subset"),
        ("shoes red", "reordered"),
        ("red red shoes", "reordered"),
        ("red leather shoe", "inflected"),
        ("red shoes under 40", "2 new"),
        ("mens red shoes", "1 new"),
        ("cheap mens black shoes", "3+ new"),
        ("cheap mens black boots", "3+ new"),
    ],
)
def test_what_a_query_makes_of_an_instruction(query: str, expected: str) -> None:
    assert relation(query, INSTRUCTION) == expected


def test_words_keep_their_points_and_hyphens() -> None:
    assert words_of("Women's clip-in hair, 1/4 inch; size 10.5.") == [
        "womens",
        "clip-in",
        "hair",
        "1/4",
        "inch",
        "size",
        "10.5",
    ]


def test_statistics_of_three_goals() -> None:
    statistics = QueryStatistics.of(
        [
            ("i need a red shoe", ["red shoe"]),
            ("i need a red shoe, and price lower than 40.00 dollars", ["shoe under $40", "shoe", "a red shoes"]),
            ("a hat", ["a hat"]),
            ("nothing was searched for", []),
        ]
    )
    assert (statistics.goals, statistics.queries) == (3, 5 / 3)
    assert statistics.one_query == 2 / 3
    assert (statistics.words[2], statistics.words_mean) == (2.0, 7 / 3)  # 2, 3 and 2 words
    assert statistics.length_ratio_mean == pytest.approx((2 / 5 + 3 / 5 + 1) / 3)
    assert statistics.without_price == 2 / 3
    assert statistics.first == {**dict.fromkeys(RELATIONS, 0), "copy": 1 / 3, "span": 1 / 3, "2 new": 1 / 3}
    assert statistics.last == {**dict.fromkeys(RELATIONS, 0), "inflected": 1}


def test_without_queries_nothing_is_known() -> None:
    nothing = QueryStatistics.of([])
    assert nothing.goals == 0
    assert math.isnan(nothing.words_mean)
    assert all(map(math.isnan, nothing.first.values()))


@pytest.mark.data
def test_people_s_queries_are_counted_as_they_were_published(webshop_folder: Path) -> None:
    """Counts of the same file by other code, with other rules for a word: they agree within a few points."""
    found = json.loads((webshop_folder / "goal_query_map.json").read_text())
    people = QueryStatistics.of(found.items())
    assert people.words == (3, 5, 6, 8, 12)
    assert people.words_mean == pytest.approx(6.7, abs=0.05)
    assert people.length_ratio == pytest.approx((0.22, 0.36, 0.50, 0.63, 0.79), abs=0.01)
    assert people.one_query == pytest.approx(0.749, abs=0.001)
    assert people.without_price == pytest.approx(0.947, abs=0.005)
    published = (0.003, 0.396, 0.158, 0.155, 0.047, 0.129, 0.048, 0.064)
    assert [people.first[one] for one in RELATIONS] == pytest.approx(published, abs=0.025)
