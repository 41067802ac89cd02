"""Comparing texts by their words."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.policies.lexical_match import (
    agreement,
    best_value,
    named_value,
    price_limit,
    typical_price,
    words,
)

texts = st.text(max_size=60)
values = st.lists(st.text(string.ascii_lowercase + string.digits + " -|().", min_size=1, max_size=15), max_size=6)


# -- words ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3x-large", "XXXL"),
        ("xx-large", "2XL"),
        ("x-large", "extra large"),
        ("xl", "X Large"),
        ("x-small", "extra small"),
        ("12 ounces", "twelve oz"),
        ('30"', "thirty inches"),
        ("8 in", "eight inch"),
        ("6 ft", "six feet"),
        ("eleven and a half", "11.5"),
        ("2 pounds", "two lbs"),
        ("grey shoes", "gray shoe"),
        ("pack of three", "Pack of 3"),
        ("5 pieces", "5 pcs"),
    ],
)
def test_spellings_of_the_same_are_the_same_words(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"), [("large", "x-large"), ("x-large", "xx-large"), ("7", "7.5"), ("pack of 2", "pack of 12")]
)
def test_different_sizes_are_different_words(one: str, other: str) -> None:
    assert words(one) != words(other)


def test_letters_and_digits_part_so_that_a_code_does_not_hide_a_colour() -> None:
    assert words("b2-gray") == ("b", "2", *words("gray"))


def test_stop_words_are_dropped() -> None:
    assert words("the shoe and the sock") == ("shoe", "sock")


@given(texts)
def test_words_do_not_depend_on_case_of_ascii_letters(text: str) -> None:
    plain = "".join(letter for letter in text if letter.isascii())
    assert words(plain.upper()) == words(plain.lower())


# -- prices --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("a lamp, and price lower than 40.00 dollars", 40.0),
        ("a lamp under $25", 25.0),
        ("a lamp for less than 1,250.50 dollars", 1250.5),
        ("a lamp up to 30 dollars", 30.0),
        ("a shelf under 20 inches, and price lower than 90.00 dollars", 90.0),
        ("a lamp", None),
        ("a lamp of 40 watts", None),
    ],
)
def test_the_price_limit_is_the_last_one_the_instruction_names(text: str, limit: float | None) -> None:
    assert price_limit(text) == limit


@pytest.mark.parametrize(
    ("tag", "price"), [("$15.0", 15.0), ("$10.0 to $20.5", 15.25), ("$1,299.5", 1299.5), ("", None), ("N.A.", None)]
)
def test_a_range_of_prices_counts_with_its_middle(tag: str, price: float | None) -> None:
    assert typical_price(tag) == price


# -- option values -------------------------------------------------------------------------------------------------


def test_a_named_value_is_not_a_part_of_a_longer_word() -> None:
    assert named_value("a red carpet in size x-large", ["pet", "car"]) is None


def test_the_longest_named_value_wins() -> None:
    assert named_value("shoes in size 7.5 wide", ["7", "7.5", "7.5 wide", "wide"]) == "7.5 wide"


def test_a_value_of_signs_can_be_named() -> None:
    assert named_value('pillows with size: 28" x 28", and price', ['18" x 18"', '28" x 28"']) == '28" x 28"'


@given(texts, values)
def test_a_named_value_stands_in_the_instruction(text: str, offered: list[str]) -> None:
    named = named_value(text, offered)
    assert named is None or (named in offered and named in text.lower())


@pytest.mark.parametrize(
    ("instruction", "name", "offered", "value"),
    [
        ("red shirt with color: black, and size: 3x-large", "size", ["large", "3x-large", "xx-large"], "3x-large"),
        # stated for this option, so the red of the other does not count
        ("shirt with cuff: red, and color: blue", "color", ["red", "blue"], "blue"),
        ("i need a shirt in size xxl", "size", ["x-large", "xx-large"], "xx-large"),
        (
            "oil, 12 ounces, pack of three",
            "size",
            ["12 ounce (pack of 1)", "12 ounce (pack of 3)"],
            "12 ounce (pack of 3)",
        ),
        ("a white desk", "color", ["01-black", "01-white"], "01-white"),
        ("a white desk", "color", ["white oak", "white"], "white"),
        ("a desk in white oak", "color", ["white oak", "white"], "white oak"),
        ("boots, eleven and a half", "size", ["11", "11.5", "12"], "11.5"),
        ("a white desk", "color", ["red", "blue"], None),
        ("a pack of tea", "size", ["pack of 1", "pack of 3"], None),
        ("a lamp", "color", [], None),
    ],
)
def test_the_value_that_an_instruction_asks_for(
    instruction: str, name: str, offered: list[str], value: str | None
) -> None:
    assert best_value(instruction, name, offered) == value


@given(texts, st.text(max_size=8), values)
def test_the_best_value_is_one_of_those_offered(text: str, name: str, offered: list[str]) -> None:
    best = best_value(text, name, offered)
    assert best is None or best in offered


@given(values.filter(bool), st.data())
def test_a_stated_value_is_chosen(offered: list[str], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(offered))
    chosen = best_value(f"a thing with size: {wanted}, and price", "size", offered)
    assert chosen is not None
    assert f"size: {chosen}, and " in f"size: {wanted}, and "


# -- whole products ------------------------------------------------------------------------------------------------


def test_agreement_counts_words_of_title_and_options_and_options_met() -> None:
    # red, shoe, 7, and "size" as the option's name; of the options only "7" is met in full, "red | blue" is not
    assert agreement("red shoe in size 7", "Shoe", {"color": ["red | blue"], "size": ["7", "8"]}) == 4 + 1


def test_agreement_counts_a_repeated_word_once() -> None:
    assert agreement("red shoe", "Red red RED", {"color": ["red"]}) == 1 + 1


def test_nothing_agrees_with_a_product_without_texts() -> None:
    assert agreement("red shoe", "", {}) == 0
