"""Whether a goal is met: the formula of a problem as a function of the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.problem import PREDICATES, Expression, written
from llm_gym.envs.alfworld.state import State
from llm_gym.errors import BadRecord

Scope = Mapping[str, str]
"""Variable → its kind, of all that may be spoken of at a place in a goal."""
Bound = dict[str, int]
"""Variable → number of a thing."""
Check = Callable[[State, Bound], bool]
Condition = Callable[[State], bool]
Level = tuple[str, list[int], list[Check]]
"""A variable, what it may be bound to, and what must hold when it is."""
_MAX_VARIABLES = 20


def compiled(house: House) -> Condition:
    """The goal of a house.

    Raises:
        BadRecord: it ranges over a kind that the domain does not have, names something that is not there or of another
            kind, or asks for what no state holds.
    """
    check = _Compiler(house).check(house.goal, {})
    return lambda state: check(state, {})


def _dynamic() -> Mapping[str, Callable[..., bool]]:
    """Predicates of a state and the numbers of their arguments."""
    return {
        "atlocation": lambda state, agent, location: state.location == location,
        "objectatlocation": lambda state, thing, location: (thing, location) in state.at,
        "inreceptacle": lambda state, thing, place: thing in state.contents[place],
        "opened": lambda state, place: place in state.opened,
        "holds": lambda state, agent, thing: state.held == thing,
        "holdsany": lambda state, agent: state.held is not None,
        "isclean": lambda state, thing: thing in state.clean,
        "ishot": lambda state, thing: thing in state.hot,
        "iscool": lambda state, thing: thing in state.cool,
        "istoggled": lambda state, thing: thing in state.toggled,
        "issliced": lambda state, thing: thing in state.sliced,
    }


def _static(house: House) -> Mapping[str, Callable[..., bool]]:
    """Predicates that no move changes; they do not look at the state."""
    return {
        "objecttype": lambda state, thing, kind: house.object_types[thing] == kind,
        "receptacletype": lambda state, place, kind: house.receptacle_types[place] == kind,
        "receptacleatlocation": lambda state, place, location: house.place[place] == location,
        "isreceptacleobject": lambda state, thing: house.inner[thing] is not None,
        "inreceptacleobject": lambda state, thing, holder: thing in (house.inner[holder] or ()),
        "openable": lambda state, place: place in house.openable,
        "pickupable": lambda state, thing: thing in house.pickupable,
        "cleanable": lambda state, thing: thing in house.cleanable,
        "heatable": lambda state, thing: thing in house.heatable,
        "coolable": lambda state, thing: thing in house.coolable,
        "toggleable": lambda state, thing: thing in house.toggleable,
        "sliceable": lambda state, thing: thing in house.sliceable,
    }


class _Compiler:
    """Closures instead of trees. What no move changes is looked up once, here."""

    def __init__(self, house: House) -> None:
        self.static = _static(house)
        self.predicates = {**self.static, **_dynamic()}
        self.sizes = {
            "object": len(house.object_names),
            "receptacle": len(house.receptacle_names),
            "location": len(house.location_names),
            "agent": 1,
        }

    def check(self, expression: Expression, scope: Scope) -> Check:
        """A check of an expression, for which the variables of `scope` must be bound."""
        match expression:
            case ("and", *parts):
                checks = [self.check(part, scope) for part in parts]
                return lambda state, bound: all(check(state, bound) for check in checks)
            case ("or", *parts):
                checks = [self.check(part, scope) for part in parts]
                return lambda state, bound: any(check(state, bound) for check in checks)
            case ("not", part):
                inner = self.check(part, scope)
                return lambda state, bound: not inner(state, bound)
            case ("=", str() as first, str() as second):
                if scope.get(first) is None or scope[first] != scope.get(second):
                    raise BadRecord(f"The goal of a problem cannot compare {first!r} with {second!r}.")
                return lambda state, bound: bound[first] == bound[second]
            case ("exists", tuple() as variables, body):
                return self._exists(variables, body, scope)
            case ("forall", tuple() as variables, body):
                some = self._exists(variables, ("not", body), scope)
                return lambda state, bound: not some(state, bound)
            case (str() as predicate, *arguments):
                return self._literal(predicate, tuple(map(str, arguments)), scope)
        raise BadRecord(f"The goal of a problem has an unknown shape: {written(expression)[:80]}")

    def _exists(self, declared: tuple[Any, ...], body: Expression, scope: Scope) -> Check:
        variables = self._declared(declared, scope)
        while isinstance(body, tuple) and body[0] == "exists":
            # All at once: what limits the outer ones stands inside.
            variables |= self._declared(body[1], {**scope, **variables})
            body = body[2]
        if not variables:
            return self.check(body, scope)
        scope = {**scope, **variables}
        levels: list[Level] = []
        left = _conjuncts(body)
        # First what must have become something by itself (clean, held): mostly nothing has, and the check ends there.
        names = sorted(variables, key=lambda name: not any(self._may_change(part, name) for part in left))
        for position, name in enumerate(names):
            # What never changes limits the candidates; the rest is checked as soon as its last variable is bound.
            limits = [part for part in left if part[0] in self.static and _free(part) == {name}]
            later = set(names[position + 1 :])
            ready = [part for part in left if part not in limits and not later & _free(part)]
            left = [part for part in left if part not in limits and part not in ready]
            candidates = self._candidates(name, variables[name], limits)
            levels.append((name, candidates, [self.check(part, scope) for part in ready]))
        return lambda state, bound: _found(levels, 0, state, bound)

    def _may_change(self, part: Expression, variable: str) -> bool:
        return part[0] not in self.static and _free(part) == {variable}

    def _declared(self, declared: tuple[Any, ...], scope: Scope) -> dict[str, str]:
        variables = _declarations(declared)
        for name, kind in variables.items():
            if kind not in self.sizes:
                raise BadRecord(f"Unknown type {kind!r} in the goal of a problem; known: {', '.join(self.sizes)}.")
            if not name.startswith("?") or name in scope:
                raise BadRecord(f"{name!r} is no new variable in the goal of a problem.")
        if len(scope) + len(variables) > _MAX_VARIABLES:
            raise BadRecord(f"The goal of a problem has more than {_MAX_VARIABLES} variables.")
        return variables

    def _candidates(self, variable: str, kind: str, limits: list[Expression]) -> list[int]:
        scope = {variable: kind}
        tests = [self._literal(str(part[0]), tuple(map(str, part[1:])), scope) for part in limits]
        state: Any = None
        return [number for number in range(self.sizes[kind]) if all(test(state, {variable: number}) for test in tests)]

    def _literal(self, predicate: str, arguments: tuple[str, ...], scope: Scope) -> Check:
        if predicate not in self.predicates:
            raise BadRecord(f"The goal of a problem cannot ask for {predicate!r}.")
        for argument, kind in zip(arguments, PREDICATES[predicate], strict=True):
            if argument.startswith("?") if kind in ("otype", "rtype") else scope.get(argument) != kind:
                raise BadRecord(f"{argument!r} is no {kind} that the goal of a problem can ask of with {predicate!r}.")
        holds = self.predicates[predicate]
        match arguments:
            case (only,):
                return lambda state, bound: holds(state, bound[only])
            case (first, second) if second.startswith("?"):
                return lambda state, bound: holds(state, bound[first], bound[second])
            case (first, constant):
                return lambda state, bound: holds(state, bound[first], constant)
        raise AssertionError(f"{predicate} has {len(arguments)} arguments")


def _found(levels: list[Level], depth: int, state: State, bound: Bound) -> bool:
    """Whether the variables from `depth` on can be bound so that every check holds."""
    if depth == len(levels):
        return True
    name, candidates, checks = levels[depth]
    for number in candidates:
        bound[name] = number
        for check in checks:
            if not check(state, bound):
                break
        else:
            if _found(levels, depth + 1, state, bound):
                return True
    return False


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
