"""What an experiment is, before anything is played: a grid of policies, opinions and models, as small records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.policies.advice import Control, Draw
from llm_gym.policies.base import Policy

LONGEST_NAME = 100
"""Of a folder; in a longer one the middle is left out."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user may choose of an experiment."""

    models: tuple[str, ...] = ("scripted",)
    tasks: int | None = None
    """The first of the panel; None: as many as the paper."""
    expert: Policy | None = None
    """Whose opinions are shown; None: the one of the experiment."""
    agent: str = "autogpt"
    agent_settings: Mapping[str, Any] = field(default_factory=dict)
    world: Mapping[str, Any] = field(default_factory=dict)
    """Keywords of the environment."""
    accidents: frozenset[str] = frozenset()
    """Of the published set-up, to be repeated."""


@dataclass(frozen=True, slots=True)
class Opinions:
    """Which opinions an agent is shown; the arguments of `OpinionWrapper`.

    Attributes:
        label: in the table.
        expert: whose.
        top_k: how many at most.
        draw: which.
        control: "random" instead of the expert's.
        is_control: whether it tells what opinions do that say nothing.
    """

    label: str
    expert: Policy
    top_k: int = 1
    draw: Draw = "argmax"
    control: Control | None = None
    is_control: bool = False


@dataclass(frozen=True, slots=True)
class Cell:
    """One row of the table.

    Attributes:
        label: in the table.
        steps: after which an episode is stopped.
        policy: who plays, where no model does.
        model: name of the model that an agent asks.
        opinions: what the agent is shown.
    """

    label: str
    steps: int
    policy: Policy | None = None
    model: str | None = None
    opinions: Opinions | None = None

    @property
    def folder(self) -> str:
        """Name of its run folder."""
        name = re.sub(r"[^\w.]+", "-", self.label, flags=re.ASCII).strip("-.")
        return name if len(name) <= LONGEST_NAME else f"{name[:60]}-{name[-30:]}"


@dataclass(frozen=True)
class Grid:
    """What is played for a table.

    Attributes:
        name: of the experiment.
        environment: id of the world.
        world: its keywords.
        tasks: the first of its panel.
        expert: whose opinions are shown, in words.
        baselines: label → policy, which play `baseline_steps` at most.
        agent: name of the policy that asks the models.
        agent_settings: its keywords but for the model.
        agent_steps: loops of an agent.
        opinions: what the agent is shown, each in a row of its own; a row without any comes first.
        models: their names.
        finished: the metric of the last column.
        asked_after_end: whether a model is asked once more when its task has ended.
    """

    name: str
    environment: str
    world: Mapping[str, Any]
    tasks: int
    expert: str
    baselines: Mapping[str, Policy]
    baseline_steps: int
    agent: str
    agent_settings: Mapping[str, Any]
    agent_steps: int
    opinions: tuple[Opinions, ...]
    models: tuple[str, ...]
    finished: str
    asked_after_end: bool = False

    def __post_init__(self) -> None:
        if not self.models or len(set(self.models)) < len(self.models):
            raise InvalidSetting(f"An experiment needs models of different names, got {', '.join(self.models)}.")
        folders = [cell.folder.lower() for cell in self.cells]
        if len(set(folders)) < len(folders):
            raise InvalidSetting(f"The names of these models are too much alike for folders: {', '.join(self.models)}.")

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The rows of the table in order."""
        played = (Cell(label, self.baseline_steps, policy) for label, policy in self.baselines.items())
        return (*played, *(cell for model in self.models for cell in self._of(model)))

    def _of(self, model: str) -> Iterator[Cell]:
        yield Cell(f"{model} alone", self.agent_steps, model=model)
        for opinions in self.opinions:
            yield Cell(f"{model} + {opinions.label}", self.agent_steps, model=model, opinions=opinions)

    def pairs(self) -> Iterator[tuple[Cell, Cell]]:
        """Which rows say what opinions do: with against without, and last the first opinions against the control."""
        for model in self.models:
            alone, *advised = self._of(model)
            yield from ((cell, alone) for cell in advised)
            for control in (cell for cell in advised if cell.opinions is not None and cell.opinions.is_control):
                yield advised[0], control


@dataclass(frozen=True, slots=True)
class Experiment:
    """A table that can be made.

    Attributes:
        name: on the command line.
        environment: id of the world, if not the original one.
        accidents: of the published set-up that can be repeated, name → one sentence.
        declare: the grid of what a user chose.
    """

    name: str
    environment: str
    accidents: Mapping[str, str]
    declare: Callable[[Choices], Grid]

    def grid(self, choices: Choices) -> Grid:
        """The grid.

        Raises:
            UnknownName: there is no such accident.
        """
        for name in sorted(choices.accidents):
            if name not in self.accidents:
                raise UnknownName("accident", name, self.accidents)
        return self.declare(choices)
