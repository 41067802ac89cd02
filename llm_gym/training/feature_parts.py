"""Features on their way: what a killed run has encoded already, in parts, beside the folder that they will make."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llm_gym.data import atomic_path
from llm_gym.errors import BadRecord
from llm_gym.training.plan import claim


@dataclass(frozen=True)
class Part:
    """Some products of a catalogue."""

    ids: tuple[str, ...]
    """Of those whose picture could be read."""
    features: npt.NDArray[np.float32]
    """(N, D), in the order of the ids."""
    broken: tuple[str, ...]
    """Why other pictures could not be, one sentence each."""


class Parts:
    """A folder of parts.

    Raises:
        PlanMismatch: the folder was begun for other products, pictures or another encoder.
    """

    def __init__(self, folder: Path, plan: Mapping[str, Any]) -> None:
        self._folder = folder
        claim(folder, plan)

    def has(self, number: int) -> bool:
        """Whether a part is done. One with broken pictures is not: what could not be fetched may be there by now."""
        try:
            with np.load(self._path(number), allow_pickle=False) as stored:
                return not len(stored["broken"])
        except (ValueError, KeyError, OSError, zipfile.BadZipFile):
            return False

    def write(self, number: int, part: Part) -> None:
        with atomic_path(self._path(number)) as temporary, temporary.open("wb") as file:
            np.savez(file, ids=_texts(part.ids), features=part.features, broken=_texts(part.broken))

    def read(self) -> Iterator[Part]:
        """All parts, in the order of their numbers.

        Raises:
            BadRecord: a part is damaged; without the file it is made again.
        """
        for path in sorted(self._folder.glob("part-*.npz")):
            try:
                with np.load(path, allow_pickle=False) as stored:
                    yield Part(tuple(stored["ids"].tolist()), stored["features"], tuple(stored["broken"].tolist()))
            except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
                raise BadRecord(f"{path} is damaged ({error}). Remove it and call again.") from error

    def remove(self) -> None:
        """They have served."""
        shutil.rmtree(self._folder)

    def _path(self, number: int) -> Path:
        return self._folder / f"part-{number:06d}.npz"


def _texts(texts: Sequence[str]) -> npt.NDArray[np.str_]:
    return np.array(texts, dtype=np.str_)
