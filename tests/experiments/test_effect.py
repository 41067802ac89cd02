"""What is known of the scripted model comes out: opinions that are good help, and random ones harm."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from llm_gym.experiments.clients import kept, named
from llm_gym.experiments.grid import play
from llm_gym.llm import Prices


def test_opinions_help_in_the_shop_and_random_ones_harm(grid: Callable[..., Any], tmp_path: Path) -> None:
    clients = {"scripted": kept(named("scripted"), tmp_path, Prices.shipped())}
    results = {result.cell.label: result.evaluation for result in play(grid(tasks=100), clients, tmp_path)}
    alone, advised = results["scripted alone"], results["scripted + 1 opinion"]
    random = results["scripted + random opinion"]
    assert 0.15 < alone.success < 0.60
    assert advised.compare(alone).success.low > 0
    assert random.compare(alone).score.high < 0
    assert advised.opinions.agreement_first > 0.7
    assert advised.success < results["expert"].success + 0.15
