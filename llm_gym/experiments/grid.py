"""A grid is played: every cell is a run folder of its own, which resumes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import gymnasium as gym

from llm_gym.errors import EndpointDown, RateLimited
from llm_gym.evaluation.evaluation import Evaluation
from llm_gym.evaluation.records import Row
from llm_gym.evaluation.runner import evaluate
from llm_gym.experiments.asked_after_end import AskedAfterEnd
from llm_gym.experiments.declaration import Cell, Grid
from llm_gym.llm import ChatClient
from llm_gym.policies.base import Policy
from llm_gym.registry import policies
from llm_gym.wrappers.opinion import OpinionWrapper

RUNS = "runs"
"""Below the folder of an experiment: the run folders."""
_DOWN = {kind.__name__: kind for kind in (EndpointDown, RateLimited)}
"""What an episode ends in when the endpoint has gone away: the following would end in the same."""

Progress = Callable[[Cell, Row], object]
"""Receives every episode's row once, with the cell that it belongs to."""


@dataclass(frozen=True, slots=True)
class Result:
    """A row of the table with its episodes."""

    cell: Cell
    evaluation: Evaluation


def play(
    grid: Grid,
    clients: Mapping[str, ChatClient],
    out: Path,
    *,
    jobs: int = 1,
    concurrency: int = 1,
    seed: int = 0,
    progress: Progress | None = None,
) -> Iterator[Result]:
    """Play the cells, one after the other; each is given when it is finished, and what is there is not played again.

    Args:
        grid: what to play.
        clients: the models by their names.
        out: folder of the experiment.
        jobs: processes.
        concurrency: episodes in flight in each of them, where a model is asked.
        seed: of everything random.
        progress: called with each row.

    Raises:
        EndpointDown, RateLimited: a model could not be reached any more, though it was asked again for minutes.
        LLMGymError: see `evaluate`.
    """
    for cell in grid.cells:
        with closing(world_of(grid, cell)) as env:
            evaluation = evaluate(
                policy_of(grid, cell, clients),
                env,
                grid.tasks,
                jobs=jobs,
                concurrency=1 if cell.model is None else concurrency,
                seed=seed,
                out=folder_of(out, cell),
                progress=lambda row, cell=cell: _heard(cell, row, progress),  # type: ignore[misc]
            )
        yield Result(cell, evaluation)


def world_of(grid: Grid, cell: Cell) -> gym.Env[str, str]:
    """The world of a cell, with its opinions."""
    with warnings.catch_warnings():
        # Who asks for the original version by name knows that it is the original.
        warnings.filterwarnings("ignore", message=r".*is out of date", category=DeprecationWarning)
        env: gym.Env[str, str] = gym.make(grid.environment, max_episode_steps=cell.steps, **grid.world)
    shown = cell.opinions
    if shown is not None:
        env = OpinionWrapper(env, shown.expert, top_k=shown.top_k, draw=shown.draw, control=shown.control)
    return AskedAfterEnd(env) if grid.asked_after_end and cell.model is not None else env


def policy_of(grid: Grid, cell: Cell, clients: Mapping[str, ChatClient]) -> Policy:
    """Who plays in a cell."""
    if cell.policy is not None:
        return cell.policy
    assert cell.model is not None, "a cell has a policy or a model"
    agent: Policy = policies.load(grid.agent)(model=clients[cell.model], **grid.agent_settings)
    return agent


def folder_of(out: Path, cell: Cell) -> Path:
    return out / RUNS / cell.folder


def _heard(cell: Cell, row: Row, progress: Progress | None) -> None:
    """Tell of a row, and stop where its model has gone away; the row is in its folder by then."""
    if progress is not None:
        progress(cell, row)
    kind, _, message = (row["error"] or "").partition(": ")
    if kind in _DOWN:
        raise _DOWN[kind](message)
