"""What a planner can be asked."""

from __future__ import annotations

from collections.abc import Iterator

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move, after, moves_here
from llm_gym.envs.alfworld.planner.errand import NOWHERE, Errand
from llm_gym.envs.alfworld.planner.lighting import Lighting
from llm_gym.envs.alfworld.planner.placing import Placing
from llm_gym.envs.alfworld.planner.search import shortest
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.tasks import Look, Place, task_of


class Planner:
    """Finds the fewest commands to the goal of one house. It sees everything, also what is behind closed doors.

    It plans the goals of the six kinds of task. Any other goal, such as one of slices, counts as one that cannot be
    met. The goal of a game that can be won may also be lost on the way: a few objects fit nowhere, and whoever picks
    one up never has a free hand again.

    >>> from llm_gym.envs.alfworld.problem import Problem
    >>> house = House.of(Problem.parse('''(define (problem example) (:init (atLocation agent1 loc_bar_0)
    ...     (receptacleAtLocation desk_bar_1 loc_bar_1) (receptacleType desk_bar_1 DeskType)
    ...     (receptacleAtLocation shelf_bar_1 loc_bar_2) (receptacleType shelf_bar_1 ShelfType)
    ...     (objectType pen_bar_1 PenType) (pickupable pen_bar_1) (inReceptacle pen_bar_1 desk_bar_1)
    ...     (canContain ShelfType PenType)) (:goal (exists (?o - object ?r - receptacle)
    ...     (and (inReceptacle ?o ?r) (objectType ?o PenType) (receptacleType ?r ShelfType)))))'''))
    >>> [move.verb for move in Planner(house).plan(house.initial)]
    ['go', 'take', 'go', 'put']
    """

    def __init__(self, house: House) -> None:
        self.house = house
        self._errand = _errand_of(house)

    def solvable(self, state: State) -> bool:
        """Whether the goal can be met from here."""
        return self.plan(state) is not None

    def distance(self, state: State) -> int | None:
        """How many commands the goal is away; None: it cannot be met."""
        plan = self.plan(state)
        return None if plan is None else len(plan)

    def plan(self, state: State) -> list[Move] | None:
        """A shortest list of moves to the goal, empty when it is met; None: it cannot be met."""
        if self._errand is None:
            return None
        situation = self._errand.situation(state)
        return shortest(self._errand, situation, self._errand.view(situation))

    def best_moves(self, state: State) -> list[Move]:
        """Every move that begins a shortest plan; none when the goal is met or cannot be met."""
        distance = self.distance(state)
        if self._errand is None or not distance:
            return []
        return [*self._best_ways(self._errand, state, distance), *self._best_deeds(self._errand, state, distance)]

    def _best_ways(self, errand: Errand, state: State, distance: int) -> Iterator[Move]:
        """Receptacles to go to, from where the goal is nearer than `distance`."""
        situation = errand.situation(state)
        view = errand.view(situation)
        nearer = {NOWHERE: False, situation.here: False}
        for receptacle, location in enumerate(self.house.place):
            stand_in = view.stand_in[location]
            if stand_in not in nearer:
                there = situation._replace(here=stand_in)
                nearer[stand_in] = shortest(errand, there, view, distance - 1) is not None
            if nearer[stand_in]:
                yield Move("go", place=receptacle)

    def _best_deeds(self, errand: Errand, state: State, distance: int) -> Iterator[Move]:
        """What to do here, so that the goal is nearer than `distance`."""
        situation = errand.situation(state)
        for move in moves_here(self.house, state):
            if errand.may_help(move, situation):
                following = errand.situation(after(self.house, state, move))
                if shortest(errand, following, errand.view(following), distance - 1) is not None:
                    yield move


def _errand_of(house: House) -> Errand | None:
    """The errand of a house; None: its goal is none that is planned."""
    match task_of(house.goal):
        case Place(sliced=False, count=1) | Place(sliced=False, treatment=None) as task:
            return Placing(house, task)
        case Look() as task:
            return Lighting(house, task)
    return None
