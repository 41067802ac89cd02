"""Where an index under construction keeps its arrays: in memory or in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Arrays = dict[str, npt.NDArray[Any]]


class Storage(Protocol):
    """Hands out named arrays and takes them back."""

    def allocate(self, name: str, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """A new writable array, (length,), its content undefined."""
        ...

    def discard(self, name: str) -> None:
        """Give up an array that is no longer needed."""
        ...


class MemoryStorage:
    """Arrays in memory, by name in `arrays`."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}

    def allocate(self, name: str, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        array: npt.NDArray[Any] = np.empty(length, dtype)
        self.arrays[name] = array
        return array

    def discard(self, name: str) -> None:
        del self.arrays[name]


class FolderStorage:
    """Arrays mapped from `<name>.npy` files, so that the system may move them out of memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._maps: dict[str, np.memmap[Any, Any]] = {}

    def allocate(self, name: str, length: int, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        path = self._folder / f"{name}.npy"
        mapped = np.lib.format.open_memmap(path, mode="w+", dtype=np.dtype(dtype), shape=(length,))
        self._maps[name] = mapped
        return np.asarray(mapped)

    def discard(self, name: str) -> None:
        del self._maps[name]
        (self._folder / f"{name}.npy").unlink()

    def close(self) -> None:
        """Write everything out."""
        for mapped in self._maps.values():
            mapped.flush()
        self._maps.clear()
