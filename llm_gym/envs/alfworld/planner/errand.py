"""A task as an errand: what has to be done where, and how many commands that takes at least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move
from llm_gym.envs.alfworld.state import Pairs, State, Things

IMPOSSIBLE: Final = 1 << 30
"""More commands than any plan has."""
NOTHING: Final = -1
"""In an empty hand."""
NOWHERE: Final = -1
"""The location for which nothing stands."""


class Situation(NamedTuple):
    """What matters of a state.

    Attributes:
        here: location of the agent.
        held: object in its hand, or `NOTHING`.
        inside: targets and lamps, and the receptacles they are in.
        shut: receptacles.
        done: targets that are as the task wants them, and lamps that are lit.
        spare: what the agent held at first. Only this is ever put elsewhere than where the task wants it.
    """

    here: int
    held: int
    inside: Pairs
    shut: Things
    done: Things
    spare: int


class View(NamedTuple):
    """Where it is worth going. Among locations that offer the same, one stands for all.

    Attributes:
        stand_in: location → the one that stands for it; `NOWHERE` where there is nothing to do.
        useful: receptacles there that treat a target, or that what is held, or a target, can be put into.
    """

    stand_in: tuple[int, ...]
    useful: tuple[int, ...]


class Deed(NamedTuple):
    """A move with all that has to be done for it: going there and opening the door.

    Attributes:
        price: how many commands this is.
    """

    move: Move
    following: Situation
    price: int


class Errand(ABC):
    """What is common to all tasks.

    Args:
        house: where.
        targets: objects, one of which the task wants.
        lamps: objects, one of which it wants lit.
        homes: receptacles where it wants the target.
        appliances: receptacles that treat the target.
    """

    def __init__(self, house: House, targets: Things, lamps: Things, homes: Things, appliances: Things) -> None:
        self.house = house
        self.targets = targets
        self.lamps = lamps
        self.homes = homes
        self.appliances = appliances
        self.movable = targets & house.pickupable
        self._counting = targets | lamps
        self._takers: dict[str, tuple[int, ...]] = {}

    @abstractmethod
    def done(self, state: State) -> Things:
        """Targets that are as the task wants them, and lamps that are lit."""

    @abstractmethod
    def met(self, situation: Situation) -> bool:
        """Whether the goal is met."""

    @abstractmethod
    def bound(self, situation: Situation) -> int:
        """A number of commands with fewer of which the goal cannot be met; `IMPOSSIBLE`: with none at all."""

    @abstractmethod
    def treatments(self, situation: Situation, view: View) -> Iterator[Deed]:
        """What can be done beside taking and putting."""

    # -- what matters ------------------------------------------------------------------------------------------

    def situation(self, state: State) -> Situation:
        counting = self._counting
        held = NOTHING if state.held is None else state.held
        return Situation(
            here=state.location,
            held=held,
            inside=frozenset(
                [(thing, place) for place, things in enumerate(state.contents) for thing in things if thing in counting]
            ),
            shut=self.house.openable - state.opened,
            done=self.done(state),
            spare=held,
        )

    def view(self, situation: Situation) -> View:
        """What matters from here on.

        A plan that visits several locations which offer the same, and hold nothing that counts, is a plan still when
        all it does there is done at one of them, and no longer. This is the present one where it is among them.
        """
        place = self.house.place
        takers = frozenset(self.takers(situation.held))
        serving = self.homes | takers | self.appliances
        offers: dict[int, set[tuple[bool, ...]]] = {}
        for receptacle in sorted(serving):
            kinds = (self.homes, takers, self.appliances, situation.shut)
            offer = tuple(receptacle in kind for kind in kinds)
            offers.setdefault(place[receptacle], set()).add(offer)
        holding = {place[receptacle] for _, receptacle in situation.inside}
        stand_in = [NOWHERE] * len(self.house.receptacles_at)
        standing: dict[frozenset[tuple[bool, ...]], int] = {}
        for location in sorted(offers, key=situation.here.__ne__):
            if location not in holding:
                stand_in[location] = standing.setdefault(frozenset(offers[location]), location)
        for location in holding:
            stand_in[location] = location
        useful = tuple(receptacle for receptacle in sorted(serving) if stand_in[place[receptacle]] == place[receptacle])
        return View(tuple(stand_in), useful)

    def takers(self, thing: int) -> tuple[int, ...]:
        """Receptacles that may hold a thing."""
        if thing == NOTHING:
            return ()
        kind = self.house.object_types[thing]
        if kind not in self._takers:
            self._takers[kind] = tuple(place for place, kinds in enumerate(self.house.accepts) if kind in kinds)
        return self._takers[kind]

    # -- what can be done --------------------------------------------------------------------------------------

    def deeds(self, situation: Situation, view: View) -> Iterator[Deed]:
        """All that may be a part of a shortest plan."""
        here, held, inside, shut, done, spare = situation
        location = self.house.place
        if held == NOTHING:
            for thing, place in sorted(inside):
                if thing in self.movable:
                    left = inside - {(thing, place)}
                    following = Situation(location[place], thing, left, shut - {place}, done, spare)
                    yield Deed(Move("take", thing, place), following, 1 + (location[place] != here) + (place in shut))
        else:
            takers = self.takers(held)
            for place in view.useful:
                if place in takers and (held == spare or place in self.homes):
                    lying = inside | {(held, place)} if held in self._counting else inside
                    following = Situation(location[place], NOTHING, lying, shut - {place}, done, spare)
                    yield Deed(Move("put", held, place), following, 1 + (location[place] != here) + (place in shut))
        yield from self.treatments(situation, view)

    def with_way(self, situation: Situation, move: Move) -> Iterator[Move]:
        """The moves of a deed; `use` is written with the lamp's receptacle."""
        if self.house.place[move.place] != situation.here:
            yield Move("go", place=move.place)
        if move.verb in ("take", "put") and move.place in situation.shut:
            yield Move("open", place=move.place)
        if move.verb == "use":
            yield Move("use", move.thing)
        elif move.verb != "go":
            yield move

    def may_help(self, move: Move, situation: Situation) -> bool:
        """Whether a possible move that goes nowhere may begin a shortest plan."""
        match move.verb:
            case "take":
                return move.thing in self.movable
            case "clean" | "heat" | "cool":
                return move.place in self.appliances and move.thing in self.targets - situation.done
            case "use":
                return move.thing in self.lamps - situation.done
        return move.verb in ("open", "put")

    # -- how far it is -----------------------------------------------------------------------------------------

    def locations(self, receptacles: Iterable[int]) -> int:
        """The locations of receptacles, as the bits of a number."""
        place = self.house.place
        bits = 0
        for receptacle in receptacles:
            bits |= 1 << place[receptacle]
        return bits

    def putting_down(self, thing: int) -> list[int]:
        """The stage, for `least`, of freeing the hand; none where it is free."""
        return [] if thing == NOTHING else [self.locations(self.takers(thing))]


def least(here: int, stages: Iterable[int]) -> int:
    """The fewest commands for one deed a stage, each at one of its locations: the deeds, and the ways between them.

    >>> desk, shelf = 0b01, 0b10
    >>> least(0, [desk, desk | shelf, shelf])
    4
    """
    commands, reachable = 0, 1 << here
    for locations in stages:
        if not locations:
            return IMPOSSIBLE
        if not reachable & locations:
            commands += 1
            reachable = locations
        reachable &= locations
        commands += 1
    return commands
