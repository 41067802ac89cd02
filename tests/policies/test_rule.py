"""The rule baseline, and what all shoppers do alike."""

from __future__ import annotations

from typing import Any

import pytest

from llm_gym.core import Opinion
from llm_gym.policies import RulePolicy

GOAL = "i want red shoes, and price lower than 40.00 dollars"
RESULTS = (("B0AA", "Red Shoe", "$10.0"), ("B0BB", "Blue Shoe", "$20.0"))


@pytest.fixture
def rule() -> RulePolicy:
    policy = RulePolicy()
    policy.reset(seed=0)
    return policy


def test_it_searches_the_whole_instruction_with_its_price(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).search()).action == f"search[{GOAL}]"


def test_brackets_in_the_instruction_do_not_end_the_search(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages("a shoe [wide]\nin red").search()).action == "search[a shoe wide in red]"


def test_it_opens_the_first_result(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).results(*RESULTS)).action == "click[b0aa]"


def test_it_opens_the_first_result_also_when_the_links_have_other_names(pages: Any, rule: RulePolicy) -> None:
    info = pages(GOAL).results(*RESULTS)
    info["admissible_actions"][2:] = ["click[item - red shoe]", "click[item - blue shoe]"]
    assert rule.act("", info).action == "click[item - red shoe]"


def test_it_buys_without_choosing_options(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).item({"color": ("red", "blue")})).action == "click[buy now]"


def test_it_comes_back_from_a_sub_page(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).sub_page()).action == "click[< prev]"


def test_it_stops_where_nothing_was_found(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).results()).action is None


def test_it_stops_after_the_purchase(pages: Any, rule: RulePolicy) -> None:
    assert rule.act("", pages(GOAL).done()).action is None


def test_it_stops_rather_than_repeat_what_the_world_refused(pages: Any, rule: RulePolicy) -> None:
    page = pages(GOAL).search()
    rule.act("", page)
    assert rule.act("", page | {"invalid_action": "There is no search bar."}).action is None


@pytest.mark.parametrize("info", [{}, {"admissible_actions": None}, {"screen": "results"}, {"screen": "item"}])
def test_it_stops_where_a_page_says_nothing(rule: RulePolicy, info: Any) -> None:
    assert rule.act("", info).action is None


def test_asked_for_three_opinions_it_names_the_first_results_in_order(pages: Any, rule: RulePolicy) -> None:
    opinions = rule.advise("", pages(GOAL).results(*RESULTS), 3)
    assert opinions == [Opinion("click[b0aa]", source="rule"), Opinion("click[b0bb]", source="rule")]


def test_being_asked_for_advice_changes_nothing(pages: Any, rule: RulePolicy) -> None:
    page = pages(GOAL).search() | {"invalid_action": "Somebody else tried to click."}
    rule.advise("", page, 1)
    assert rule.act("", page).action == f"search[{GOAL}]"


def test_elsewhere_it_takes_the_first_action_it_has_not_taken_on_the_same_page(rule: RulePolicy) -> None:
    info: Any = {"admissible_actions": ["left", "right"]}
    assert [rule.act(page, info).action for page in ("A", "B", "A", "A")] == ["left", "left", "right", None]
