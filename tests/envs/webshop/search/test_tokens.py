"""Tokens worked out by hand from UAX #29 and the rules of Lucene's filters."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.webshop.search.tokens import STOP_WORDS, analyze
from llm_gym.envs.webshop.search.word_break import words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" - ... !", []),
        ("size 6.5, 1,000 sold", ["size", "6.5", "1,000", "sold"]),
        ("1. 2,a a.1", ["1", "2", "a", "a", "1"]),
        ("ends. u.s.a. e.g.", ["ends", "u.s.a", "e.g"]),
        ("a:b 1:2 1;2", ["a:b", "1", "2", "1;2"]),
        ("don't 'quoted' rock'n'roll", ["don't", "quoted", "rock'n'roll"]),
        ("men’s", ["men’s"]),
        ("foo_bar _x_ ___ a__1", ["foo_bar", "_x_", "a__1"]),
        ("4k 1080p b2b 3-in-1", ["4k", "1080p", "b2b", "3", "in", "1"]),
        ("50% $9.99 #1 @you c++", ["50", "9.99", "1", "you", "c"]),
        ("café naïve", ["café", "naïve"]),
        ("cafe\u0301s", ["cafe\u0301s"]),
        ("soft\u00adhyphen", ["soft\u00adhyphen"]),
        ("zero\u200bwidth", ["zero", "width"]),
        ("日本語", ["日", "本", "語"]),
        ("ひら", ["ひ", "ら"]),
        ("カタカナ", ["カタカナ"]),
        ("한국어", ["한국어"]),
        ("สวัสดี", ["สวัสดี"]),
        ('צה"ל ג\' א"', ['צה"ל', "ג'", "א"]),
        ("12345", ["12345"]),
        ("☂️ ⌚", ["☂️", "⌚"]),
        ("a😀😀b", ["a", "😀", "😀", "b"]),
        ("👩‍❤️‍👩", ["👩‍❤️‍👩"]),
        ("👍🏽", ["👍🏽"]),
        ("🇩🇪🇫🇷🇮", ["🇩🇪", "🇫🇷"]),
        ("1️⃣ #️⃣ #", ["1️⃣", "#️⃣"]),
        ("™ ® ★", ["™", "®", "★"]),
        ("Ⓜ Ⓜa", ["Ⓜ", "Ⓜa"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The women's running shoes", ["women", "run", "shoe"]),
        ("MEN’S boys＇s it's", ["men", "boi"]),
        ("boys' s", ["boi", "s"]),
        ("İstanbul ΟΔΟΣ", ["istanbul", "οδοσ"]),
        ("with AND the", []),
        ("a 24 pack of 12 oz. cans", ["24", "pack", "12", "oz", "can"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert analyze(text) == expected


def test_lucene_has_33_stop_words() -> None:
    assert len(STOP_WORDS) == 33


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("x" * 600, [255, 255, 90]),
        ("x" * 255, [255]),
        ("_" * 300 + "abc", [255, 2]),  # the first window with a letter in it ends behind the a
        ("\U00010400" * 200, [127, 73]),  # letters of two UTF-16 units
        ("a." * 200, [255, 143]),
    ],
)
def test_a_long_word_is_cut_at_255_units(text: str, lengths: list[int]) -> None:
    assert [len(word) for word in words(text)] == lengths


@given(st.text())
def test_words_are_parts_of_the_text_in_order(text: str) -> None:
    position = 0
    for word in words(text):
        position = text.index(word, position) + len(word)


@given(st.text(), st.text())
def test_a_space_separates(before: str, after: str) -> None:
    assert analyze(f"{before} {after}") == analyze(before) + analyze(after)


@given(st.text(alphabet=st.characters(max_codepoint=0x7F)))
def test_ascii_rules_are_the_general_rules(text: str) -> None:
    assert words(text) == [word for word in words("é " + text) if word != "é"]


@pytest.mark.parametrize(
    "unit", ["a", "_", "_\u0301", "\u200d", "é:\u0301", "😀\u200d", "\U0001f1e6\u0301", "日", "1."]
)
def test_no_text_takes_quadratic_time(unit: str) -> None:
    text = unit * (100_000 // len(unit))
    start = time.perf_counter()
    analyze(text)
    assert time.perf_counter() - start < 5
