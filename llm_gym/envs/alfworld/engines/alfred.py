"""The rules and the grammar that TextWorld plays by: those of the package `alfworld`, in either wording."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from pathlib import Path
from typing import Final

from llm_gym.envs.alfworld.wording import CURRENT, Wording
from llm_gym.errors import DataMismatch, MissingDependency

_GOAL: Final = "UNKNOWN GOAL."
"""What stands in the grammar for the goal, at the end of the first observation."""
_HELP_RULE: Final = re.compile(r"^\(:action help\n.*?^\)\n", re.DOTALL | re.MULTILINE)
_HELP_COMMAND: Final = re.compile(r"^action help \{.*?^\}\n", re.DOTALL | re.MULTILINE)
_IN_TEMPLATE: Final = {"object": "{o}", "receptacle": "{r}"}
_IN_ANSWER: Final = {"object": "{o.name}", "receptacle": "{r.name}"}


@cache
def domain(wording: Wording) -> str:
    """The actions with what they need and do.

    In the games of both releases one can clean at a sink without a basin; the package has that rule commented out.
    """
    text = _replaced(_packaged("alfred.pddl"), ";(receptacleType ?r SinkType)", "(receptacleType ?r SinkType)")
    return text if wording.help is not None else _HELP_RULE.sub("", text)


@cache
def grammar(wording: Wording) -> str:
    """The commands and answers, as the package has them or changed to another wording.

    The goal is left out: as part of a grammar some characters of a sentence would be commands, and what is in braces
    would be evaluated.
    """
    text = _replaced(_packaged("alfred.twl2"), _GOAL, "")
    text = _replaced(text, CURRENT.put.format(**_IN_TEMPLATE), wording.put.format(**_IN_TEMPLATE))
    text = _replaced(text, CURRENT.done.format(**_IN_ANSWER), wording.done.format(**_IN_ANSWER))
    place = "{lend.name}" if wording.names_place else "{r.name}"
    text = _replaced(text, "You arrive at {r.name}.", f"You arrive at {place}.")
    return text if wording.help is not None else _HELP_COMMAND.sub("", text)


def _replaced(text: str, old: str, new: str) -> str:
    if old not in text:
        raise DataMismatch(
            f"The installed package alfworld has other texts: {old!r} is not in them. "
            'Install the tested one: pip install "alfworld==0.4.2"'
        )
    return text.replace(old, new)


def _packaged(name: str) -> str:
    """A file of the package, which is not imported: that would make a folder in the user's home."""
    found = importlib.util.find_spec("alfworld")
    if found is None or not found.submodule_search_locations:
        raise MissingDependency("alfworld", "alfworld")
    return Path(found.submodule_search_locations[0], "data", name).read_text(encoding="utf-8")
