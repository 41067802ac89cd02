"""The parts of a command of ALFWorld: what is done, to what, and where."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from llm_gym.policies.alfworld.places import known_places, word_of

VERBS: Final = (
    *("", "go", "open", "close", "take", "put", "clean", "heat", "cool"),
    *("use", "slice", "examine", "look", "inventory"),
)
"""The first stands for anything else."""
_WITH_PLACE: Final = re.compile(
    r"(?P<verb>take|move|put|clean|heat|cool) (?P<thing>\S+ \d+) (?:from|to|in/on|with) (?P<place>\S+ \d+)"
)


class Command(NamedTuple):
    """A command of either wording; where it names nothing the name is empty."""

    verb: str
    thing: str = ""
    place: str = ""


@lru_cache(maxsize=65536)
def read_command(text: str) -> Command:
    """The parts of a command.

    >>> read_command("move egg 2 to fridge 1")
    Command(verb='put', thing='egg 2', place='fridge 1')
    """
    if match := _WITH_PLACE.fullmatch(text):
        verb = match["verb"]
        return Command("put" if verb == "move" else verb, match["thing"], match["place"])
    verb, _, rest = text.partition(" ")
    match verb:
        case "go":
            return Command("go", place=rest.removeprefix("to "))
        case "open" | "close":
            return Command(verb, place=rest)
        case "examine" if word_of(rest) in known_places():
            return Command(verb, place=rest)
        case "examine" | "use":
            return Command(verb, thing=rest)
        case "slice":
            return Command(verb, thing=rest.partition(" with ")[0])
        case "look" | "inventory" if not rest:
            return Command(verb)
    return Command("")
