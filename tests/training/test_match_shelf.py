"""Demonstrations as products seen, bought and passed by."""

from __future__ import annotations

import random

from llm_gym.demonstrations import Demonstration, DemonstrationStep
from llm_gym.policies.matching.forest import Forest
from llm_gym.policies.matching.model import MatchModel
from llm_gym.training.match_accuracy import accuracies
from llm_gym.training.match_examples import option_examples, product_examples, stages
from llm_gym.training.match_shelf import Shelf, telling_words, wishes_of

HEAD = "Instruction:\n{goal}\n[button] Back to Search [button_]\n"
LINK = "\n[button] {asin} [button_]\n{title}\n$5.0\n"
ITEM = """[button] < Prev [button_]
size
  [{button}] 8 [{button}_]
  [button] 9 [button_]
{title}
Price: $5.0
Rating: N.A.
[button] Features [button_]
[button] Buy Now [button_]
"""
TITLES = {"B0A": "Red Shoe", "B0B": "Blue Shoe"}


def step(observation: str, *actions: str, chosen: int = 0) -> DemonstrationStep:
    return DemonstrationStep(observation, actions, chosen)


def shopping(goal: str = "i need a red shoe in 8", features: bool = True) -> Demonstration:
    """B is opened and left; A is opened, read on demand, and bought in size 8."""
    head = HEAD.format(goal=goal)
    listed = "".join(LINK.format(asin=asin, title=title) for asin, title in TITLES.items())
    results = f"{head}Page 1 (Total results: 2)\n[button] Next > [button_]\n{listed}"
    first, second = (head + ITEM.format(title=title, button="button") for title in TITLES.values())
    chosen = "You have clicked 8.\n" + head + ITEM.format(title="Red Shoe", button="clicked button")
    read = [
        step(first, "click[features]"),
        step(f"{head}[button] < Prev [button_]\n red leather\n", "click[< prev]"),
    ]
    steps = (
        step(f"WebShop\nInstruction: \n{goal}\n[button] Search [button_]\n", "search[shoe]"),
        step(results, "click[b0a]", "click[b0b]", chosen=1),
        step(second, "click[< prev]"),
        step(results, "click[b0a]", "click[b0b]"),
        *(read if features else []),
        step(first, "click[8]"),
        step(chosen, "click[buy now]"),
    )
    return Demonstration("B0A.h0", goal, steps, success=True)


def renamed(told: Demonstration, before: str, after: str) -> Demonstration:
    """With other ids, in pages as well as actions, or other titles."""
    steps = tuple(
        DemonstrationStep(
            one.observation.replace(before, after).replace(before.upper(), after.upper()),
            tuple(action.replace(before, after) for action in one.actions),
            one.chosen,
        )
        for one in told.steps
    )
    return Demonstration(told.task_id, told.goal, steps, success=True)


def test_an_instruction_has_what_was_seen_and_what_was_bought() -> None:
    (wish,) = wishes_of([shopping(features=False), shopping()])
    assert wish.bought == {"B0A": {frozenset({("size", "8")})}}
    assert list(wish.products) == ["B0A", "B0B"]
    assert wish.products["B0A"].features == " red leather\n"
    assert wish.products["B0B"].options == {"size": ["8", "9"]}
    assert wish.products["B0B"].features is None


def test_without_a_purchase_nothing_is_learned() -> None:
    whole = shopping()
    assert wishes_of([Demonstration("x", whole.goal, whole.steps[:-1])]) == []


def test_results_are_filled_up_with_products_that_others_saw() -> None:
    wishes = wishes_of([shopping()])
    boots = renamed(renamed(shopping("i need a blue boot"), "b0", "b1"), "Shoe", "Boot")
    wishes += wishes_of([boots])
    shelf = Shelf(wishes)
    assert set(shelf.known) == {"B0A", "B0B", "B1A", "B1B"}
    results = shelf.results(wishes[0], pages=1)
    assert list(results) == ["B0A", "B0B", "B1A"]  # the red boot shares a word, the blue one none
    assert [one.rank for one in results.values()] == [0, 1, 2]


def test_a_product_becomes_known_in_stages() -> None:
    (wish,) = wishes_of([shopping()])
    known = [(one.options is not None, one.features is not None) for one in stages(wish.products["B0A"])]
    assert known == [(False, False), (True, False), (True, True)]
    assert len(list(stages(wish.products["B0B"]))) == 2


def test_each_value_and_each_stage_of_a_product_is_an_example() -> None:
    wishes = wishes_of([shopping()])
    shelf, rng = Shelf(wishes), random.Random(0)
    model = MatchModel(Forest.empty(), Forest.empty(), {}, {})
    options = option_examples(wishes, shelf, rng)
    assert (options.labels, options.weights) == ([True, False], [1.0, 1.0])
    products = product_examples(wishes, shelf, model, rng)
    assert products.labels == [True, True, True, False, False]
    assert products.weights == [1.0] * 5


def test_words_are_rated_by_how_often_they_stand_in_what_was_bought() -> None:
    wishes = []
    for number in range(12):
        wishes += wishes_of([renamed(shopping(f"i prefer a red shoe {number}"), "b0a", f"c{number:02}")])
    telling = telling_words([(wishes, Shelf(wishes))])
    assert telling["red"] == telling["shoe"] == 1.0
    assert telling["prefer"] == round(1 / 13, 3)
    assert "7" not in telling  # one product only


def test_a_model_is_measured_by_kind_of_decision() -> None:
    undecided = MatchModel(Forest.empty(), Forest.empty(), {}, {})
    measured = accuracies(undecided, [shopping()])
    # Even odds for all: equals are found the best, 8 is the first of the equal values, nothing is unlikely.
    assert measured == {"pick item": 1.0, "option": 1.0, "buy": 1.0, "back": 0.0}
