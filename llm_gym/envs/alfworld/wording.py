"""The two wordings of the game: that of the papers, and the current one."""

from __future__ import annotations

import re
from dataclasses import dataclass

NOTHING_HAPPENS = "Nothing happens."
WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
TASK_PREFIX = "Your task is to: "

_HELP = """\
Available commands:
  look:                             look around your current location
  inventory:                        check your current inventory
  go to (receptacle):               move to a receptacle
  open (receptacle):                open a receptacle
  close (receptacle):               close a receptacle
  take (object) from (receptacle):  take an object from a receptacle
  move (object) to (receptacle):  place an object in or on a receptacle
  examine (something):              examine a receptacle or an object
  use (object):                     use an object
  heat (object) with (receptacle):  heat an object using a receptacle
  clean (object) with (receptacle): clean an object using a receptacle
  cool (object) with (receptacle):  cool an object using a receptacle
  slice (object) with (object):     slice an object using a sharp object
"""


@dataclass(frozen=True, slots=True)
class Wording:
    """How commands and answers are phrased.

    Attributes:
        put: the command, a format of `object` and `receptacle`.
        done: the answer to it.
        names_place: arriving names the location (`loc 7`), not the receptacle.
        help: the answer to `help`; None where there is no such command.
    """

    name: str
    put: str
    done: str
    names_place: bool
    help: str | None


ORIGINAL = Wording(
    "original", "put {object} in/on {receptacle}", "You put the {object} in/on the {receptacle}.", True, None
)
"""Of release 2.1.1, which the papers used."""
CURRENT = Wording(
    "current", "move {object} to {receptacle}", "You move the {object} to the {receptacle}.", False, _HELP
)
"""Of release 2.1.3 and later."""

_PUT = re.compile(r"(?:put (?P<o>.+) in/on|move (?P<m>.+) to) (?P<r>.+)")


def reworded(command: str, wording: Wording) -> str:
    """A command of either wording in another one.

    >>> reworded("put apple 1 in/on fridge 1", CURRENT)
    'move apple 1 to fridge 1'
    """
    match = _PUT.fullmatch(command)
    return command if match is None else wording.put.format(object=match["o"] or match["m"], receptacle=match["r"])
