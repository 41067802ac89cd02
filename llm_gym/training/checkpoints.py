"""Where a killed training goes on: the folders of `transformers.Trainer`, of which a kill can leave half of one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

CHECKPOINTS = "checkpoints"
_PREFIX = "checkpoint-"
_STATE = "trainer_state.json"
"""Written last: where it is whole, everything is."""


def last_checkpoint(folder: Path) -> Path | None:
    """The checkpoint with the most updates; None where there is none. Halves of one are removed.

    Args:
        folder: of checkpoints.
    """
    whole: list[Path] = []
    for path in folder.glob(f"{_PREFIX}*"):
        if _is_whole(path):
            whole.append(path)
        else:
            shutil.rmtree(path)
    return max(whole, key=steps_of, default=None)


def steps_of(checkpoint: Path) -> int:
    """After how many updates it was made."""
    return int(checkpoint.name.removeprefix(_PREFIX))


def _is_whole(checkpoint: Path) -> bool:
    try:
        return isinstance(json.loads((checkpoint / _STATE).read_text(encoding="utf-8")), dict)
    except (OSError, ValueError):
        return False
