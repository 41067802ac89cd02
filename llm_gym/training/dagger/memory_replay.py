"""States that the memory student was in, with what the teacher would have done there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from llm_gym.data import atomic_path
from llm_gym.policies.alfworld.memory.features import Choices

_OF_COMMANDS = ("verbs", "things", "places", "flags")
_OF_STATES = ("nouns", "state")


class Example(NamedTuple):
    """A state, and which of its commands the teacher would have given."""

    choices: Choices
    labels: np.ndarray[Any, np.dtype[np.bool_]]
    """(A,); at least one is true."""


def write_examples(path: Path, examples: Sequence[Example]) -> None:
    """All examples in one file of plain arrays."""
    arrays = {"sizes": np.array([len(one.labels) for one in examples], np.int64)}
    if examples:
        arrays["labels"] = np.concatenate([one.labels for one in examples])
        arrays |= {name: np.concatenate([getattr(one.choices, name) for one in examples]) for name in _OF_COMMANDS}
        arrays |= {name: np.stack([getattr(one.choices, name) for one in examples]) for name in _OF_STATES}
    with atomic_path(path) as draft, draft.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_examples(path: Path) -> Iterator[Example]:
    """What `write_examples` wrote."""
    with np.load(path, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    ends = np.cumsum(arrays["sizes"])
    for number, (begin, end) in enumerate(zip(ends - arrays["sizes"], ends, strict=True)):
        own = {name: arrays[name][begin:end] for name in _OF_COMMANDS} | {
            name: arrays[name][number] for name in _OF_STATES
        }
        yield Example(Choices(**own), arrays["labels"][begin:end])
