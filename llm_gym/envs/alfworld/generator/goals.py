"""What a task asks for: its goal in the exact shape of the official games, and its sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llm_gym.envs.alfworld.problem import Expression, Problem
from llm_gym.envs.alfworld.tasks import TASK_TYPES

_PLACE = """(and (exists (?r - receptacle) (exists (?o - object) (and
    (inReceptacle ?o ?r) (objectType ?o {object}Type) (receptacleType ?r {target}Type)))))"""
_TREAT = """(and (exists (?r - receptacle) (exists (?o - object) (and
    ({able} ?o) (objectType ?o {object}Type) (receptacleType ?r {target}Type) ({done} ?o) (inReceptacle ?o ?r)))))"""
_LOOK = """(and
    (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and
        (objectType ?ot {target}Type) (toggleable ?ot) (isToggled ?ot)
        (receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r)))
    (exists (?o - object ?a - agent) (and (objectType ?o {object}Type) (holds ?a ?o))))"""
_TWO = """(and (exists (?r - receptacle) (exists (?o1 - object) (and
    (objectType ?o1 {object}Type) (receptacleType ?r {target}Type) (inReceptacle ?o1 ?r)
    (exists (?o2 - object) (and
        (not (= ?o1 ?o2))
        (objectType ?o2 {object}Type) (receptacleType ?r {target}Type) (inReceptacle ?o2 ?r)))))))"""

_FORMULAS: Mapping[str, str] = {
    "pick": _PLACE,
    "clean": _TREAT.replace("{able}", "cleanable").replace("{done}", "isClean"),
    "heat": _TREAT.replace("{able}", "heatable").replace("{done}", "isHot"),
    "cool": _TREAT.replace("{able}", "coolable").replace("{done}", "isCool"),
    "look": _LOOK,
    "two": _TWO,
}
"""Those of ALFWorld's goal library, by the short name of a task type."""

_SENTENCES: Mapping[str, tuple[str, str]] = {
    "pick": ("put a {object} in {target}.", "put some {object} on {target}."),
    "clean": ("put a clean {object} in {target}.", "clean some {object} and put it in {target}."),
    "heat": ("put a hot {object} in {target}.", "heat some {object} and put it in {target}."),
    "cool": ("put a cool {object} in {target}.", "cool some {object} and put it in {target}."),
    "look": ("look at {object} under the {target}.", "examine the {object} with the {target}."),
    "two": ("put two {object} in {target}.", "find two {object} and put them in {target}."),
}


@dataclass(frozen=True, slots=True)
class Wish:
    """A task without its room; `target` is a kind of receptacle or, of a look in the light, of lamp."""

    task_type: str
    object: str
    target: str

    @property
    def folder(self) -> str:
        """The name of its folder, without the room."""
        return f"{self.task_type}-{self.object}-None-{self.target}"

    @property
    def spares_target(self) -> bool:
        """Whether no such object may lie in such a receptacle at the start: the task would be done, or half done."""
        return self.task_type in ("pick_and_place_simple", "pick_two_obj_and_place")

    def goal(self) -> Expression:
        formula = _FORMULAS[TASK_TYPES[self.task_type]].format(object=self.object, target=self.target)
        return Problem.parse(f"(define (:init) (:goal {formula}))").goal

    def sentences(self) -> tuple[str, str]:
        """The two ways to say it."""
        first, second = _SENTENCES[TASK_TYPES[self.task_type]]
        words = {"object": self.object.lower(), "target": self.target.lower()}
        return first.format(**words), second.format(**words)
