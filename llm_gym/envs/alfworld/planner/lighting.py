"""The errand of the sixth task: looking at something in the light of a lamp."""

from __future__ import annotations

from collections.abc import Iterator

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move
from llm_gym.envs.alfworld.planner.errand import IMPOSSIBLE, Deed, Errand, Situation, View, least
from llm_gym.envs.alfworld.state import State, Things
from llm_gym.envs.alfworld.tasks import Look


class Lighting(Errand):
    """Hold a target where a lamp is lit."""

    def __init__(self, house: House, task: Look) -> None:
        super().__init__(
            house,
            targets=_of_type(house, task.object_type),
            lamps=_of_type(house, task.lamp_type) & house.toggleable,
            homes=frozenset(),
            appliances=frozenset(),
        )

    def done(self, state: State) -> Things:
        return state.toggled & self.lamps

    def met(self, situation: Situation) -> bool:
        return situation.held in self.targets and any(
            thing in situation.done and self.house.place[place] == situation.here for thing, place in situation.inside
        )

    def bound(self, situation: Situation) -> int:
        """Fetching a target and going to a lamp, which is lit there or before."""
        if self.met(situation):
            return 0
        here, held, inside, shut, done, _ = situation
        light = self.locations(place for thing, place in inside if thing in self.lamps)
        if held in self.lamps:
            light |= self.locations(self.takers(held))
        if held in self.targets:
            return 1 if light else IMPOSSIBLE
        sources = {place for thing, place in inside if thing in self.movable}
        bound = least(here, [*self.putting_down(held), self.locations(sources), light])
        return bound + (sources <= shut) - bool(done) if bound < IMPOSSIBLE else bound

    def treatments(self, situation: Situation, view: View) -> Iterator[Deed]:
        """Lighting a lamp; and, with a target in the hand, going to a lit one."""
        here, held, inside, _, done, _ = situation
        for lamp, place in sorted(inside):
            location = self.house.place[place]
            if lamp in self.lamps and lamp not in done:
                following = situation._replace(here=location, done=done | {lamp})
                yield Deed(Move("use", lamp, place), following, 1 + (location != here))
            elif lamp in done and held in self.targets and location != here:
                yield Deed(Move("go", place=place), situation._replace(here=location), 1)


def _of_type(house: House, wanted: str) -> Things:
    return frozenset(thing for thing, kind in enumerate(house.object_types) if kind == wanted)
