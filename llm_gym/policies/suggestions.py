"""Opinions in words, as they are put before an agent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from llm_gym.core import Info, Opinion
from llm_gym.policies.prompts import prompt

_TOOL = re.compile(r"(\w+)\[(.*)\]", re.DOTALL)
_CONFUSING = frozenset(",'\"\\")

LONGER = 10
"""A phrase has at most so many characters for each of its action's, and as many besides: `'\\U0010ffff'`."""


def phrased(action: str) -> str:
    """An action in a sentence: a tool with its argument in quotes, any other command as it is.

    Quotes, backslashes and line breaks inside are escaped as Python does, so that a phrase can be read back. A command
    that could be taken for two, or for something else, is put in quotes as well.

    >>> print(phrased("click[women's shoes]"), phrased("search[a [b] c]"), phrased("go to desk 1"), sep=", ")
    click with "women's shoes", search with 'a [b] c', go to desk 1
    """
    tool = _TOOL.fullmatch(action)
    if tool is not None:
        return f"{tool[1]} with {tool[2]!r}"
    plain = action.isprintable() and action.strip() == action != "" and not _CONFUSING & set(action)
    return action if plain else repr(action)


def suggestion_text(opinions: Sequence[Opinion]) -> str:
    """What is said about one opinion, or about several; nothing about none."""
    phrases = [phrased(opinion.action) for opinion in opinions]
    if len(phrases) == 1:
        return prompt("opinion")["one"].format(suggestion=phrases[0])
    return prompt("opinion")["several"].format(suggestions=", ".join(phrases)) if phrases else ""


def suggested(observation: str, info: Info, opinions: Sequence[Opinion], append: bool) -> tuple[str, Info]:
    """Observation and info with opinions in them, after those of others that are there already.

    Args:
        observation: what the policy would see.
        info: left as it is; `info["page"]` stays without opinions.
        opinions: of one expert.
        append: put the words after the observation.
    """
    seen = cast(Info, {**info, "opinions": [*info.get("opinions", ()), *opinions]})
    return f"{observation}\n\n{suggestion_text(opinions)}" if append and opinions else observation, seen
