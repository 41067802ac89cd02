"""Results of a shop by their titles."""

from __future__ import annotations

import string
from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_gym.envs.base import panel_of
from llm_gym.envs.webshop.item_names import item_names
from llm_gym.policies import LexicalPolicy, RulePolicy
from llm_gym.rollout import play
from llm_gym.wrappers import ItemTitles


class Shown(NamedTuple):
    asin: str
    title: str
    price: str = "$1.0"


class Shelf(gym.Env[str, str]):
    """Always shows the same results and keeps what it was asked to do."""

    observation_space: Any = gym.spaces.Text(10)
    action_space: Any = gym.spaces.Text(10)

    def __init__(self, *results: tuple[str, str]) -> None:
        shown = tuple(Shown(*result) for result in results)
        links = [f"click[{result.asin.lower()}]" for result in shown]
        self.info: dict[str, Any] = {"results": shown, "admissible_actions": ["click[next >]", *links]}
        self.asked: list[str] = []

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[str, dict[str, Any]]:
        return "shelf", self.info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.asked.append(action)
        return "shelf", 0.0, False, False, self.info


def asked_for(shelf: Shelf, action: str) -> str:
    env = ItemTitles(shelf)
    env.reset()
    env.step(action)
    return shelf.asked[-1]


def test_results_are_named_by_their_titles_in_lower_case_and_buttons_keep_their_names() -> None:
    _, info = ItemTitles(Shelf(("B0AA", "Red Shoe"), ("B0BB", "Blue Shoe"))).reset()
    assert info["admissible_actions"] == ["click[next >]", "click[item - red shoe]", "click[item - blue shoe]"]


@pytest.mark.parametrize(
    ("action", "plain"),
    [
        ("click[item - red shoe]", "click[b0aa]"),
        ("Click [ Item - RED Shoe ]", "click[b0aa]"),
        ("click[b0aa]", "click[b0aa]"),
        ("click[B0AA]", "click[B0AA]"),
        ("click[next >]", "click[next >]"),
        ("click[item - green shoe]", "click[item - green shoe]"),
        ("search[item - red shoe]", "search[item - red shoe]"),
        ("nonsense", "nonsense"),
    ],
)
def test_a_name_becomes_the_id_and_anything_else_is_passed_on(action: str, plain: str) -> None:
    assert asked_for(Shelf(("B0AA", "Red Shoe")), action) == plain


def test_what_is_no_string_is_passed_on() -> None:
    assert asked_for(Shelf(("B0AA", "Red Shoe")), 7) == 7  # type: ignore[arg-type, comparison-overlap]


def test_a_title_with_brackets_can_be_clicked() -> None:
    assert asked_for(Shelf(("B0AA", "Shoe [2022] (red)")), "click[item - shoe [2022] (red)]") == "click[b0aa]"


def test_the_second_of_two_equal_titles_has_a_number() -> None:
    shelf = Shelf(("B0AA", "Shoe"), ("B0BB", "shoe"))
    assert asked_for(shelf, "click[item - shoe]") == "click[b0aa]"
    assert asked_for(shelf, "click[item - shoe (2)]") == "click[b0bb]"


def test_a_number_that_is_a_title_already_is_not_given_twice() -> None:
    assert item_names([("B1", "shoe (2)"), ("B2", "shoe"), ("B3", "shoe")]) == {
        "item - shoe (2)": "click[b1]",
        "item - shoe": "click[b2]",
        "item - shoe (3)": "click[b3]",
    }


@given(st.lists(st.text(string.printable, max_size=6), max_size=8))
def test_every_result_has_a_name_of_its_own(titles: list[str]) -> None:
    names = item_names([(f"B{number}", title) for number, title in enumerate(titles)])
    assert list(names.values()) == [f"click[b{number}]" for number in range(len(titles))]


def test_names_of_a_page_that_was_left_are_forgotten() -> None:
    shelf = Shelf(("B0AA", "Red Shoe"))
    env = ItemTitles(shelf)
    env.reset()
    shelf.info = {"admissible_actions": []}
    env.step("click[next >]")
    env.step("click[item - red shoe]")
    assert shelf.asked == ["click[next >]", "click[item - red shoe]"]


@pytest.mark.parametrize("policy", [RulePolicy(), LexicalPolicy()], ids=repr)
def test_shoppers_do_as_well_with_titles_as_with_ids(
    make_env: Callable[..., gym.Env[str, str]], policy: RulePolicy | LexicalPolicy
) -> None:
    bare = make_env("llm_gym/WebShop-v1")
    for task_id in panel_of(bare)[:5]:
        plain, titled = play(bare, policy, task_id), play(ItemTitles(bare), policy, task_id)
        assert [step.reward for step in titled.steps] == [step.reward for step in plain.steps]
        assert any((step.action or "").startswith("click[item - ") for step in titled.steps)
