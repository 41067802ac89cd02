"""The actions to choose among, with the words by which they are judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from llm_gym.core import Info
from llm_gym.envs.webshop.goals import query_of
from llm_gym.errors import InvalidSetting
from llm_gym.policies.shopper import ShopPage, search_action

_TOOL = re.compile(r"\w+\[(.*)\]", re.DOTALL)
_WORDS_OF_SHORT_QUERY = 4


class Candidate(NamedTuple):
    """An action that can be chosen."""

    action: str
    """What the world is told."""
    text: str
    """What is read of it: the action, but for a result of a shop its title and price."""

    @property
    def subject(self) -> str:
        """What it is about: the argument of a tool, or the whole command."""
        tool = _TOOL.fullmatch(self.text)
        return tool[1] if tool else self.text


def candidates(info: Info) -> tuple[Candidate, ...]:
    """All that can be chosen, in the order of the world; on the search page of a shop a few queries.

    Raises:
        InvalidSetting: the world cannot list its actions.
    """
    admissible = info.get("admissible_actions")
    if admissible is None:
        raise InvalidSetting(
            'This environment lists no actions (info["admissible_actions"] is None): there is nothing to choose among.'
        )
    page = ShopPage.read(info)
    if page is None:
        return tuple(Candidate(action, action) for action in admissible)
    if page.screen == "search":
        return tuple(Candidate(action, action) for action in dict.fromkeys(map(search_action, queries(page.goal))))
    shown = {page.click_result(at): f"click[{one.title} {one.price}]" for at, one in enumerate(page.results)}
    return tuple(Candidate(action, shown.get(action, action)) for action in admissible)


def queries(goal: str) -> Iterator[str]:
    """The instruction; without opening and price clause; and what stands first and last in that.

    >>> list(queries("i need a red canvas shoe with laces in size 9, and price lower than 40.00 dollars"))[1:]
    ['red canvas shoe with laces in size 9', 'red canvas shoe with', 'laces in size 9']
    """
    yield goal
    query = query_of(goal)
    yield query
    words = query.split()
    yield " ".join(words[:_WORDS_OF_SHORT_QUERY])
    yield " ".join(words[-_WORDS_OF_SHORT_QUERY:])
