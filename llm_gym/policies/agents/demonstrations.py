"""How the commands of a world are used: pages with the right command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from llm_gym.policies.agents.commands import Parsed, World


@dataclass(frozen=True, slots=True)
class Demonstration:
    """A page, what is thought there, and what is done."""

    page: str
    text: str
    reasoning: str
    plan: str
    criticism: str
    command: Parsed


def demonstrations(world: World, each: int) -> list[Demonstration]:
    """The first `each` of every command, in the order of the world's prompt file."""
    shown: Counter[str] = Counter()
    chosen = []
    for one in _written(world):
        shown[one.command.name] += 1
        if shown[one.command.name] <= each:
            chosen.append(one)
    return chosen


def _written(world: World) -> Iterator[Demonstration]:
    number = 1
    while (page := world.texts.get(f"example {number}: page")) is not None:
        text, reasoning, plan, criticism = world.texts[f"example {number}: thoughts"].splitlines()
        command = world.command_of(world.texts[f"example {number}: action"])
        assert command is not None, f"example {number} of {world.name} shows no command"
        yield Demonstration(page, text, reasoning, plan, criticism, command)
        number += 1
