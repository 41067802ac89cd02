"""The six kinds of task, and which one a goal is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from llm_gym.envs.alfworld.problem import Expression

TASK_TYPES: Final = {
    "pick_and_place_simple": "pick",
    "pick_clean_then_place_in_recep": "clean",
    "pick_heat_then_place_in_recep": "heat",
    "pick_cool_then_place_in_recep": "cool",
    "look_at_obj_in_light": "look",
    "pick_two_obj_and_place": "two",
}
"""Task type → its short name, in the order in which papers print them."""

Treatment = Literal["clean", "heat", "cool"]
_TREATED: Final[dict[str, Treatment]] = {"isclean": "clean", "ishot": "heat", "iscool": "cool"}


@dataclass(frozen=True, slots=True)
class Place:
    """Put `count` different objects of a type into one receptacle of a type, each treated first."""

    object_type: str
    receptacle_type: str
    count: int = 1
    treatment: Treatment | None = None
    sliced: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """Hold an object of a type at a lamp of a type that has been turned on."""

    object_type: str
    lamp_type: str


@dataclass(frozen=True, slots=True)
class Other:
    """A goal that is none of the six kinds of task; no solvable game of a release has one."""


Task = Place | Look | Other


def task_of(goal: Expression) -> Task:
    r"""What a goal asks for.

    >>> from llm_gym.envs.alfworld.problem import Problem
    >>> goal = "(exists (?r - receptacle) (exists (?o - object) (and (inReceptacle ?o ?r) (objectType ?o MugType)" \
    ...        "(receptacleType ?r ShelfType))))"
    >>> task_of(Problem.parse(f"(define (:init) (:goal {goal}))").goal)
    Place(object_type='mugtype', receptacle_type='shelftype', count=1, treatment=None, sliced=False)
    """
    conjuncts = _conjuncts(goal)
    if conjuncts is None:
        return Other()
    predicates = {literal[0] for literal in conjuncts}
    if predicates & {"opened", "inreceptacleobject"}:
        return Other()
    types = {literal[1]: literal[2] for literal in conjuncts if literal[0] == "objecttype"}
    targets = {literal[2] for literal in conjuncts if literal[0] == "receptacletype"}
    if {"holds", "istoggled"} <= predicates:
        return _look(conjuncts, types)
    treatments = [treatment for predicate, treatment in _TREATED.items() if predicate in predicates]
    if len(set(types.values())) != 1 or len(targets) != 1 or len(types) > 2 or len(treatments) > 1:
        return Other()
    [object_type, *_], [receptacle_type] = types.values(), targets
    return Place(object_type, receptacle_type, len(types), next(iter(treatments), None), "issliced" in predicates)


def _look(conjuncts: list[tuple[str, ...]], types: dict[str, str]) -> Task:
    held = [types.get(literal[2], "") for literal in conjuncts if literal[0] == "holds"]
    lamps = [types.get(literal[1], "") for literal in conjuncts if literal[0] == "istoggled"]
    return Look(held[0], lamps[0]) if len(held) == len(lamps) == 1 and held[0] and lamps[0] else Other()


def _conjuncts(expression: Expression) -> list[tuple[str, ...]] | None:
    """The literals of a goal that is one conjunction under `exists`; None of any other. Inequalities count not."""
    match expression:
        case ("exists", tuple(), body):
            return _conjuncts(body)
        case ("and", *parts):
            each = [_conjuncts(part) for part in parts]
            return None if None in each else [literal for found in each for literal in found or ()]
        case ("not", ("=", str(), str())):
            return []
        case (str() as predicate, *_) if predicate not in ("or", "not", "forall", "="):
            return [tuple(map(str, expression))]
    return None


def task_type_of(task: Task) -> str:
    """The name of its kind, as the folders of a release have it."""
    match task:
        case Look():
            return "look_at_obj_in_light"
        case Place(count=2):
            return "pick_two_obj_and_place"
        case Place(treatment=None):
            return "pick_and_place_simple"
        case Place(treatment=treatment):
            return f"pick_{treatment}_then_place_in_recep"
        case Other():
            return "other"
