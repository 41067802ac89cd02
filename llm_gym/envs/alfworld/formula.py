"""Whether a goal is met: the formula of a problem as a function of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.problem import PREDICATES, Expression, written
from llm_gym.envs.alfworld.state import State
from llm_gym.errors import BadRecord

Bound = dict[str, int]
"""Variable → number of a thing."""
Check = Callable[[State, Bound], bool]
Condition = Callable[[State], bool]


def compiled(house: House) -> Condition:
    """The goal of a house.

    Raises:
        BadRecord: it ranges over a kind that the domain does not have, names something that is not there, or asks for
            what no state holds.
    """
    check = _Compiler(house).check(house.goal, {})
    return lambda state: check(state, {})


def _dynamic(house: House) -> Mapping[str, Callable[[State, tuple[int, ...]], bool]]:
    return {
        "atlocation": lambda state, at: state.location == at[1],
        "objectatlocation": lambda state, at: at in state.at,
        "inreceptacle": lambda state, at: at[0] in state.contents[at[1]],
        "opened": lambda state, at: at[0] in state.opened,
        "holds": lambda state, at: state.held == at[1],
        "holdsany": lambda state, at: state.held is not None,
        "isclean": lambda state, at: at[0] in state.clean,
        "ishot": lambda state, at: at[0] in state.hot,
        "iscool": lambda state, at: at[0] in state.cool,
        "istoggled": lambda state, at: at[0] in state.toggled,
        "issliced": lambda state, at: at[0] in state.sliced,
    }


def _static(house: House) -> Mapping[str, Callable[[tuple[Any, ...]], bool]]:
    return {
        "objecttype": lambda at: house.object_types[at[0]] == at[1],
        "receptacletype": lambda at: house.receptacle_types[at[0]] == at[1],
        "receptacleatlocation": lambda at: house.place[at[0]] == at[1],
        "isreceptacleobject": lambda at: house.inner[at[0]] is not None,
        "inreceptacleobject": lambda at: at[0] in (house.inner[at[1]] or ()),
        "openable": lambda at: at[0] in house.openable,
        "pickupable": lambda at: at[0] in house.pickupable,
        "cleanable": lambda at: at[0] in house.cleanable,
        "heatable": lambda at: at[0] in house.heatable,
        "coolable": lambda at: at[0] in house.coolable,
        "toggleable": lambda at: at[0] in house.toggleable,
        "sliceable": lambda at: at[0] in house.sliceable,
    }


class _Compiler:
    """Closures instead of trees. What no move changes is looked up once, here."""

    def __init__(self, house: House) -> None:
        self.static, self.dynamic = _static(house), _dynamic(house)
        self.sizes = {
            "object": len(house.object_names),
            "receptacle": len(house.receptacle_names),
            "location": len(house.location_names),
            "agent": 1,
        }

    def check(self, expression: Expression, ranges: dict[str, list[int]]) -> Check:
        """A check of an expression whose free variables have these candidates."""
        match expression:
            case ("and", *parts):
                checks = [self.check(part, ranges) for part in parts]
                return lambda state, bound: all(check(state, bound) for check in checks)
            case ("or", *parts):
                checks = [self.check(part, ranges) for part in parts]
                return lambda state, bound: any(check(state, bound) for check in checks)
            case ("not", part):
                inner = self.check(part, ranges)
                return lambda state, bound: not inner(state, bound)
            case ("=", str() as first, str() as second):
                return lambda state, bound: bound[first] == bound[second]
            case ("exists", tuple() as variables, body):
                return self._exists(variables, body, ranges)
            case ("forall", tuple() as variables, body):
                some = self._exists(variables, ("not", body), ranges)
                return lambda state, bound: not some(state, bound)
            case (str() as predicate, *arguments):
                return self._literal(predicate, tuple(map(str, arguments)))
        raise BadRecord(f"The goal of a problem has an unknown shape: {written(expression)[:80]}")

    def _exists(self, declared: tuple[Any, ...], body: Expression, ranges: dict[str, list[int]]) -> Check:
        variables = _declarations(declared)
        unknown = [kind for kind in variables.values() if kind not in self.sizes]
        if unknown:
            raise BadRecord(f"Unknown type {unknown[0]!r} in the goal of a problem; known: {', '.join(self.sizes)}.")
        conjuncts = _conjuncts(body)
        candidates = {name: self._candidates(name, kind, conjuncts) for name, kind in variables.items()}
        # A literal is checked as soon as its last variable is bound: most branches end early.
        names, levels = list(variables), []
        left = list(conjuncts)
        for position, name in enumerate(names):
            later = set(names[position + 1 :])
            ready = [part for part in left if not later & _free(part)]
            left = [part for part in left if later & _free(part)]
            levels.append((name, candidates[name], [self.check(part, ranges) for part in ready]))

        def found(state: State, bound: Bound, level: int = 0) -> bool:
            if level == len(levels):
                return True
            name, numbers, checks = levels[level]
            for number in numbers:
                bound[name] = number
                if all(check(state, bound) for check in checks) and found(state, bound, level + 1):
                    return True
            return False

        return found

    def _candidates(self, variable: str, kind: str, conjuncts: list[Expression]) -> list[int]:
        """The things that satisfy what is said of a variable alone and never changes."""
        tests = [
            self._literal(str(part[0]), tuple(map(str, part[1:])))
            for part in conjuncts
            if isinstance(part, tuple) and part[0] in self.static and _free(part) == {variable}
        ]
        state: Any = None  # static literals do not look at it
        return [number for number in range(self.sizes[kind]) if all(test(state, {variable: number}) for test in tests)]

    def _literal(self, predicate: str, arguments: tuple[str, ...]) -> Check:
        for argument, kind in zip(arguments, PREDICATES[predicate], strict=True):
            if not argument.startswith("?") and kind not in ("otype", "rtype"):
                raise BadRecord(f"The goal of a problem names {argument!r}; goals speak of kinds of things.")
        if predicate in self.dynamic:
            holds = self.dynamic[predicate]
            return lambda state, bound: holds(state, tuple(bound[name] for name in arguments))
        if predicate not in self.static:
            raise BadRecord(f"The goal of a problem cannot ask for {predicate!r}.")
        true = self.static[predicate]
        return lambda state, bound: true(tuple(bound.get(name, name) for name in arguments))


def _declarations(declared: tuple[Any, ...]) -> dict[str, str]:
    """`("?a", "?b", "-", "object")` → the kind of each variable."""
    kinds: dict[str, str] = {}
    waiting: list[str] = []
    words = iter(map(str, declared))
    for word in words:
        if word == "-":
            kind = next(words, "")
            kinds |= dict.fromkeys(waiting, kind)
            waiting = []
        else:
            waiting.append(word)
    return kinds | dict.fromkeys(waiting, "")


def _conjuncts(expression: Expression) -> list[Expression]:
    match expression:
        case ("and", *parts):
            return [conjunct for part in parts for conjunct in _conjuncts(part)]
    return [expression]


def _free(expression: Expression) -> set[str]:
    """Variables in an expression; those bound inside it are of no matter, their names differ."""
    if isinstance(expression, str):
        return {expression} if expression.startswith("?") else set()
    return {name for part in expression for name in _free(part)}
