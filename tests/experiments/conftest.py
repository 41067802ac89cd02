"""Grids that are small, and models whose answers are known."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_gym.core import Usage
from llm_gym.errors import ChatError
from llm_gym.experiments import EXPERIMENTS
from llm_gym.experiments.clients import kept
from llm_gym.experiments.declaration import Choices, Grid
from llm_gym.experiments.grid import Result, play
from llm_gym.llm import ChatClient, Completion, Prices, Request, ScriptedClient
from llm_gym.llm.layer import Layer
from llm_gym.llm.prices import Price

FINISH = json.dumps({"thoughts": {"text": "Enough."}, "command": {"name": "finish", "args": {"response": "done"}}})
PRICES = Prices({"priced": Price(3.00, 15.00)}, "2026-01-01")


class Asked(Layer):
    """Counts its questions."""

    questions = 0

    def complete(self, request: Request) -> Completion:
        self.questions += 1
        return super().complete(request)


def _stops(number: int | None = None, then: ChatError | None = None) -> Asked:
    """A model that ends every episode at once, for 1,000 tokens read and 100 written: at $3 and $15 that is $0.0045.

    Args:
        number: of answers; None: as many as wanted.
        then: raised after them.
    """
    answer = Completion(FINISH, Usage(1_000, 100), model="priced")
    if number is None:
        return Asked(ScriptedClient(lambda request: answer, model="priced"))
    return Asked(ScriptedClient([*[answer] * number, *([then] if then is not None else [])], model="priced"))


@pytest.fixture
def stops() -> Callable[..., Asked]:
    return _stops


@pytest.fixture
def grid() -> Callable[..., Grid]:
    """The grid of an experiment, of few tasks."""

    def declared(name: str = "opinions-webshop", tasks: int = 10, **choices: Any) -> Grid:
        return EXPERIMENTS[name].grid(Choices(tasks=tasks, **choices))

    return declared


@pytest.fixture
def played(grid: Callable[..., Grid]) -> Callable[..., list[Result]]:
    """The shop's grid, played by one priced model."""

    def run(out: Path, client: ChatClient, budget_usd: float | None = None, tasks: int = 10) -> list[Result]:
        out.mkdir(exist_ok=True)
        clients = {"priced": kept(client, out, PRICES, budget_usd)}
        return list(play(grid(tasks=tasks, models=("priced",)), clients, out))

    return run
