"""Choosing options, with a person's slips."""

from __future__ import annotations

from dataclasses import replace

import pytest

from llm_gym.errors import UnknownName
from llm_gym.policies.demonstrator.dice import Dice
from llm_gym.policies.demonstrator.habits import Habits, habits_of
from llm_gym.policies.demonstrator.options import choices
from llm_gym.policies.demonstrator.temper import Temper
from llm_gym.policies.demonstrator.wish import Wish

WISH = Wish.read("i need a red shirt in size x-large")
OFFERED = {"size": ("large", "x-large", "7"), "color": ("blue", "red", "dark red"), "fit": ("men", "women")}
NEVER = replace(habits_of("expert"), skips=0.0, slips=0.0, extra=0.0)


def chosen(habits: Habits, seed: int, carelessness: float = 1.0) -> list[str]:
    return choices(WISH, "B0A", OFFERED, habits, carelessness, Dice(seed))


def test_one_value_of_every_option_asked_for_in_the_order_of_page_or_text() -> None:
    orders = {tuple(chosen(NEVER, seed)) for seed in range(40)}
    assert orders == {("x-large", "red"), ("red", "x-large")}


def test_a_careless_shopper_leaves_options_out() -> None:
    assert chosen(replace(NEVER, skips=1.0), 1) == []
    assert chosen(replace(NEVER, skips=0.5), 1, carelessness=0.0) != []


def test_a_near_miss_has_a_word_in_common_and_where_nothing_has_there_is_none() -> None:
    assert set(chosen(replace(NEVER, slips=1.0), 1)) == {"x-large", "dark red"}


def test_the_first_value_of_an_option_that_nobody_asked_for() -> None:
    assert set(chosen(replace(NEVER, extra=1.0), 1)) == {"x-large", "red", "men"}


def test_slips_happen_as_often_as_the_habits_say() -> None:
    habits, tempers = habits_of("expert"), range(4000)
    drawn = [Temper.draw(habits, Dice(seed).stream("temper")).carelessness for seed in tempers]
    assert sum(drawn) / len(drawn) == pytest.approx(1.0, abs=0.1)


def test_an_unknown_level_is_told() -> None:
    with pytest.raises(UnknownName, match=r"Unknown level 'master'.*expert"):
        habits_of("master")


def test_dice_answer_the_same_question_alike_and_others_apart() -> None:
    dice = Dice(5)
    assert dice.stream("a", 1).random() == dice.stream("a", 1).random() != dice.stream("a", 2).random()
    assert Dice(5).happens(1.0, "x")
    assert not Dice(5).happens(0.0, "x")
