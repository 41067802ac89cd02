"""Goals: reachable without exception, and worded as people word them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from statistics import fmean

import pytest

from llm_gym.envs.webshop.generator import HARD, STANDARD, CatalogueSettings, Entry, generate
from llm_gym.envs.webshop.generator.acceptance import World
from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.noise import typing_error
from llm_gym.envs.webshop.generator.vocabulary import Attribute, load_vocabulary
from llm_gym.envs.webshop.generator.wording import inflected, plural, say_attribute, say_option
from llm_gym.envs.webshop.goals import fixed_price
from llm_gym.envs.webshop.reward import purchase_reward


def share(flags: Iterable[bool]) -> float:
    return fmean(map(float, flags))


@pytest.mark.parametrize(
    "settings", [STANDARD, HARD, replace(STANDARD, seed=1), replace(HARD, seed=2)], ids=["standard", "hard", "1", "2"]
)
def test_the_exact_target_with_its_options_earns_the_full_reward(settings: CatalogueSettings) -> None:
    world = World.of(generate(settings))
    for goal in world.goals:
        product = world.products[goal.asin]
        owners = {value: name for name, values in product.options.items() for value in values}
        chosen = {owners[str(option)]: str(option) for option in goal.options}
        result = purchase_reward(product, goal, fixed_price(product), chosen)
        assert result.reward == result.strict_reward == 1.0, goal


def test_goal_attributes_are_hidden_attributes_of_the_product(standard: list[Entry]) -> None:
    for entry in standard:
        for goal in entry.human_goals:
            assert goal["instruction_attributes"]
            assert set(goal["instruction_attributes"]) <= set(entry.attributes["attributes"])
            assert goal["asin"] == entry.product["asin"]


def test_there_are_goals_enough_for_disjoint_splits(standard: list[Entry]) -> None:
    counts = [len(entry.human_goals) for entry in standard]
    assert 1350 <= sum(counts) <= 1650
    assert share(count == 1 for count in counts) == pytest.approx(0.65, abs=0.05)
    assert share(count > 1 for count in counts) == pytest.approx(0.18, abs=0.04)


def test_numbers_of_attributes_and_options_follow_people(standard: list[Entry]) -> None:
    goals = [goal for entry in standard for goal in entry.human_goals]
    attributes = Counter(len(goal["instruction_attributes"]) for goal in goals)
    assert attributes[1] / len(goals) == pytest.approx(0.68, abs=0.05)
    assert attributes[2] / len(goals) == pytest.approx(0.26, abs=0.05)
    options = Counter(len(goal["instruction_options"]) for goal in goals)
    assert options[0] / len(goals) == pytest.approx(0.20, abs=0.05)


def test_instructions_are_worded_as_by_people(standard: list[Entry]) -> None:
    texts = [goal["instruction"] for entry in standard for goal in entry.human_goals]
    assert fmean(len(text.split()) for text in texts) == pytest.approx(14.4, abs=1.0)
    assert share(text.startswith(("i am looking for", "i'm looking for")) for text in texts) == pytest.approx(
        0.45, abs=0.06
    )
    assert share(text.endswith(".") for text in texts) == pytest.approx(0.70, abs=0.05)
    assert all(text == text.lower() and text == text.strip() for text in texts)
    assert not any("price" in text or "{" in text for text in texts)
    bare = Counter(text.strip(".") for text in texts)
    assert share(bare[text.strip(".")] > 1 for text in texts) == pytest.approx(0.035, abs=0.02)


def test_synthetic_instructions_name_their_attributes(standard: list[Entry]) -> None:
    rows = [entry.attributes for entry in standard]
    assert share("instruction" in row for row in rows) == pytest.approx(0.40, abs=0.05)
    for row in rows:
        if "instruction" in row:
            assert row["instruction"].startswith("Find me ")
            assert set(row["instruction_attributes"]) <= set(row["attributes"])
            assert all(attribute in row["instruction"] for attribute in row["instruction_attributes"])


def test_attribute_forms() -> None:
    assert say_attribute(Attribute("easy clean", "ease"), "function word") == "easy to clean"
    assert say_attribute(Attribute("paraben free", "quality"), "function word") == "free of paraben"
    assert say_attribute(Attribute("rubber sole", "part"), "inflected") == "rubber soles"
    assert say_attribute(Attribute("solid wood", "part"), "paraphrase") == "wood"
    assert say_attribute(Attribute("solid wood", "part"), "absent") == ""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("z2-pink", "pink"),
        ("12 ounce (pack of 6)", "12 ounce"),
        ("black | gold", "black"),
        ("dark blue", "blue"),
        ("03 navy", "navy"),
        ("24 inch", "24 inch"),
        ("x-large", "x-large"),
    ],
)
def test_simplified_options(value: str, said: str) -> None:
    assert say_option(value, "simplified", load_vocabulary().instructions) == said


@pytest.mark.parametrize(
    ("one", "other"),
    [("brush", "brushes"), ("shelf", "shelves"), ("dress", "dresses"), ("candy", "candies"), ("lamp", "lamps")],
)
def test_inflection_goes_both_ways(one: str, other: str) -> None:
    assert inflected(other) == one
    assert plural(other) == other


def test_a_typing_error_changes_one_long_word() -> None:
    text = "i need a comfortable chair"
    for index in range(50):
        words = typing_error(text, Dice(0, index)).split(" ")
        assert sum(one != other for one, other in zip(words, text.split(" "), strict=True)) <= 1
        assert words[:3] == ["i", "need", "a"]
