"""Where a killed training goes on: a folder an update, which appears when it is whole."""

from __future__ import annotations

import io
import json
import pickle
import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord
from llm_gym.policies.reinforcement.network import ActorCritic

CHECKPOINTS = "checkpoints"
_PREFIX = "update-"
_WEIGHTS, _EPISODES = "weights.pt", "episodes.json"


def write_state(
    out: Path, update: int, network: ActorCritic, optimizer: torch.optim.Optimizer, episodes: Mapping[str, Any]
) -> None:
    """All that the updates to come depend on."""
    folder = _folder(out, update)
    if folder.exists():  # of an earlier try, which came to the same
        return
    with new_folder(folder) as workshop:
        stored = io.BytesIO()
        torch.save({"network": dict(network.state_dict()), "optimizer": optimizer.state_dict()}, stored)
        (workshop / _WEIGHTS).write_bytes(stored.getvalue())
        (workshop / _EPISODES).write_text(json.dumps(episodes), encoding="utf-8")


def last_update(out: Path) -> int | None:
    """After how many updates the newest state was written; None where there is none."""
    return max((_update_of(path) for path in _folders(out)), default=None)


def keep_only(out: Path, updates: Collection[int]) -> None:
    """Remove the states of all other updates."""
    for path in _folders(out):
        if _update_of(path) not in updates:
            shutil.rmtree(path)


def read_weights(out: Path, update: int, network: ActorCritic, optimizer: torch.optim.Optimizer | None = None) -> None:
    """Put the weights of a state into the network, and into the optimiser what it remembers.

    Raises:
        BadRecord: the file is gone, damaged, or holds something else than numbers, which is not read.
    """
    path = _folder(out, update) / _WEIGHTS
    try:
        stored = torch.load(path, map_location="cpu", weights_only=True)
        network.load_state_dict(stored["network"])
        if optimizer is not None:
            optimizer.load_state_dict(stored["optimizer"])
    except (OSError, RuntimeError, pickle.UnpicklingError, KeyError, TypeError, ValueError, EOFError) as error:
        told = " ".join(str(error).split())[:200]
        raise BadRecord(f"{path} cannot be read ({told}). Remove its folder and go on, or train again.") from error


def read_episodes(out: Path, update: int) -> dict[str, Any]:
    """What `Episodes.restore` takes.

    Raises:
        BadRecord: the file is gone or damaged.
    """
    path = _folder(out, update) / _EPISODES
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
        state = {"begun": int(read["begun"]), "running": [_row(each) for each in read["running"]]}
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise BadRecord(f"{path} cannot be read ({error!r}). Remove its folder and go on, or train again.") from error
    return state


def _row(row: Any) -> dict[str, Any]:
    return {"number": int(row["number"]), "actions": [str(action) for action in row["actions"]]}


def _folder(out: Path, update: int) -> Path:
    return out / CHECKPOINTS / f"{_PREFIX}{update}"


def _folders(out: Path) -> list[Path]:
    return [path for path in (out / CHECKPOINTS).glob(f"{_PREFIX}*") if path.is_dir()]


def _update_of(folder: Path) -> int:
    return int(folder.name.removeprefix(_PREFIX))
