"""Queries as people write them."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.policies.demonstrator.query import first_query, next_query
from llm_gym.policies.demonstrator.spelling import abbreviated, inflected, other_word
from llm_gym.policies.demonstrator.wish import Wish

GOAL = "i am looking for three ounces of dry roasted nuts in a blue tin for parties, and price lower than 40.00 dollars"
WISH = Wish.read(GOAL)


def firsts(number: int, priced: float = 0.0) -> list[str]:
    return [first_query(WISH, priced, random.Random(seed)) for seed in range(number)]


def test_one_seed_writes_one_query_and_many_write_many() -> None:
    assert firsts(100) == firsts(100)
    assert len(set(firsts(100))) > 40


def test_neither_opening_nor_price_come_into_a_query() -> None:
    for query in firsts(200):
        assert not {"looking", "price", "dollars", "$40"} & set(query.split())


def test_the_price_is_named_as_often_as_asked() -> None:
    assert all("$40" in query for query in firsts(50, priced=1.0))
    some = sum("$40" in query for query in firsts(1000, priced=0.2))
    assert 150 < some < 250


def test_some_queries_are_a_piece_of_the_instruction() -> None:
    pieces = sum(f" {query} " in f" {WISH.text} " for query in firsts(1000))
    assert 350 < pieces < 600  # four in ten on purpose, others by chance


def test_units_and_numbers_are_put_in_short_now_and_then() -> None:
    written = " ".join(firsts(300)).split()
    assert {"oz", "3"} <= set(written)


def test_another_query_differs_from_all_before() -> None:
    queries = [first_query(WISH, 0.0, random.Random(0))]
    for seed in range(8):
        queries.append(next_query(WISH, queries, 0.0, random.Random(seed)))
    assert len(set(queries)) == len(queries)


def test_another_query_keeps_to_the_words_of_the_last_or_of_the_instruction() -> None:
    said = set(WISH.text.split())
    for seed in range(100):
        words = next_query(WISH, ["dry nuts"], 0.0, random.Random(seed)).split()
        assert len(said & set(words)) >= len(words) / 2


@pytest.mark.parametrize("goal", ["", "!!!", "i want", "lamp", "[x] (y)", "a an the"])
def test_any_goal_gets_a_query(goal: str) -> None:
    wish = Wish.read(goal)
    for seed in range(30):
        first = first_query(wish, 0.5, random.Random(seed))
        assert first
        assert next_query(wish, [first], 0.5, random.Random(seed))


@given(st.text(max_size=60), st.integers(0, 2**32))
def test_no_text_breaks_the_writing(goal: str, seed: int) -> None:
    stream, wish = random.Random(seed), Wish.read(goal)
    first = first_query(wish, 0.1, stream)
    assert first.strip()
    assert next_query(wish, [first, "another"], 0.1, stream).strip()


@pytest.mark.parametrize(
    ("word", "short"), [("inches", "in"), ("x-large", "xl"), ("5x-large", "5xl"), ("twelve", "12"), ("red", "red")]
)
def test_short_forms(word: str, short: str) -> None:
    assert abbreviated(word) == short


def test_another_word_for_a_thing_goes_both_ways() -> None:
    assert (other_word("sofa"), other_word("couch"), other_word("axe")) == ("couch", "sofa", "axe")


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("dress", "dresses"),
        ("dresses", "dress"),
        ("brush", "brushes"),
        ("toy", "toy"),
        ("7.5", "7.5"),
        ("trays", "tray"),
    ],
)
def test_singular_and_plural(word: str, other: str) -> None:
    assert inflected(word) == other
