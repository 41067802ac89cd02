"""The published numbers are what is printed in the papers, and what the notes say about them is true."""

from __future__ import annotations

import pytest

from llm_gym.experiments import EXPERIMENTS
from llm_gym.experiments.published import published


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_its_published_table_with_a_source(name: str) -> None:
    known = published(name)
    assert "arXiv:2306.02224" in known.source
    assert all(len(row) == len(known.results.columns) for row in known.results.rows)
    assert known.notes


def test_precision_of_the_shop_is_success_of_the_purchases_within_rounding() -> None:
    for label, success, _, precision, purchases in published("opinions-webshop").results.rows:
        expected = float(success) / float(purchases) if float(purchases) else 0.0
        assert float(precision) == pytest.approx(expected, abs=0.0016), label


def test_success_of_the_house_is_games_won_of_134() -> None:
    for label, success, reward, *_ in published("opinions-alfworld").results.rows:
        assert float(success) == pytest.approx(float(reward) / 134, abs=0.0006), label


def test_precision_of_the_house_contradicts_itself_but_in_the_rows_of_claude_and_of_il_without_beams() -> None:
    agree = [
        label
        for label, success, _, precision, completed in published("opinions-alfworld").results.rows
        if float(completed) and float(precision) == pytest.approx(float(success) / float(completed), abs=0.0016)
    ]
    assert agree == ["IL w/o beam search", "Auto-GPT (Claude)", "Auto-GPT (Claude) + IL"]
