"""A* over what matters of a household."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from llm_gym.envs.alfworld.moves import Move
from llm_gym.envs.alfworld.planner.errand import IMPOSSIBLE, Errand, Situation, View

_Steps = dict[Situation, tuple[Situation, Move]]
"""How each situation was reached: from which one, by what."""


def shortest(errand: Errand, start: Situation, view: View, limit: int = IMPOSSIBLE - 1) -> list[Move] | None:
    """The fewest moves that do an errand; None: it cannot be done, or not with `limit` moves.

    Ways and doors belong to the deed for whose sake one goes and opens, so that the search is one of deeds. A bound
    never says too much, hence the first end that is met is a nearest one; it says too little so seldom that a search
    looks at about one situation for each deed of the plan.
    """
    bound = errand.bound(start)
    if bound > limit:
        return None
    order = count()
    cost = {start: 0}
    steps: _Steps = {}
    waiting = [(bound, 0, start, 0)]
    while waiting:
        _, _, situation, spent = heappop(waiting)
        if errand.met(situation):
            return _moves(errand, start, situation, steps)
        if spent > cost[situation]:
            continue  # a shorter way to it was found since
        for move, following, price in errand.deeds(situation, view):
            total = spent + price
            if total < cost.get(following, IMPOSSIBLE):
                estimate = total + errand.bound(following)
                if estimate <= limit:
                    cost[following] = total
                    steps[following] = situation, move
                    heappush(waiting, (estimate, ~next(order), following, total))
    return None


def _moves(errand: Errand, start: Situation, end: Situation, steps: _Steps) -> list[Move]:
    """All moves from start to end."""
    deeds: list[tuple[Situation, Move]] = []
    while end != start:
        deeds.append(steps[end])
        end = steps[end][0]
    return [step for situation, move in reversed(deeds) for step in errand.with_way(situation, move)]
