"""Before a cent is spent: the calls, the tokens and the cost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_gym.experiments.forecast import ANSWER_TOKENS, forecasts, told
from llm_gym.llm import Prices, ScriptedClient
from llm_gym.llm.prices import Price


def never() -> ScriptedClient:
    def answer(request: Any) -> str:
        raise AssertionError("a forecast asks nothing")

    return ScriptedClient(answer, model="priced")


def test_nothing_is_asked_and_the_numbers_are_those_of_the_grid(grid: Callable[..., Any]) -> None:
    found = forecasts(grid(tasks=5, models=("priced",)), {"priced": never()}, Prices({"priced": Price(1.0, 10.0)}, ""))
    assert found[0].label == "priced alone"
    assert [one.calls for one in found] == [5 * 20] * 4
    for one in found:
        assert 500 < one.prompt_tokens[0] / one.calls < 3196 == one.prompt_tokens[1] / one.calls
        assert one.completion_tokens == one.calls * ANSWER_TOKENS
        assert one.cost_usd == pytest.approx(
            [(tokens + 10 * one.completion_tokens) / 1e6 for tokens in one.prompt_tokens]
        )


def test_a_suggestion_makes_the_first_prompt_longer(grid: Callable[..., Any]) -> None:
    alone, advised, *_ = forecasts(grid(tasks=5, models=("priced",)), {"priced": never()}, Prices({}, ""))
    assert advised.prompt_tokens[0] > alone.prompt_tokens[0]


def test_an_unknown_price_is_said(grid: Callable[..., Any]) -> None:
    found = forecasts(grid("opinions-alfworld", 2, models=("priced",)), {"priced": never()}, Prices({}, ""))
    assert [one.cost_usd for one in found] == [None, None]
    assert told(found).rows[-1][-1] == "unknown"


def test_what_is_finished_costs_nothing_more(
    grid: Callable[..., Any], played: Callable[..., Any], stops: Callable[..., Any], tmp_path: Path
) -> None:
    played(tmp_path / "table", stops(), tasks=4)
    clients = {"priced": never()}
    whole = forecasts(grid(tasks=4, models=("priced",)), clients, Prices({}, ""), tmp_path / "table")
    assert [one.calls for one in whole] == [0, 0, 0, 0]
    assert [one.prompt_tokens for one in whole] == [(0, 0)] * 4
