"""Panels of games: which are played, in which order."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from llm_gym.envs.alfworld.game import SPLITS
from llm_gym.envs.alfworld.scenes import SCENE_SPLITS
from llm_gym.envs.alfworld.sources import NO_SPLIT
from llm_gym.envs.alfworld.store import Entry, GameStore
from llm_gym.envs.alfworld.tasks import TASK_TYPES
from llm_gym.envs.base import TaskPanel
from llm_gym.errors import InvalidSetting, MissingData, UnknownName

TaskTypes = str | int | Iterable[str | int] | None
"""Names of kinds of task, long or short, or the numbers that the original has for them; None: all."""

DEFAULT_SPLIT = "valid_unseen"
_NUMBERED = ("pick", "look", "clean", "heat", "cool", "two")
"""Short names in the order in which the original numbers them, from 1."""


def default_split(store: GameStore) -> str:
    """The split that is played when none is named: the games of unseen rooms, or those that belong to no split."""
    return NO_SPLIT if list(store.splits) == [NO_SPLIT] else DEFAULT_SPLIT


def make_panel(
    store: GameStore, split: str, task_types: TaskTypes = None, *, shuffled: bool = True, annotated: bool = False
) -> TaskPanel:
    """The games of a split.

    Args:
        store: of games.
        split: name of one of its splits, or of `SCENE_SPLITS`.
        task_types: the kinds of task to keep.
        shuffled: in the order of the hashes of their ids, so that the first of them are a fair sample of the split on
            every machine, whatever other games there are; otherwise sorted by id, which begins with one kind of task.
        annotated: each description that a person wrote is a task, `<game>#<number>`: the first of every game, then the
            second of every game, ….

    Raises:
        UnknownName: no such split, or no such kind of task. MissingData: the store holds no such game, or too few
            rooms to divide them. InvalidSetting: its games name no rooms to divide.
    """
    kinds = _kinds(task_types)
    entries = [entry for entry in _entries(store, split) if kinds is None or entry.task_type in kinds]
    name = split if kinds is None else f"{split}-{'-'.join(TASK_TYPES[kind] for kind in kinds)}"
    if not entries:
        raise MissingData(f"0 games of {', '.join(kinds or ())} are in split {split!r} of {store.name}.")
    if shuffled:
        entries.sort(key=lambda entry: hashlib.sha256(entry.task_id.encode()).digest())
    if not annotated:
        return TaskPanel(name, (entry.task_id for entry in entries))
    most = max(entry.annotations for entry in entries)
    if not most:
        raise MissingData(
            f"The games of split {split!r} of {store.name} have no goals that people wrote. Build a store with them: "
            "llm-gym build alfworld --from GAMES --annotations TRAJ_DATA --to DIR"
        )
    tasks = (f"{entry.task_id}#{number}" for number in range(most) for entry in entries if number < entry.annotations)
    return TaskPanel(f"{name}-annotated", tasks)


def _entries(store: GameStore, split: str) -> Sequence[Entry]:
    entries = store.entries(split)
    if entries:
        return entries
    known = dict.fromkeys((*store.splits, *SPLITS, *SCENE_SPLITS))
    if split not in known:
        raise UnknownName("split", split, list(known))
    raise MissingData(
        f"0 games of split {split!r} are in {store.name} ({store.folder}), which has {_told(store)}. "
        "Get the official games with `llm-gym download alfworld`, and choose games with games=… in Python or "
        "--set games=… on the command line."
    )


def _told(store: GameStore) -> str:
    """The splits of a store, with their sizes."""
    return ", ".join(f"{count:,} in {split}" for split, count in store.splits.items())


def _kinds(wanted: TaskTypes) -> list[str] | None:
    """Kinds of task in the order in which papers print them."""
    if wanted is None:
        return None
    given = [wanted] if isinstance(wanted, str | int) else list(wanted)
    if not given:
        raise InvalidSetting(f"task_types names no kind of task. Leave it out, or choose from {', '.join(_NUMBERED)}.")
    chosen = {_kind(name) for name in given}
    return [kind for kind in TASK_TYPES if kind in chosen]


def _kind(name: str | int) -> str:
    for kind, short in TASK_TYPES.items():
        if name in (kind, short) or (type(name) is int and name == _NUMBERED.index(short) + 1):
            return kind
    raise UnknownName("kind of task", name, [*TASK_TYPES.values(), *TASK_TYPES])
