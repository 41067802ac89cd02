"""Matches as numbers, worked out by hand."""

from __future__ import annotations

import math

import pytest

from llm_gym.policies.matching.option_features import OPTION_FEATURES, option_features
from llm_gym.policies.matching.product_features import (
    PRODUCT_FEATURES,
    Evidence,
    OptionFit,
    Scale,
    product_features,
)
from llm_gym.policies.matching.wanted import wanted

GOAL = "i am looking for a red wood chair with color: red, and size: large, and price lower than 40.00 dollars"


def of_options(values: list[str], name: str = "color") -> list[dict[str, float]]:
    rows = option_features(wanted(GOAL), name, values)
    return [dict(zip(OPTION_FEATURES, row, strict=True)) for row in rows.tolist()]


def of_product(evidence: Evidence, *titles: str, telling: dict[str, float] | None = None) -> dict[str, float]:
    scale = Scale(wanted(GOAL), [evidence.title, *titles], telling or {})
    return dict(zip(PRODUCT_FEATURES, product_features(scale, evidence), strict=True))


def test_an_instruction_is_taken_apart() -> None:
    told = wanted("i am looking for a red shoe that is red, and price lower than 40.00 dollars")
    assert told.text == "red shoe that is red"
    assert told.words == ("red", "shoe")
    assert told.pairs == {frozenset(("red", "shoe"))}
    assert told.limit == 40.0


def test_the_value_that_is_asked_for_stands_out() -> None:
    red, dark = of_options(["red", "dark blue"])
    assert (red["is stated as name: value"], dark["is stated as name: value"]) == (1, 0)
    assert (red["words found"], red["words missing"], red["words in a row"]) == (1, 0, 1)
    assert (dark["words found"], dark["words missing"]) == (0, 2)
    assert red["words found, less the best of the others"] == 1
    assert dark["words found, less the best of the others"] == -1
    assert (red["colour found"], dark["colour found"]) == (1, -1)
    assert red["values"] == 2


def test_a_word_that_all_values_share_tells_nothing() -> None:
    first, _ = of_options(["red wood", "blue wood"])
    assert (first["words found"], first["telling words found"]) == (2, 1)


def test_an_option_with_one_value_or_four_hundred_has_a_row_for_each() -> None:
    assert len(of_options(["red"])) == 1
    assert len(of_options([f"shade {number}" for number in range(400)])) == 400


def test_what_was_not_seen_is_unknown() -> None:
    row = of_product(Evidence("Red Chair", "$10.0", 3))
    assert row["rank"] == math.log(4)
    assert (row["affordable"], row["dollars left"]) == (1, 30.0)
    assert math.isnan(row["options"])
    assert math.isnan(row["all: share of weight"])


def test_a_rare_word_weighs_more_than_one_that_every_title_holds() -> None:
    row = of_product(Evidence("Wood Chair", "$50.0", 0), "Red Chair", "Blue Chair")
    # Of 3 titles "chair" stands in all, "red" and "wood" in one each, "color", "size" and "large" in none.
    all_hold, one_holds, none_holds = math.log(4.5 / 3.5), math.log(4.5 / 1.5), math.log(4.5 / 0.5)
    total = all_hold + 2 * one_holds + 3 * none_holds
    assert row["title: share of weight found"] == pytest.approx((all_hold + one_holds) / total)
    assert row["title: heaviest missing"] == pytest.approx(none_holds)
    assert row["title: pairs found"] == 1
    assert row["affordable"] == 0


def test_a_word_that_tells_nothing_weighs_nothing() -> None:
    row = of_product(Evidence("Chair", "$1.0", 0), telling=dict.fromkeys(("red", "wood", "color", "size", "larg"), 0.0))
    assert row["title: share of weight found"] == 1
    assert row["title: weight missing"] == 0


def test_options_and_features_supply_what_the_title_lacks() -> None:
    size = OptionFit("size", "large", 0.9, ("small", "large"))
    row = of_product(Evidence("Chair", "$1.0", 0, (size,), " solid wood\n"))
    assert (row["options"], row["options fitting"], row["options: stated and there"]) == (1, 1, 1)
    assert row["options: stated and missing"] == 1  # the colour
    assert row["features: weight found beyond title and best values"] == pytest.approx(math.log(2.5 / 0.5))
    # Missing: red, color, size; the name of an option does not count.
    assert row["all: weight missing"] == pytest.approx(3 * math.log(2.5 / 0.5))
