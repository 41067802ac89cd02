"""`llm-gym demos show`: what is in a file of demonstrations."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from llm_gym.cli.terminal import OK, Terminal
from llm_gym.demonstrations.files import Demonstrations, read_demonstrations
from llm_gym.demonstrations.record import Demonstration, DemonstrationStep
from llm_gym.demonstrations.sessions import mean
from llm_gym.demonstrations.statistics import Measured, ShopStatistics
from llm_gym.errors import InvalidSetting, UnknownName
from llm_gym.evaluation.tables import Table

_SHOWN_NAMES = 20_000
"""Near names are looked for among at most so many tasks."""


@dataclass(frozen=True)
class ShowDemos:
    """Check a file of demonstrations and show what is in it.

    Every line is read and checked. Demonstrations of a shop are counted beside what is known of people in the original
    one: 50 published sessions, what 1,506 goals were searched with, and the workers that the paper's expert learned
    from. With --task one demonstration is shown as it went.

    Examples:
    $ llm-gym demos show demos.jsonl
    $ llm-gym demos show demos.jsonl --task 1
    $ llm-gym demos show demos.jsonl --task B07FYPSNH8.h0 --step 2
    """

    file: Annotated[Positional[Path], arg(metavar="FILE")]
    """File of demonstrations."""
    task: Annotated[str | None, arg(metavar="ID|N", help_behavior_hint="(default: all, counted)")] = None
    """One demonstration by its number in the file, from 1, or the first of a task."""
    step: Annotated[int | None, arg(metavar="N", help_behavior_hint="(default: all of them)")] = None
    """One step of it, from 1."""

    def run(self, terminal: Terminal) -> int:
        demonstrations = read_demonstrations(self.file)
        if self.task is not None:
            self._tell(_chosen(demonstrations, self.task), terminal)
            return OK
        if self.step is not None:
            raise InvalidSetting("--step needs --task: a step of which demonstration?")
        tally = _Tally()
        statistics = ShopStatistics.of(tally.counted(demonstrations))
        terminal.say("\n".join([*_told(demonstrations), *tally.told()]))
        if rows := _rows(statistics):
            terminal.say(Table(("in a shop", "here", "people", "experts"), rows).text())
        return OK

    def _tell(self, shown: Demonstration, terminal: Terminal) -> None:
        numbers = range(1, len(shown.steps) + 1)
        if self.step is not None and self.step not in numbers:
            raise InvalidSetting(f"--step must lie between 1 and {len(shown.steps)}, got {self.step}.")
        terminal.say(f"{shown.task_id}: {shown.goal}")
        for number in numbers if self.step is None else [self.step]:
            terminal.out.rule(f"step {number} of {len(shown.steps)}", style="dim")
            terminal.say(_step(shown.steps[number - 1]))
        if self.step is None:
            terminal.out.rule(style="dim")
            terminal.say(_end(shown))


def _chosen(demonstrations: Demonstrations, task: str) -> Demonstration:
    """The demonstration that is meant.

    Raises:
        UnknownName: the file holds no such task and has no such number.
    """
    wanted = int(task) if task.isascii() and task.isdecimal() else None
    names: dict[str, None] = {}
    numbered = None
    for number, demonstration in enumerate(demonstrations, start=1):
        if demonstration.task_id == task:
            return demonstration
        if number == wanted:
            numbered = demonstration
        if len(names) < _SHOWN_NAMES:
            names[demonstration.task_id] = None
    if numbered is None:
        raise UnknownName(f"task of {demonstrations.path}", task, names)
    return numbered


class _Tally:
    """What is counted of any demonstrations while they are read."""

    def __init__(self) -> None:
        self._tasks: set[str] = set()
        self._sources: Counter[str] = Counter()
        self._steps: list[int] = []
        self._actions: list[int] = []
        self._images = 0
        self._successes: list[bool] = []
        self._scores: list[float] = []

    def counted(self, demonstrations: Demonstrations) -> Iterator[Demonstration]:
        for one in demonstrations:
            self._tasks.add(one.task_id)
            self._sources[one.source] += 1
            self._steps.append(len(one.steps))
            self._actions += [len(step.actions) for step in one.steps]
            self._images += sum(step.image is not None for step in one.steps)
            self._successes += [] if one.success is None else [one.success]
            self._scores += [] if one.score is None else [one.score]
            yield one

    def told(self) -> list[str]:
        known = f"success {mean(self._successes):.1%}, score {mean(self._scores):.1f}" if self._successes else "unknown"
        sources = ", ".join(f"{name or 'unnamed'} ({count:,})" for name, count in self._sources.most_common())
        return [
            f"demonstrations  {sum(self._sources.values()):,} of {len(self._tasks):,} tasks, by {sources or 'nobody'}",
            f"outcome         {known}",
            f"steps           {sum(self._steps):,}, {mean(self._steps):.1f} a demonstration; "
            f"{mean(self._actions):.1f} actions to choose from; {self._images:,} with an image",
        ]


def _told(demonstrations: Demonstrations) -> list[str]:
    header = demonstrations.header
    facts = [f"{key} {value}" for key, value in header.description.items() if not isinstance(value, (list, dict))]
    origin = [f"{key} {_told_value(value)}" for key, value in header.origin.items() if value != {}]
    return [
        f"{demonstrations.path}",
        f"made in         {header.environment or 'elsewhere'}" + "".join(f" · {fact}" for fact in facts),
        f"made by         {' · '.join(origin) or 'unknown'}",
    ]


def _told_value(value: object) -> str:
    return ", ".join(f"{key}={one}" for key, one in value.items()) if isinstance(value, dict) else str(value)


def _step(step: DemonstrationStep) -> str:
    listed = (f"{'>' if number == step.chosen else ' '} {action}" for number, action in enumerate(step.actions))
    image = f"\n(image {step.image})" if step.image is not None else ""
    return f"{step.observation.rstrip()}{image}\n\n" + "\n".join(listed)


def _end(shown: Demonstration) -> str:
    outcome = {True: "Success", False: "No success", None: "Nobody knows whether it was a success"}[shown.success]
    score = "" if shown.score is None else f": score {shown.score:.1f} of 100"
    return f"{outcome}{score}. Demonstrated by {shown.source or 'somebody'}."


def _rows(statistics: ShopStatistics) -> tuple[tuple[str, ...], ...]:
    """What there is something to count of."""
    shown = [one for one in statistics.beside_people() if not math.isnan(one.value)]
    return tuple((one.name, *(_number(x, one) for x in (one.value, one.people, one.experts))) for one in shown)


def _number(value: float | None, measured: Measured) -> str:
    if value is None:
        return "–"
    return f"{value:.1%}" if measured.is_share else f"{value:.2f}"
