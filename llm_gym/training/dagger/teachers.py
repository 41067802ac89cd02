"""Who is asked what to do: an expert that sees what the student sees, or a planner that sees the whole house."""

from __future__ import annotations

from typing import Literal, Protocol, get_args

import gymnasium as gym

from llm_gym.core import Info, Opinion
from llm_gym.errors import UnknownName
from llm_gym.policies.alfworld.expert import ALFWorldExpertPolicy
from llm_gym.policies.planner import PlannerPolicy

TeacherName = Literal["explorer", "planner"]
_ALL = 1_000
"""More commands than are ever equally good."""


class Teacher(Protocol):
    """What can be asked at every state of a game, whoever led to it; any policy is one."""

    def watch(self, world: gym.Env[str, str]) -> None: ...

    def reset(self, seed: int | None = None, trial: int = 0) -> None: ...

    def advise(self, observation: str, info: Info, k: int = 1) -> list[Opinion]: ...


def teacher(name: str) -> Teacher:
    """A teacher of ALFWorld.

    "explorer" searches as one must who does not know where things are. "planner" knows: what it does depends on what
    the student cannot see.

    Raises:
        UnknownName: there is no such teacher.
    """
    match name:
        case "explorer":
            return ALFWorldExpertPolicy()
        case "planner":
            return PlannerPolicy()
    raise UnknownName("teacher", name, get_args(TeacherName))


def labels(teacher: Teacher, observation: str, info: Info) -> tuple[str, ...]:
    """All commands that the teacher finds equally good here; none where it does not know what to do."""
    return tuple(opinion.action for opinion in teacher.advise(observation, info, _ALL))
