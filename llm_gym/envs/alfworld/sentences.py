"""The words of the game: commands, and what is said of a state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.moves import Move
from llm_gym.envs.alfworld.state import State
from llm_gym.envs.alfworld.wording import TASK_PREFIX, WELCOME, Wording

_ANSWERS = {
    "take": "You pick up the {object} from the {receptacle}.",
    "clean": "You clean the {object} using the {receptacle}.",
    "heat": "You heat the {object} using the {receptacle}.",
    "cool": "You cool the {object} using the {receptacle}.",
    "use": "You turn on the {object}.",  # every time: there is no turning off
    "slice": "You sliced the {object} with the {receptacle}.",
}


def command(house: House, move: Move, wording: Wording) -> str:
    """A move as one types it."""
    verb, thing, place = move
    match verb:
        case "go":
            return f"go to {house.receptacle_names[place]}"
        case "open" | "close" | "examine":
            return f"{verb} {house.receptacle_names[place]}"
        case "take":
            return f"take {house.object_names[thing]} from {house.receptacle_names[place]}"
        case "put":
            return wording.put.format(object=house.object_names[thing], receptacle=house.receptacle_names[place])
        case "clean" | "heat" | "cool":
            return f"{verb} {house.object_names[thing]} with {house.receptacle_names[place]}"
        case "use":
            return f"use {house.object_names[thing]}"
        case "slice":
            return f"slice {house.object_names[thing]} with {house.object_names[place]}"
        case "inspect":
            return f"examine {house.object_names[thing]}"
        case _:
            return verb


def feedback(house: House, state: State, move: Move, wording: Wording) -> str:
    """What is said after a move; `state` is the one that it led to."""
    place = move.place
    match move.verb:
        case "go":
            where = house.location_names[state.location] if wording.names_place else house.receptacle_names[place]
            return f"You arrive at {where}. {seen_in(house, state, place)}"
        case "open":
            return f"You open the {house.receptacle_names[place]}. {seen_in(house, state, place)}"
        case "close":
            return f"You close the {house.receptacle_names[place]}."
        case "examine":
            return seen_in(house, state, place)
        case "inspect":
            return description(house, state, move.thing)
        case "look":
            return surroundings(house, state)
        case "inventory":
            return carried(house, state)
        case "put":
            answer = wording.done
        case verb:
            answer = _ANSWERS[verb]
    names = house.object_names if move.verb == "slice" else house.receptacle_names
    return answer.format(object=house.object_names[move.thing], receptacle=names[place])


def introduction(house: House, state: State, goal: str) -> str:
    """The first observation; `goal` is a sentence with its full stop."""
    return f"{WELCOME}\n\n{surroundings(house, state, entering=True)}\n\n{TASK_PREFIX}{goal}"


def surroundings(house: House, state: State, entering: bool = False) -> str:
    """What `look` says, and the introduction, which lists the room where `look` finds nothing."""
    here = house.receptacles_at[state.location]
    if here:
        faced = _listed([house.receptacle_names[place] for place in here])
        return f"You are facing the {faced}. Next to it, you see {_listed(_left_beside(house, state, here))}."
    room = [f"a {name}" for name in house.receptacle_names] if entering else []
    return f"You are in the middle of a room. Looking quickly around you, you see {_listed(room)}."


def _left_beside(house: House, state: State, here: Sequence[int]) -> list[str]:
    """Things put down here that were once taken from another receptacle here, once for each such receptacle."""
    return [
        f"a {house.object_names[thing]}"
        for thing in sorted({thing for thing, _ in state.taken})
        if (thing, state.location) in state.at
        for place in here
        if (thing, place) in state.taken
    ]


def seen_in(house: House, state: State, place: int) -> str:
    """What is seen in or on a receptacle."""
    name = house.receptacle_names[place]
    if house.is_shut(place, state):
        return f"The {name} is closed."
    things = _listed(_with_article(house, state.contents[place]))
    if place in house.openable:
        return f"The {name} is open. In it, you see {things}."
    return f"On the {name}, you see {things}."


def carried(house: House, state: State) -> str:
    if state.held is None:
        return "You are not carrying anything."
    return f"You are carrying: a {house.object_names[state.held]}."


def description(house: House, state: State, thing: int) -> str:
    """What is said of the object in the hand."""
    name, inner = house.object_names[thing], house.inner[thing]
    if inner is not None:
        return f"This is a normal {name}. In it, you see {_listed(_with_article(house, inner))}."
    heat = "hot" if thing in state.hot else "cool" if thing in state.cool else ""
    clean, sliced = thing in state.clean, thing in state.sliced
    if heat == "cool" and not clean and not sliced:
        return f"This is a cold {name}."  # only here: in every combination the word is "cool"
    words = [*([heat] if heat else []), *(["clean"] if clean else [])]
    if not words and not sliced:
        return f"There's nothing special about {name}."
    described = " and ".join(words) + (" " if words else "") + ("sliced " if sliced else "")
    return f"This is a {described}{name}."


def _with_article(house: House, things: Iterable[int]) -> list[str]:
    return [f"a {house.object_names[thing]}" for thing in things]  # always "a": "a egg 2"


def _listed(items: Sequence[str]) -> str:
    match items:
        case []:
            return "nothing"
        case [only]:
            return only
        case _:
            return f"{', '.join(items[:-1])}, and {items[-1]}"
