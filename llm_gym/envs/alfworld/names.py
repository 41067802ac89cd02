"""What things are called in the text: `cabinet 3`."""

from __future__ import annotations

from collections.abc import Iterable


def display_names(ids: Iterable[str]) -> dict[str, str]:
    """Raw id → name shown.

    The word before the first `_bar_`, with `basin` where the id holds that, then a number. Ids of one word are
    numbered in alphabetical order from the highest number down, as the original hands them out.

    >>> display_names(["cup_bar_1", "cup_bar_2", "sink_bar_9_bar_sinkbasin", "sink_bar_9"])
    {'cup_bar_1': 'cup 2', 'cup_bar_2': 'cup 1', 'sink_bar_9': 'sink 1', 'sink_bar_9_bar_sinkbasin': 'sinkbasin 1'}
    """
    groups: dict[str, list[str]] = {}
    for identity in sorted(set(ids)):
        groups.setdefault(_word(identity), []).append(identity)
    return {
        identity: f"{word} {number}"
        for word, members in groups.items()
        for number, identity in zip(range(len(members), 0, -1), members, strict=True)
    }


def _word(identity: str) -> str:
    return identity.partition("_bar_")[0] + ("basin" if "basin" in identity else "")
