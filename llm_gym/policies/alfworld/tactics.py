"""What to do next in ALFWorld, given what is known: the commands that serve an errand best, all equally well."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from llm_gym.policies.alfworld.belief import Belief
from llm_gym.policies.alfworld.goals import Errand, Look, Put, Treatment
from llm_gym.policies.alfworld.places import probability, probably_shut, word_of

Item = TypeVar("Item")

APPLIANCES: Final[dict[Treatment, tuple[str, ...]]] = {
    "clean": ("sinkbasin", "bathtubbasin"),
    "heat": ("microwave",),
    "cool": ("fridge",),
}
"""Kinds of places that treat things, the surer first: some bathtubs of the releases are sinks."""


def best_commands(errand: Errand, belief: Belief) -> list[str]:
    """The equally good next commands, each admissible; none if nothing that the player knows of would help."""
    if belief.held is None:
        commands = _fetch(errand, belief)
    elif not belief.holds(errand.thing):
        commands = _lay_down(belief.held, belief)
    elif isinstance(errand, Look):
        commands = _light(errand, belief)
    elif errand.treatment is not None and errand.treatment not in belief.treated.get(belief.held, ()):
        commands = _treat(belief.held, errand.treatment, belief)
    else:
        commands = _deliver(errand, belief)
    return [command for command in dict.fromkeys(commands) if command in belief.offered]


def is_vain(errand: Errand, belief: Belief) -> bool:
    """Whether an errand looks done though the game goes on, or cannot be done: then something else was meant."""
    if not belief.knows(errand.thing):
        return all(place in belief.contents for place in belief.places)
    if isinstance(errand, Look):
        return belief.holds(errand.thing) and any(f"use {lamp}" in belief.offered for lamp in belief.lit)
    return (errand.thing, errand.place) in belief.refused or _is_untreatable(errand, belief) or _is_done(errand, belief)


def _is_untreatable(errand: Put, belief: Belief) -> bool:
    """Whether the player stands in front of the appliance, the thing in hand, and cannot use it."""
    treatment = errand.treatment
    if treatment is None or not belief.holds(errand.thing):
        return False
    appliances = [place for place in belief.near if word_of(place) == APPLIANCES[treatment][0]]
    return bool(appliances) and f"{treatment} {belief.held} with {appliances[0]}" not in belief.offered


def _is_done(errand: Put, belief: Belief) -> bool:
    def counts(thing: str) -> bool:
        treated = errand.treatment is None or errand.treatment in belief.treated.get(thing, ())
        return treated and word_of(thing) == errand.thing

    places = belief.places_of(errand.place)
    return any(sum(map(counts, belief.contents.get(place, ()))) >= errand.count for place in places)


# -- empty-handed ----------------------------------------------------------------------------------------------


def _fetch(errand: Errand, belief: Belief) -> list[str]:
    """Take a thing that is known, or look for one."""
    done = _places_done(errand, belief)
    there = {thing for place in done for thing in belief.contents.get(place, ())}
    known = [(thing, place) for thing, place in belief.things(errand.thing) if thing not in there]
    costs = [_cost(place, belief) + _cost_of_treatment(errand, thing, place, belief) for thing, place in known]
    takes = [_towards(place, belief, f"take {thing} from {place}") for thing, place in _cheapest(known, costs)]
    return takes or _search(errand.thing, [place for place in belief.places if place not in done], belief)


def _places_done(errand: Errand, belief: Belief) -> set[str]:
    """Places from which nothing is to be taken, because it belongs there."""
    if isinstance(errand, Look) or errand.treatment is not None:
        return set()
    targets = belief.places_of(errand.place)
    if errand.count == 1:
        return set(targets)  # one thing in any of them would have met the goal
    counts = [belief.count(errand.thing, place) for place in targets]
    fullest = [place for place, count in zip(targets, counts, strict=True) if count == max(counts) > 0]
    return set(sorted(fullest, key=belief.near.__contains__)[:1])


def _cost_of_treatment(errand: Errand, thing: str, place: str, belief: Belief) -> int:
    """Commands until a thing is treated once it is taken."""
    if isinstance(errand, Look) or errand.treatment is None or errand.treatment in belief.treated.get(thing, ()):
        return 0
    return 1 if word_of(place) in APPLIANCES[errand.treatment] else 2


def _search(thing: str, places: Iterable[str], belief: Belief) -> list[str]:
    """Look where the thing most probably is for the trouble."""
    unknown = [place for place in places if place not in belief.contents]
    trouble = [-probability(thing, word_of(place)) / _cost(place, belief) for place in unknown]
    return [_towards(place, belief) for place in _cheapest(unknown, trouble)] or _look_again(belief)


def _look_again(belief: Belief) -> list[str]:
    """All places are known: look where one looked longest ago."""
    places = [place for place in belief.places if place not in belief.near or belief.shut[place]]
    return [_towards(place, belief) for place in _cheapest(places, [belief.looked.get(place, 0) for place in places])]


# -- with a thing in hand --------------------------------------------------------------------------------------


def _lay_down(held: str, belief: Belief) -> list[str]:
    """Get rid of a thing that is of no use."""
    at_once = [command for place in belief.near if (command := belief.put(place)) is not None]
    word = word_of(held)
    places = [place for place in belief.places if (word, word_of(place)) not in belief.refused]
    trouble = [-probability(word, word_of(place)) / _cost(place, belief) for place in places]
    return at_once or [_towards(place, belief) for place in _cheapest(places, trouble)]


def _light(errand: Look, belief: Belief) -> list[str]:
    """Bring the held thing to a lamp and turn it on."""
    lamps = [lamp for lamp in belief.lamps if word_of(lamp) == errand.lamp]
    if here := [f"use {lamp}" for lamp in lamps if belief.lamps[lamp] == belief.near]:
        return here
    if lamps:
        return [f"go to {place}" for lamp in lamps for place in belief.lamps[lamp]]
    unseen = [place for place in belief.places if place not in belief.visited]
    likely = _cheapest(unseen, [-probability(errand.lamp, word_of(place)) for place in unseen])
    return [f"go to {place}" for place in likely] or _look_again(belief)


def _treat(held: str, treatment: Treatment, belief: Belief) -> list[str]:
    """Clean, heat or cool the held thing."""
    here = [f"{treatment} {held} with {place}" for place in belief.near]
    if any(command in belief.offered for command in here):
        return here
    appliances = [place for word in APPLIANCES[treatment] for place in belief.places_of(word)]
    unseen = [place for place in appliances if place not in belief.visited]
    surest = [place for place in unseen if word_of(place) == word_of(unseen[0])]
    return [f"go to {place}" for place in surest or appliances]


def _deliver(errand: Put, belief: Belief) -> list[str]:
    """Put the held thing where it belongs; beside its like, if several belong together."""
    places = [place for place in belief.places_of(errand.place) if (errand.thing, errand.place) not in belief.refused]
    if errand.count > 1:
        most = max((belief.count(errand.thing, place) for place in places), default=0)
        places = [place for place in places if belief.count(errand.thing, place) == most]
    nearest = _cheapest(places, [_cost(place, belief) for place in places])
    return [_towards(place, belief, belief.put(place) or "") for place in nearest]


# -- ways ------------------------------------------------------------------------------------------------------


def _towards(place: str, belief: Belief, command: str = "") -> str:
    """The next command on the way to one that is given in front of an open place."""
    if place not in belief.near:
        return f"go to {place}"
    return f"open {place}" if belief.shut[place] else command


def _cost(place: str, belief: Belief) -> float:
    """Commands until one sees what is in a place, as far as one can tell; not less than one."""
    shut = belief.shut.get(place, probably_shut(word_of(place)))
    return max(1.0, (place not in belief.near) + shut)


def _cheapest(items: Sequence[Item], costs: Sequence[float]) -> list[Item]:
    least = min(costs, default=0.0)
    return [item for item, cost in zip(items, costs, strict=True) if cost == least]
