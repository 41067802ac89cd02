"""What an experiment would ask for and cost, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import gymnasium as gym

from llm_gym.core import Info, Usage
from llm_gym.envs.base import panel_of
from llm_gym.evaluation.runner import number_of_tasks
from llm_gym.evaluation.store import PLAN, read_records
from llm_gym.evaluation.tables import Table
from llm_gym.experiments.declaration import Cell, Grid
from llm_gym.experiments.grid import folder_of, policy_of, world_of
from llm_gym.llm import ChatClient, Completion, Prices, Request, count_tokens
from llm_gym.policies.agents.base import AgentPolicy
from llm_gym.policies.base import Policy

ANSWER_TOKENS = 150
"""Of an answer: thoughts and a command in JSON."""
_FIRST_PAGES = 3
"""So many first prompts are made."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """What the rest of a cell may cost.

    Attributes:
        label: of the cell.
        calls: if every episode goes to its last step and every answer holds a command; less is likely.
        prompt_tokens: if all prompts were as long as the first of an episode, and as long as a prompt may be.
        completion_tokens: of all answers.
        cost_usd: for both lengths of prompts; None: the price is not known.
    """

    label: str
    calls: int
    prompt_tokens: tuple[int, int]
    completion_tokens: int
    cost_usd: tuple[float, float] | None


class _Overheard(Exception):
    def __init__(self, request: Request) -> None:
        self.request = request


class _Listener:
    """A client that answers nothing; it tells what it was asked."""

    def __init__(self, client: ChatClient) -> None:
        self._client = client

    @property
    def model(self) -> str:
        return self._client.model

    def settings(self) -> dict[str, Any]:
        return self._client.settings()

    def complete(self, request: Request) -> Completion:
        raise _Overheard(request)


def forecasts(grid: Grid, clients: Mapping[str, ChatClient], prices: Prices, out: Path | None = None) -> list[Forecast]:
    """One for each cell that asks a model; nothing is asked.

    Args:
        grid: what would be played.
        clients: the models by their names.
        prices: of models.
        out: folder of the experiment: what is finished there costs nothing more.
    """
    listening = {name: _Listener(client) for name, client in clients.items()}
    return [_of_cell(grid, cell, listening, prices, out) for cell in grid.cells if cell.model is not None]


def _of_cell(grid: Grid, cell: Cell, clients: Mapping[str, ChatClient], prices: Prices, out: Path | None) -> Forecast:
    assert cell.model is not None, "this cell asks a model"
    model, policy = clients[cell.model].model, policy_of(grid, cell, clients)
    with closing(world_of(grid, cell)) as env:
        tasks = panel_of(env)[: number_of_tasks(grid.tasks, panel_of(env))]
        first = max((_first_prompt(policy, env, task, model) for task in tasks[:_FIRST_PAGES]), default=0)
    longest = max(first, policy.prompt_tokens if isinstance(policy, AgentPolicy) else 0)
    calls = (len(tasks) - _finished(out, cell)) * cell.steps
    prompts, answers = (calls * first, calls * longest), calls * ANSWER_TOKENS
    costs = [prices.cost_usd(model, Usage(tokens, answers)) for tokens in prompts]
    known = None if costs[0] is None or costs[1] is None else (costs[0], costs[1])
    return Forecast(cell.label, calls, prompts, answers, known)


def _first_prompt(policy: Policy, env: gym.Env[str, str], task: str, model: str) -> int:
    """Tokens of what a model would be asked first."""
    policy.reset(seed=0)
    observation, info = env.reset(seed=0, options={"task": task})
    try:
        policy.act(observation, cast(Info, info))
    except _Overheard as heard:
        return count_tokens(heard.request.messages, model)
    return 0


def _finished(out: Path | None, cell: Cell) -> int:
    """Episodes that are there and will not be played again."""
    if out is None or not (folder_of(out, cell) / PLAN).exists():
        return 0
    return sum(row["ended_by"] != "error" for row in read_records(folder_of(out, cell)).episodes)


def told(found: list[Forecast]) -> Table:
    """As people read it, with a sum."""
    rows = [_row(one) for one in found]
    return Table(("row", "calls at most", "tokens read", "tokens written", "cost in $"), (*rows, _row(_sum(found))))


def _row(one: Forecast) -> tuple[str, ...]:
    cost = "unknown" if one.cost_usd is None else f"{one.cost_usd[0]:,.2f} to {one.cost_usd[1]:,.2f}"
    read = f"{one.prompt_tokens[0]:,} to {one.prompt_tokens[1]:,}"
    return one.label, f"{one.calls:,}", read, f"{one.completion_tokens:,}", cost


def _sum(found: list[Forecast]) -> Forecast:
    costs = [one.cost_usd for one in found]
    known = [cost for cost in costs if cost is not None]
    return Forecast(
        "all",
        sum(one.calls for one in found),
        (sum(one.prompt_tokens[0] for one in found), sum(one.prompt_tokens[1] for one in found)),
        sum(one.completion_tokens for one in found),
        (sum(low for low, _ in known), sum(high for _, high in known)) if len(known) == len(costs) else None,
    )
