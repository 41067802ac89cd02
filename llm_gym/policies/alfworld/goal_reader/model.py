"""The network of the goal reader: NumPy only, read from a folder of plain arrays.

Axes: V tokens, D width, K kinds, T things, G targets (places and lamps).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

import numpy as np

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.policies.alfworld.goal_reader.tokens import KINDS, LOOK
from llm_gym.policies.stored_arrays import Floats, read_arrays, read_config

KIND: Final = "alfworld-goals"
CONFIG, WEIGHTS = "config.json", "reader.npz"
SHIPPED: Final = Path(__file__).parents[2] / "weights" / "alfworld_goals"
IMPOSSIBLE: Final = -1e4
"""Added to the score of what cannot be meant: its probability is 0."""
_FORMAT: Final = 1
_LISTS: Final = ("tokens", "things", "targets", "lamps")


@dataclass(frozen=True)
class Names:
    """What the rows and columns of the arrays stand for; each name once."""

    tokens: tuple[str, ...]
    things: tuple[str, ...]
    targets: tuple[str, ...]
    """Places and lamps."""
    lamps: tuple[str, ...]
    """Those of the targets that are lamps."""

    @cached_property
    def rows(self) -> dict[str, int]:
        """Token → its row."""
        return {token: row for row, token in enumerate(self.tokens)}

    def known(self, read: Collection[str]) -> list[int]:
        """The rows of the tokens that are known, ascending."""
        return sorted(self.rows[token] for token in read if token in self.rows)

    def possible(self, places: Collection[str]) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which targets a task of each kind may have in a room with these kinds of places, (K, G).

        Any lamp may be in a room: lamps are things, which are not seen from its door.
        """
        lamp = np.array([target in self.lamps for target in self.targets])
        place = ~lamp & np.array([target in places for target in self.targets])
        return np.array([lamp if kind == LOOK else place for kind in range(len(KINDS))])

    def shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        """Name of each array → its shape."""
        kinds, things, targets = len(KINDS), len(self.things), len(self.targets)
        return {
            "vectors": (len(self.tokens), width),
            "bias": (width,),
            "kind_weights": (width, kinds),
            "thing_weights": (width, things),
            "target_weights": (width, targets),
            "kind_thing": (kinds, things),
            "kind_target": (kinds, targets),
            "thing_target": (things, targets),
        }


@dataclass(frozen=True)
class GoalModel:
    """Trained arrays, and what is known of their training.

    The tokens' vectors are added up; from their sum each part of an errand gets a score of its own, and each pair of
    parts one that is the same for every sentence: what goes with what. The probability of an errand is the softmax of
    the sum of the six over all that are possible in the room.
    """

    names: Names
    arrays: Mapping[str, Floats]
    """By the names of `Names.shapes`."""
    training: Mapping[str, Any] = field(default_factory=dict)
    """Of what and how it was trained, as JSON; for people."""

    def probabilities(self, read: Collection[str], places: Collection[str]) -> Floats:
        """Of each errand, (K, T, G); all 0 where nothing is possible.

        Args:
            read: tokens of the goal.
            places: the kinds of places of the room.
        """
        possible = self.names.possible(places)
        if not possible.any():
            return np.zeros((len(KINDS), len(self.names.things), len(self.names.targets)), np.float32)
        scores = self._scores(read) + np.where(possible, 0.0, IMPOSSIBLE)[:, None, :]
        raised = np.exp(scores - scores.max())
        probabilities: Floats = raised / raised.sum()
        return probabilities

    def _scores(self, read: Collection[str]) -> Floats:
        """Of each errand, (K, T, G), wherever the room may be."""
        array = self.arrays
        hidden = np.maximum(array["vectors"][self.names.known(read)].sum(axis=0) + array["bias"], 0)
        kind, thing, target = (hidden @ array[f"{part}_weights"] for part in ("kind", "thing", "target"))
        scores: Floats = kind[:, None, None] + thing[:, None] + target
        return scores + array["kind_thing"][:, :, None] + array["kind_target"][:, None] + array["thing_target"]

    @cached_property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        total = hashlib.sha256(json.dumps([getattr(self.names, name) for name in _LISTS]).encode())
        for name, array in sorted(self.arrays.items()):
            total.update(name.encode() + np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Make a folder; it appears when it is whole.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        config = {"format": _FORMAT, "kind": KIND, "width": len(self.arrays["bias"]), "training": self.training}
        config |= {"kinds": KINDS} | {name: getattr(self.names, name) for name in _LISTS}
        with new_folder(folder) as workshop:
            text = json.dumps(config, ensure_ascii=False, sort_keys=True)
            (workshop / CONFIG).write_text(text + "\n", encoding="utf-8")
            np.savez_compressed(workshop / WEIGHTS, allow_pickle=False, **self.arrays)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What `write` wrote. Nothing in the files is executed or unpickled.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or one of another version.
        """
        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise MissingData(f"{folder} is no goal reader: it has no {name}. Give a folder that training made.")
        config = read_config(folder / CONFIG)
        if config.get("kind") != KIND:
            raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {KIND!r}.")
        if config.get("format") != _FORMAT or config.get("kinds") != list(KINDS):
            raise DataMismatch(f"{folder} was trained by another version, for other tasks. Train it again.")
        width, training = config.get("width"), config.get("training")
        if type(width) is not int or width < 1 or not isinstance(training, dict):
            raise BadRecord(f'{folder / CONFIG}: "width" should be a positive number, and "training" an object.')
        names = Names(*(_names(config.get(name), name, folder / CONFIG) for name in _LISTS))
        return cls(names, read_arrays(folder / WEIGHTS, names.shapes(width)), training)


def _names(given: object, name: str, path: Path) -> tuple[str, ...]:
    words = tuple(word for word in given if isinstance(word, str)) if isinstance(given, list) else ()
    if not isinstance(given, list) or len(set(words)) != len(given):
        raise BadRecord(f'{path}: "{name}" should be a list of words, each once.')
    return words
