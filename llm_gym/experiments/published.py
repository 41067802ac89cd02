"""The published numbers, from a file beside this one; none of them is measured here."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any

from llm_gym.evaluation.tables import Table


@dataclass(frozen=True, slots=True)
class Published:
    """A table of a paper.

    Attributes:
        source: the paper and its table.
        results: as printed there.
        agreement: how often the model did what was suggested.
        notes: what has to be known before the numbers are compared with others, one sentence or two each.
    """

    source: str
    results: Table
    agreement: Table
    notes: tuple[str, ...]


def published(experiment: str) -> Published:
    """The published table of an experiment."""
    data: dict[str, Any] = json.loads((resources.files(__package__) / "published.json").read_bytes())[experiment]
    return Published(
        data["source"],
        Table(tuple(data["columns"]), tuple(map(tuple, data["rows"]))),
        Table(("model", "agreement"), tuple(map(tuple, data["agreement"]))),
        tuple(data["notes"]),
    )
