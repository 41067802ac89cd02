"""A household as a planning problem: the facts and the goal of a `pddl_problem`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from llm_gym.errors import BadRecord

Fact = tuple[str, ...]
"""A predicate and its arguments, in lower case: `("inreceptacle", "apple_bar_1", "fridge_bar_1")`."""

Expression = str | tuple[Any, ...]
"""A goal: nested tuples of words, `("and", ("exists", ("?r", "-", "receptacle"), …))`."""

PREDICATES: Final[Mapping[str, tuple[str, ...]]] = {
    "atlocation": ("agent", "location"),
    "receptacleatlocation": ("receptacle", "location"),
    "objectatlocation": ("object", "location"),
    "inreceptacle": ("object", "receptacle"),
    "inreceptacleobject": ("object", "object"),
    "isreceptacleobject": ("object",),
    "receptacletype": ("receptacle", "rtype"),
    "objecttype": ("object", "otype"),
    "cancontain": ("rtype", "otype"),
    "openable": ("receptacle",),
    "opened": ("receptacle",),
    "pickupable": ("object",),
    "cleanable": ("object",),
    "heatable": ("object",),
    "coolable": ("object",),
    "toggleable": ("object",),
    "sliceable": ("object",),
    "isclean": ("object",),
    "ishot": ("object",),
    "iscool": ("object",),
    "istoggled": ("object",),
    "issliced": ("object",),
    "holds": ("agent", "object"),
    "holdsany": ("agent",),
}
"""Predicate → kinds of its arguments: those of the ALFRED domain that a game begins with or asks for."""

AGENT: Final = "agent1"
_DECLARED_WHEN_UNUSED = ("microwavetype", "fridgetype", "sinkbasintype", "sinktype", "knifetype", "butterknifetype")
"""Constants of the domain's actions: a problem that does not declare them cannot be translated."""
_TOKEN = re.compile(r"[()]|[^\s()]+")
_FACT = re.compile(r"\(([^()]*)\)")
_NAME = re.compile(r"\(\s*problem\s+([^\s()]+)\s*\)")
_COMMENT = re.compile(r";[^\n]*")
_DISTANCE = re.compile(r"\(\s*=\s*\([^()]*\)[^()]*\)")
_MAX_DEPTH = 50


@dataclass(frozen=True, slots=True)
class Problem:
    """What a game is made of.

    Attributes:
        name: of the problem.
        facts: all that is true at the beginning.
        goal: what must become true.
    """

    name: str
    facts: frozenset[Fact]
    goal: Expression

    @classmethod
    def parse(cls, text: str) -> Problem:
        """Read a `pddl_problem`; distances are left out, they mean nothing in the text game.

        Raises:
            BadRecord: it is not one, or it holds an unknown predicate; the message says which.
        """
        text = _COMMENT.sub("", text.lower())
        init, goal = text.find("(:init"), text.find("(:goal")
        if not 0 <= init < goal:
            raise BadRecord("A pddl_problem has a part (:init …) and a part (:goal …) after it.")
        name = _NAME.search(text)
        facts = frozenset(_facts(text[init + len("(:init") : goal]))
        return cls(name[1] if name else "unnamed", facts, _goal(text[goal:]))

    def to_pddl(self) -> str:
        """A problem that `parse` and TextWorld read: objects, initial state, goal and metric, in this order."""
        kinds = self.kinds()
        for constant in _DECLARED_WHEN_UNUSED:
            kinds.setdefault(constant, "otype" if "knife" in constant else "rtype")
        return "\n".join(
            [
                f"(define (problem {self.name})",
                "(:domain alfred)",
                "(:objects",
                *(f"    {name} - {kind}" for name, kind in sorted(kinds.items(), key=lambda item: item[::-1])),
                ")",
                "(:init",
                *(f"    ({' '.join(fact)})" for fact in sorted(self.facts)),
                ")",
                f"(:goal {written(self.goal)})",
                "(:metric minimize (total-cost))",
                ")",
            ]
        )

    def kinds(self) -> dict[str, str]:
        """Everything that the facts or the goal name, with its kind: "object", "receptacle", "location", …

        Raises:
            BadRecord: something is of two kinds.
        """
        named = {pair for fact in self.facts for pair in zip(fact[1:], PREDICATES[fact[0]], strict=True)}
        for literal in _literals(self.goal):
            pairs = zip(literal[1:], PREDICATES[literal[0]], strict=True)
            named.update((name, kind) for name, kind in pairs if not name.startswith("?"))
        kinds = dict(sorted(named))
        if len(kinds) < len(named):
            name, kind = next(pair for pair in sorted(named) if kinds[pair[0]] != pair[1])
            raise BadRecord(f"{name} of a problem is of two kinds: {kind} and {kinds[name]}.")
        return kinds


def written(expression: Expression) -> str:
    """An expression as it stands in a problem."""
    return expression if isinstance(expression, str) else f"({' '.join(map(written, expression))})"


def _facts(text: str) -> Iterator[Fact]:
    pieces = _FACT.split(_DISTANCE.sub("", text))  # between the facts, and inside them, in turn
    between = " ".join(pieces[::2]).split()
    if between != [")"]:
        raise BadRecord(f"The initial state of a problem holds facts and nothing else, not {' '.join(between)[:80]!r}.")
    for inside in pieces[1::2]:
        words = tuple(inside.split())
        kinds = PREDICATES.get(words[0]) if words else None
        if kinds is None:
            raise BadRecord(f"Unknown predicate {' '.join(words[:1])!r} in the initial state of a problem.")
        if len(words) - 1 != len(kinds):
            raise BadRecord(f"{words[0]} has {len(kinds)} arguments ({', '.join(kinds)}), not {len(words) - 1}.")
        yield words


def _goal(text: str) -> Expression:
    """The expression after `(:goal`."""
    tokens = _TOKEN.finditer(text)
    next(tokens), next(tokens)
    read = _read(tokens, 0)
    if read is None:
        raise BadRecord("A pddl_problem has a goal.")
    if _read(tokens, 0) is not None:
        raise BadRecord("A pddl_problem has one goal, not several.")
    for literal in _literals(read):
        if literal[0] not in PREDICATES:
            raise BadRecord(f"Unknown predicate {literal[0]!r} in the goal of a problem.")
        if len(literal) - 1 != len(PREDICATES[literal[0]]):
            raise BadRecord(f"{written(literal)}: {literal[0]} has {len(PREDICATES[literal[0]])} arguments.")
    return read


def _read(tokens: Iterator[re.Match[str]], depth: int) -> Expression | None:
    """The next expression; None at a closing parenthesis."""
    token = next(tokens, None)
    if token is None or depth > _MAX_DEPTH:
        raise BadRecord("The goal of a problem ends too early, or is nested too deeply.")
    if token[0] == ")":
        return None
    if token[0] != "(":
        return token[0]
    parts: list[Expression] = []
    while (part := _read(tokens, depth + 1)) is not None:
        parts.append(part)
    return tuple(parts)


def _literals(expression: Expression) -> Iterator[tuple[str, ...]]:
    """The facts that a goal speaks of."""
    match expression:
        case ("and" | "or" | "not", *parts):
            for part in parts:
                yield from _literals(part)
        case ("exists" | "forall", tuple(), body):
            yield from _literals(body)
        case ("=", str(), str()):
            return
        case (str(), *arguments) if all(isinstance(argument, str) for argument in arguments):
            yield expression
        case _:
            raise BadRecord(f"The goal of a problem has an unknown shape: {written(expression)[:80]}")
