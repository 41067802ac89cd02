"""The rule that reads the options."""

from __future__ import annotations

from typing import Any

from llm_gym.policies import FirstHitPolicy

GOAL = "i want a dress in dark blue, size x-large, and price lower than 40.00 dollars"
OPTIONS = {"color": ("blue", "dark blue", "red"), "size": ("large", "x-large"), "style": ("long",)}


def test_it_searches_and_opens_as_the_rule_does(pages: Any) -> None:
    policy = FirstHitPolicy()
    assert policy.act("", pages(GOAL).search()).action == f"search[{GOAL}]"
    results = pages(GOAL).results(("B0AA", "Sock", "$99.0"), ("B0BB", "Dark blue dress x-large", "$20.0"))
    assert policy.act("", results).action == "click[b0aa]"


def test_it_chooses_the_longest_value_the_instruction_names_then_buys(pages: Any) -> None:
    policy = FirstHitPolicy()
    page = pages(GOAL)
    actions = [
        policy.act("", page.item(OPTIONS)).action,
        policy.act("", page.item(OPTIONS, {"color": "dark blue"})).action,
        policy.act("", page.item(OPTIONS, {"color": "dark blue", "size": "x-large"})).action,
    ]
    assert actions == ["click[dark blue]", "click[x-large]", "click[buy now]"]


def test_an_option_that_cannot_be_chosen_is_clicked_once(pages: Any) -> None:
    policy = FirstHitPolicy()
    page = pages(GOAL)
    policy.act("", page.item({"color": ("dark blue",)}))
    refused = page.item({"color": ("dark blue",)}, invalid_action="There is nothing called so.")
    assert policy.act("", refused).action == "click[buy now]"


def test_a_value_that_two_options_share_is_chosen_once(pages: Any) -> None:
    shared = {"color": ("red",), "trim": ("red",)}
    assert FirstHitPolicy().act("", pages("a red hat").item(shared, {"trim": "red"})).action == "click[buy now]"


def test_another_item_is_another_choice(pages: Any) -> None:
    policy = FirstHitPolicy()
    page = pages(GOAL)
    policy.act("", page.item(OPTIONS))
    policy.act("", page.results(("B0AA", "Dress", "$9.0")))
    assert policy.act("", page.item(OPTIONS)).action == "click[dark blue]"
