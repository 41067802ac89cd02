"""A division of our own: the rooms of `train`, into those to learn in and those held out.

`valid_unseen` of the releases lies in four rooms only. Here a fair share of each kind of room is held out: 20 of the
108 rooms of the releases.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

from llm_gym.errors import InvalidSetting, MissingData

DIVIDED = "train"
"""The split that is divided."""
SCENE_SPLITS = ("train_scenes", "heldout_scenes")
"""The rooms to learn in, and those held out. Together they are `train`; no room is in both."""
_SHARE = 5 / 27
"""Of the rooms of a kind: of the 27 kitchens of the releases, 5 are held out."""


def stored_split(split: str) -> str:
    """The split in which the games of this one are stored."""
    return DIVIDED if split in SCENE_SPLITS else split


def scene_of(task_id: str) -> str:
    """The room of a game.

    >>> scene_of("pick_and_place_simple-Mug-None-Desk-308/trial_T20190908_033721_967359")
    '308'

    Raises:
        InvalidSetting: the id names no room.
    """
    folder = task_id.partition("/")[0]
    scene = folder.rpartition("-")[2]
    if scene == folder or not scene[-1:].isdecimal():
        raise InvalidSetting(
            f"The game {task_id!r} names no room (as in `…-308/…`), so that {' and '.join(SCENE_SPLITS)} cannot be "
            f"told apart. Use split {DIVIDED!r}."
        )
    return scene


def heldout_scenes(scenes: Iterable[str]) -> frozenset[str]:
    """Those of the rooms that are held out: of each kind a fair share, the first in the order of their hashes.

    Raises:
        MissingData: of some kind there is one room only.
    """
    kinds: dict[str, list[str]] = {}
    for scene in sorted(set(scenes), key=lambda scene: hashlib.sha256(scene.encode()).digest()):
        kinds.setdefault(_kind(scene), []).append(scene)
    for rooms in kinds.values():
        if len(rooms) == 1:
            raise MissingData(
                f"{rooms[0]} is the only room of its kind in split {DIVIDED!r}: to hold rooms out, two of each kind "
                f"are needed. Use split {DIVIDED!r}."
            )
    return frozenset(scene for rooms in kinds.values() for scene in rooms[: max(1, round(_SHARE * len(rooms)))])


def in_scenes(split: str, task_ids: Sequence[str]) -> frozenset[str]:
    """The games of `train` that belong to one of `SCENE_SPLITS`.

    Raises:
        InvalidSetting: a game names no room. MissingData: of some kind there is one room only.
    """
    scenes = {task_id: scene_of(task_id) for task_id in task_ids}
    heldout = heldout_scenes(scenes.values())
    return frozenset(task for task, scene in scenes.items() if (scene in heldout) == (split == SCENE_SPLITS[1]))


def _kind(scene: str) -> str:
    """Kitchens are numbered below 100 in the releases, living rooms from 200, …; invented rooms have a word."""
    return str(int(scene) // 100) if scene.isdecimal() else scene.rstrip("0123456789")
