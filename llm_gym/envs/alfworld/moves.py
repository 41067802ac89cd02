"""The rules: which moves are possible, and what they change."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from llm_gym.envs.alfworld.house import House
from llm_gym.envs.alfworld.state import State

Verb = Literal[
    "go",
    "open",
    "close",
    "take",
    "put",
    "clean",
    "heat",
    "cool",
    "use",
    "slice",
    "examine",
    "inspect",
    "look",
    "inventory",
]
"""`examine` is of a receptacle, `inspect` of the object in the hand; both are written "examine"."""


class Move(NamedTuple):
    """A verb with the numbers of an object and of a receptacle; -1 for none. Of `slice`, `place` is the blade."""

    verb: Verb
    thing: int = -1
    place: int = -1


LOOK, INVENTORY = Move("look"), Move("inventory")


def moves(house: House, state: State) -> Iterator[Move]:
    """Every possible move, each once, in no order that means anything.

    One goes to a receptacle, not to a location: others there can be used at once, but not be gone to.
    """
    for way in ways(house):
        if house.place[way.place] != state.location:
            yield way
    yield from moves_here(house, state)


def ways(house: House) -> Iterator[Move]:
    """A move to every receptacle; it is possible wherever the receptacle is not."""
    return (Move("go", -1, receptacle) for receptacle in range(len(house.place)))


def moves_here(house: House, state: State) -> Iterator[Move]:
    """Every possible move but those that go elsewhere."""
    yield LOOK
    yield INVENTORY
    usable: set[int] = set()
    for receptacle in house.receptacles_at[state.location]:
        yield Move("examine", -1, receptacle)
        if receptacle in house.openable:
            yield Move("close" if receptacle in state.opened else "open", -1, receptacle)
        contents = state.contents[receptacle]
        usable.update(thing for thing in contents if thing in house.toggleable)  # also inside a closed receptacle
        if house.is_shut(receptacle, state):
            continue
        if state.held is None:
            for thing in contents:
                if thing in house.pickupable:
                    yield Move("take", thing, receptacle)
        elif house.can_hold(receptacle, state.held):
            yield Move("put", state.held, receptacle)
    for thing in usable:
        yield Move("use", thing)
    if state.held is not None:
        yield from _with_hand(house, state, state.held)


def _with_hand(house: House, state: State, held: int) -> Iterator[Move]:
    yield Move("inspect", held)
    for receptacle in house.receptacles_at[state.location]:
        if receptacle in house.sinks and held in house.cleanable:
            yield Move("clean", held, receptacle)
        if receptacle in house.microwaves and held in house.heatable:
            yield Move("heat", held, receptacle)
        if receptacle in house.fridges and held in house.coolable:
            yield Move("cool", held, receptacle)
    if held in house.blades:
        for thing in house.sliceable:
            if (thing, state.location) in state.at:
                yield Move("slice", thing, held)


def after(house: House, state: State, move: Move) -> State:
    """The state after a possible move; the same object when nothing changes."""
    _, thing, place = move
    match move.verb:
        case "go":
            return replace(state, location=house.place[place])
        case "open":
            return replace(state, opened=state.opened | {place})
        case "close":
            return replace(state, opened=state.opened - {place})
        case "take":
            return _taken(state, thing, place)
        case "put":
            return _put(state, thing, place)
        case "look" | "inventory" | "examine" | "inspect":
            return state
        case _:
            return _treated(state, move)


def _taken(state: State, thing: int, place: int) -> State:
    return replace(
        state,
        held=thing,
        contents=_changed(state, place, tuple(other for other in state.contents[place] if other != thing)),
        at=state.at - {(thing, state.location)},
        taken=state.taken | {(thing, place)},
    )


def _put(state: State, thing: int, place: int) -> State:
    return replace(
        state,
        held=None,
        contents=_changed(state, place, tuple(sorted({*state.contents[place], thing}))),
        at=state.at | {(thing, state.location)},
        taken=state.taken - {(thing, place)},
    )


def _treated(state: State, move: Move) -> State:
    thing = move.thing
    match move.verb:
        case "clean":
            return state if thing in state.clean else replace(state, clean=state.clean | {thing})
        case "heat":
            heated = replace(state, hot=state.hot | {thing}, cool=state.cool - {thing})
            return state if heated == state else heated
        case "cool":
            cooled = replace(state, cool=state.cool | {thing}, hot=state.hot - {thing})
            return state if cooled == state else cooled
        case "use":
            return state if thing in state.toggled else replace(state, toggled=state.toggled | {thing})
        case "slice":
            return state if thing in state.sliced else replace(state, sliced=state.sliced | {thing})
        case _:
            raise AssertionError(f"{move} treats nothing")


def _changed(state: State, place: int, things: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    return (*state.contents[:place], things, *state.contents[place + 1 :])
