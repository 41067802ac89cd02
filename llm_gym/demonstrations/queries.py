"""How people ask for what they were told to buy: the words of a query against those of the instruction."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from llm_gym.demonstrations.sessions import mean, quantiles
from llm_gym.envs.webshop.search.porter import stem
from llm_gym.policies.imitation.text import process_goal, process_query

Relation = Literal["copy", "span", "subset", "reordered", "inflected", "1 new", "2 new", "3+ new"]
RELATIONS: tuple[Relation, ...] = get_args(Relation)
"""All words of the instruction; some that stand together in it; some in their order, with gaps; some in another order;
the same words in other forms; 1, 2 and more words of which the instruction has no form."""

_WORD = re.compile(r"[a-z0-9]+(?:[./-][a-z0-9]+)*")
_PRICE = re.compile(r"\$|dollar|price|usd|(?:under|less than|lower than|below|up to|cheaper than) *\d")


def words_of(text: str) -> list[str]:
    """Words of an instruction or a query in lower case; `10.5`, `clip-in` and `1/4` are one each.

    >>> words_of("Men's 1/4 zip, size 10.5.")
    ['mens', '1/4', 'zip', 'size', '10.5']
    """
    return _WORD.findall(process_query(text))


def relation(query: str, instruction: str) -> Relation:
    """What a query makes of an instruction, whose price clause does not count.

    >>> relation("red shoe", "i need a red shoe, and price lower than 40.00 dollars")
    'span'
    >>> relation("red shoes for work", "i need a red shoe")
    '2 new'
    """
    asked, told = words_of(query), words_of(process_goal(instruction))
    if asked == told:
        return "copy"
    if any(told[start : start + len(asked)] == asked for start in range(len(told) - len(asked) + 1)):
        return "span"
    rest = iter(told)
    if all(word in rest for word in asked):
        return "subset"
    if set(asked) <= set(told):
        return "reordered"
    new = len({stem(word) for word in asked} - {stem(word) for word in told})
    several: tuple[Relation, ...] = ("inflected", "1 new", "2 new", "3+ new")
    return several[min(new, 3)]


@dataclass(frozen=True, slots=True)
class QueryStatistics:
    """First queries of many instructions, and the last of those that needed several. NaN where there is none."""

    goals: int
    queries: float
    """A goal."""
    one_query: float
    """Share of the goals with one query only."""
    words: tuple[float, float, float, float, float]
    """Of a first query: quantiles at 5, 25, 50, 75 and 95 %."""
    words_mean: float
    length_ratio: tuple[float, float, float, float, float]
    """Words of a first query to those of its instruction without the price clause: the same quantiles."""
    length_ratio_mean: float
    without_price: float
    """Share of the first queries that name no price."""
    first: Mapping[Relation, float]
    """Share of each relation among first queries."""
    last: Mapping[Relation, float]
    """The same among the last of several."""

    @classmethod
    def of(cls, searched: Iterable[tuple[str, Sequence[str]]]) -> QueryStatistics:
        """The statistics of (instruction, its queries in order) pairs; a pair without a query does not count."""
        every = [(instruction, queries) for instruction, queries in searched if queries]
        lengths = [len(words_of(queries[0])) for _, queries in every]
        told = [len(words_of(process_goal(instruction))) for instruction, _ in every]
        ratios = [length / of for length, of in zip(lengths, told, strict=True) if of]
        return cls(
            goals=len(every),
            queries=mean(len(queries) for _, queries in every),
            one_query=mean(len(queries) == 1 for _, queries in every),
            words=quantiles(lengths),
            words_mean=mean(lengths),
            length_ratio=quantiles(ratios),
            length_ratio_mean=mean(ratios),
            without_price=mean(_PRICE.search(queries[0].lower()) is None for _, queries in every),
            first=_shares(relation(queries[0], instruction) for instruction, queries in every),
            last=_shares(relation(queries[-1], instruction) for instruction, queries in every if len(queries) > 1),
        )


def _shares(relations: Iterable[Relation]) -> dict[Relation, float]:
    counts = Counter(relations)
    return {one: counts[one] / counts.total() if counts else float("nan") for one in RELATIONS}
