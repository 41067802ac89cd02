"""Wrappers, one concept per file. One line of the table registers one; it is imported when asked for."""

from __future__ import annotations

from typing import Any

from llm_gym.registry import wrappers

WRAPPERS = {
    "history": "llm_gym.wrappers.history:HistoryWrapper",
    "indexed": "llm_gym.wrappers.indexed:IndexedActions",
    "item-titles": "llm_gym.wrappers.item_titles:ItemTitles",
    "opinion": "llm_gym.wrappers.opinion:OpinionWrapper",
}


def register() -> None:
    """Make every wrapper of the table known by name; imports none of them."""
    for name, target in WRAPPERS.items():
        wrappers.register(name, target)


def __getattr__(attribute: str) -> Any:
    return wrappers.lazy_attribute(__name__, attribute)
