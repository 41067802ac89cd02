"""The errand of five of the six tasks: putting something where it belongs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move
from llm_gym.envs.alfworld.planner.errand import Deed, Errand, Situation, View, least
from llm_gym.envs.alfworld.state import State, Things
from llm_gym.envs.alfworld.tasks import Place, Treatment


class Placing(Errand):
    """Put one target into a home, treated or not, or several untreated ones into the same."""

    def __init__(self, house: House, task: Place) -> None:
        self.count = task.count
        self.treatment = task.treatment
        treatable, appliances = _treating(house, task.treatment)
        super().__init__(
            house,
            targets=frozenset(thing for thing in treatable if house.object_types[thing] == task.object_type),
            lamps=frozenset(),
            homes=frozenset(place for place, kind in enumerate(house.receptacle_types) if kind == task.receptacle_type),
            appliances=appliances,
        )
        self._entered = frozenset(place for place in self.homes if task.object_type in house.accepts[place])
        """The homes that a target can be put into."""
        self._home = self.locations(self._entered)
        self._treating = self.locations(appliances)

    def done(self, state: State) -> Things:
        match self.treatment:
            case "clean":
                return state.clean & self.targets
            case "heat":
                return state.hot & self.targets
            case "cool":
                return state.cool & self.targets
        return self.targets

    def met(self, situation: Situation) -> bool:
        return self._most_at_home(situation) >= self.count

    def bound(self, situation: Situation) -> int:
        """The least of three ways to go on; where one goes to fetch, treat and put is chosen apart for each object."""
        missing = self.count - self._most_at_home(situation)
        if missing <= 0:
            return 0
        here, held, _, shut, done, _ = situation
        sources = self._sources(situation)
        places = frozenset(place for _, place in sources)
        fetch = [self.locations(places), *self._bring((thing for thing, _ in sources), done)]
        to_take, to_put = places <= shut, self._entered <= shut
        doors = 1 if places & self._entered and to_take and to_put else to_take + to_put
        bounds = [least(here, [*self.putting_down(held), *fetch * missing]) + doors]
        if held in self.targets:
            bounds.append(least(here, [*self._bring([held], done), *fetch * (missing - 1)]) + to_put)
        if self.treatment:
            bounds.append(self._bound_without_putting(situation))
        return min(bounds)

    def treatments(self, situation: Situation, view: View) -> Iterator[Deed]:
        here, held, _, _, done, _ = situation
        if self.treatment and held in self.targets and held not in done:
            for place in view.useful:
                if place in self.appliances:
                    location = self.house.place[place]
                    following = situation._replace(here=location, done=done | {held})
                    yield Deed(Move(self.treatment, held, place), following, 1 + (location != here))

    def _most_at_home(self, situation: Situation) -> int:
        """How many finished targets the fullest home holds."""
        done, homes = situation.done, self.homes
        filled = [place for thing, place in situation.inside if place in homes and thing in done]
        return max(map(filled.count, filled), default=0)

    def _sources(self, situation: Situation) -> list[tuple[int, int]]:
        """Targets to fetch and where they are. Where several are wanted none comes from the only home that has any."""
        sources = [
            (thing, place) for thing, place in situation.inside if thing in self.movable and thing != situation.held
        ]
        filled = {place for _, place in situation.inside if place in self.homes}
        if self.count > 1 and len(filled) == 1:
            return [(thing, place) for thing, place in sources if place not in filled]
        return sources

    def _bring(self, things: Iterable[int], done: Things) -> list[int]:
        """The stages, for `least`, from having one of these things in the hand to its being home."""
        return [self._home] if any(thing in done for thing in things) else [self._treating, self._home]

    def _bound_without_putting(self, situation: Situation) -> int:
        """That of treating an object that lies in its home and somewhere else: it need not be put back."""
        here, held, inside, _, done, _ = situation
        at_home = {thing for thing, place in inside if place in self.homes} - done
        if held in at_home:
            return least(here, [self._treating])
        times = Counter(thing for thing, _ in inside if thing in at_home & self.movable)
        sources = self.locations(place for thing, place in inside if times[thing] > 1)
        return least(here, [*self.putting_down(held), sources, self._treating])


def _treating(house: House, treatment: Treatment | None) -> tuple[Things, Things]:
    """What can be treated, and where."""
    match treatment:
        case "clean":
            return house.cleanable, house.sinks
        case "heat":
            return house.heatable, house.microwaves
        case "cool":
            return house.coolable, house.fridges
    return frozenset(range(len(house.object_types))), frozenset()
