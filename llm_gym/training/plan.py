"""What a training folder is for: settings that may not change while it is filled."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from llm_gym.data import write_atomically
from llm_gym.errors import BadRecord, PlanMismatch

PLAN = "plan.json"
_ABSENT = "(not there)"


def claim(folder: Path, plan: Mapping[str, Any]) -> None:
    """Write the plan of a training, or check that the folder's is the same.

    Args:
        folder: of the training.
        plan: names and values that JSON knows; mappings may stand in it.

    Raises:
        BadRecord: the folder's plan cannot be read.
        PlanMismatch: it is another one; the message shows what differs.
    """
    path = folder / PLAN
    content = json.dumps(plan, indent=1, sort_keys=True) + "\n"
    if not path.exists():
        write_atomically(path, content.encode())
        return
    try:
        earlier = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadRecord(f"{path} is no plan of a training: {error}") from error
    if difference := _difference(earlier, json.loads(content)):
        raise PlanMismatch(
            f"{folder} was begun with other settings. Train in another folder, or with the settings of this one. "
            f"There → now: {'; '.join(difference)}"
        )


def _difference(earlier: Any, now: Any) -> list[str]:
    """One text for each value that differs, `schedule.seed: 0 → 1`."""
    before, after = _leaves(earlier), _leaves(now)
    return [
        f"{path}: {before.get(path, _ABSENT)} → {after.get(path, _ABSENT)}"
        for path in dict.fromkeys([*before, *after])
        if before.get(path) != after.get(path)
    ]


def _leaves(value: Any, path: str = "") -> dict[str, str]:
    """The innermost values as JSON, by their path."""
    if not isinstance(value, Mapping) or not value:
        return {path: json.dumps(value)}
    leaves: dict[str, str] = {}
    for key, item in value.items():
        leaves |= _leaves(item, f"{path}.{key}" if path else str(key))
    return leaves
