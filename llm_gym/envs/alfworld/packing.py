"""Facts as few numbers: what a house shares with other games is written once, what is left by rank of its ids."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise, repeat
from typing import Any, NamedTuple

from llm_gym.envs.alfworld.problem import AGENT, PREDICATES, Expression, Fact

_SHORTER = (("_bar_", "|"), ("_minus_", "-"), ("_plus_", "+"), ("_dot_", "."))
_SHORT_MARKS = "".join(mark for _, mark in _SHORTER)


class Packed(NamedTuple):
    """Facts, relative to ids that are known already.

    Attributes:
        ids: the further ids, in order, blanks between them.
        columns: predicate → one list of id numbers for each argument, rows in order. Known ids have the first numbers.
            Of the first argument only the steps are kept.
    """

    ids: str
    columns: dict[str, list[list[int]]]


def fixed_part(facts: frozenset[Fact]) -> frozenset[Fact]:
    """The facts that speak of nothing that can be picked up, nor of the agent: those of the house."""
    loose = {fact[1] for fact in facts if fact[0] == "pickupable"} | {AGENT}
    return frozenset(fact for fact in facts if loose.isdisjoint(fact))


def ids_of(facts: Iterable[Fact]) -> tuple[str, ...]:
    return tuple(sorted({name for fact in facts for name in fact[1:]}))


def pack(facts: Iterable[Fact], known: Sequence[str] = ()) -> Packed:
    """Facts as numbers."""
    rows = sorted(facts)
    further = sorted({name for fact in rows for name in fact[1:]}.difference(known))
    number = {name: position for position, name in enumerate([*known, *further])}
    grouped: dict[str, list[list[int]]] = {}
    for fact in rows:
        grouped.setdefault(fact[0], []).append([number[name] for name in fact[1:]])
    columns = {}
    for predicate, numbers in grouped.items():
        first, *others = map(list, zip(*sorted(numbers), strict=True))
        columns[predicate] = [_steps(first), *others]
    return Packed(_shortened(" ".join(further)), columns)


def unpack(packed: Packed, known: Sequence[str] = ()) -> frozenset[Fact]:
    """The facts that were packed.

    Raises:
        ValueError, IndexError, KeyError, TypeError: nothing that was packed with these known ids.
    """
    names = [*known, *_lengthened(packed.ids).split(" ")]
    facts: list[Fact] = []
    for predicate, columns in packed.columns.items():
        if len(columns) != len(PREDICATES[predicate]):
            raise ValueError(f"{predicate} has {len(columns)} arguments")
        numbers = [accumulate(columns[0]), *columns[1:]]
        facts.extend(zip(repeat(predicate), *([names[number] for number in column] for column in numbers)))
    return frozenset(facts)


def nested(expression: Any) -> Expression:
    """An expression that JSON has turned into lists."""
    return expression if isinstance(expression, str) else tuple(map(nested, expression))


def _steps(ascending: list[int]) -> list[int]:
    return [after - before for before, after in pairwise([0, *ascending])]


def _shortened(ids: str) -> str:
    """The ids in fewer letters, where this can be undone; a blank in front says that it was not.

    >>> _shortened("mug_bar__minus_01_dot_5"), _shortened("a-b_bar_1")
    ('mug|-01.5', ' a-b_bar_1')
    """
    if not set(_SHORT_MARKS).isdisjoint(ids):
        return f" {ids}"
    for long, mark in _SHORTER:
        ids = ids.replace(long, mark)
    return ids


def _lengthened(ids: str) -> str:
    if ids.startswith(" "):
        return ids[1:]
    for long, mark in _SHORTER:
        ids = ids.replace(mark, long)
    return ids
