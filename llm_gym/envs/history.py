"""Earlier observations and actions as one text, as the original WebShop joins them."""

from __future__ import annotations

from collections.abc import Sequence

SEPARATOR = " [SEP] "


def with_history(observations: Sequence[str], actions: Sequence[str], observation: str) -> str:
    """The current observation after earlier ones and actions, oldest first.

    Both lists end just before `observation`, and an action follows the observation it answered.

    >>> with_history(["page 2"], ["action 1", "action 2"], "page 3")
    'action 1 [SEP] page 2 [SEP] action 2 [SEP] page 3'
    """
    told: list[str] = []
    for back in range(max(len(observations), len(actions)), 0, -1):
        told += observations[-back:][:1] if back <= len(observations) else []
        told += actions[-back:][:1] if back <= len(actions) else []
    return SEPARATOR.join([*told, observation])


def last(items: Sequence[str], count: int) -> Sequence[str]:
    """The last `count` items, or all where there are fewer."""
    return items[-count:] if count else ()
