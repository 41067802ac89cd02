"""What is read out of an instruction."""

from __future__ import annotations

import pytest

from llm_gym.policies.demonstrator.wish import Seen, Wish, without_opening

GOAL = "i am looking for a red leather shoe in size 7, and price lower than 40.00 dollars"


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        (GOAL, "red leather shoe in size 7"),
        ("i'm trying to find some small batch spices, and price lower than 50.00 dollars", "small batch spices"),
        ("get  me a mirror", "mirror"),
        ("Find me machine wash men's pants with color: navy", "machine wash men's pants with color: navy"),
        ("i want it", "it"),
        ("", "product"),
    ],
)
def test_opening_and_price_are_cut_off(goal: str, text: str) -> None:
    assert without_opening(goal) == text


@pytest.mark.parametrize(
    ("goal", "heads"),
    [
        (GOAL, {"shoe"}),
        ("i need black color yoga pants that are squat proof", {"pant"}),
        ("i want a jacket red", {"jacket"}),
        ("i'd like some bags, pick the l one", {"bag"}),
        ("find me wash cold, machine wash men's shirts with relaxed fit with color: red", {"shirt"}),
        ("find me women's fashion hoodies & sweatshirts with classic fit", {"hoodi", "sweatshirt"}),
        ("i want one that is red", set()),
    ],
)
def test_the_thing_is_named_before_what_describes_it_from_behind(goal: str, heads: set[str]) -> None:
    assert Wish.read(goal).heads == heads


def test_words_of_wanting_are_no_part_of_the_wish() -> None:
    wish = Wish.read(GOAL)
    assert wish.words == {"red", "leather", "shoe", "7"}
    assert wish.pairs == {("red", "leather"), ("leather", "shoe")}
    assert wish.limit == 40.0


def test_options_stated_by_name_are_counted() -> None:
    assert Wish.read("find me pants with color: navy, and size: 48w x 32l").stated == 2
    assert Wish.read(GOAL).stated == 0


def test_missing_is_what_nothing_shows() -> None:
    wish = Wish.read(GOAL)
    assert wish.missing(Seen.of(["Leather Boot", "red"])) == {"shoe", "7"}


def test_one_of_two_names_of_the_thing_is_enough() -> None:
    wish = Wish.read("find me women's hoodies & sweatshirts with classic fit")
    assert wish.missing(Seen.of(["Womens Hoodie with a Classic Fit"])) == set()


def test_a_wish_is_met_by_its_words_the_thing_itself_counting_more() -> None:
    wish = Wish.read("a red shoe")  # red 1, shoe 1.5, both in a row 0.5
    assert wish.met(Seen.of(["red sock"])) == pytest.approx(1 / 3)
    assert wish.met(Seen.of(["blue shoe"])) == pytest.approx(1.5 / 3)
    assert wish.met(Seen.of(["shoe, red"])) == pytest.approx(2.5 / 3)
    assert wish.met(Seen.of(["a red shoe"])) == 1.0


def test_an_option_counts_as_a_surplus_unless_it_was_stated_by_name() -> None:
    assert Wish.read("a red shoe").met(Seen.of(["a red shoe"]), options=1) == pytest.approx(5 / 3)
    stated = Wish.read("shoe with color: red")  # shoe 1.5, red 1, an option 2
    assert stated.met(Seen.of(["shoe", "red"]), options=1) == 1.0
    assert stated.met(Seen.of(["shoe", "red"]), options=0) == pytest.approx(2.5 / 4.5)


def test_a_pair_does_not_reach_from_one_text_to_the_next() -> None:
    assert Seen.of(["red", "shoe"]).pairs == frozenset()


@pytest.mark.parametrize(("price", "affordable"), [(39.0, True), (40.0, True), (41.0, False), (None, True)])
def test_a_price_that_nobody_knows_is_affordable(price: float | None, affordable: bool) -> None:
    assert Wish.read(GOAL).affordable(price) is affordable


def test_a_goal_of_nothing_but_signs_can_be_read() -> None:
    assert Wish.read("!!!").heads == frozenset()
    assert Wish.read("!!!").met(Seen.of(["shoe"])) == 1.0
