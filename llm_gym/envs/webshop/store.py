"""The product store: one file of records, opened memory-mapped, with everything that is found once at build.

meta.json            format, name, digest, counts, where it came from
products.bin         one JSON record a product, in catalogue order
offsets.npy          (N + 1,) where each record begins
asins.npy            (N,) the ids, in catalogue order
by_asin.npy          (N,) catalogue positions in the order of the ids
rows.npy             (N,) number of the row in the official file
pricing.npy          (N, 2) prices in dollars, NaN where there is none
goals_<kind>.npy     (G, 2) product and ordinal of each goal, unshuffled
order_<kind>.npy     (G,) the shuffled order
weights_synthetic.npy (G,) weights of synthetic goals, unshuffled
groups_<field>.*     products of each attribute, category and query
index/               the search index
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from llm_gym.envs.webshop.goals import GoalKind
from llm_gym.envs.webshop.product import Product
from llm_gym.errors import DataError, DataMismatch, MissingData

FORMAT = 1
GROUP_FIELDS = ("attributes", "category", "query")
_CACHED_PRODUCTS = 2048

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Groups:
    """Products of each value of a field, memory-mapped: `members[starts[i]:starts[i + 1]]` belong to `names[i]`."""

    names: Sequence[str]
    starts: npt.NDArray[np.int64]
    members: Ints

    def find(self, name: str) -> Ints:
        """Catalogue positions of the products with this value, in catalogue order; (K,), empty when there is none."""
        position = int(np.searchsorted(np.asarray(self.names), name)) if len(self.names) else 0
        if position >= len(self.names) or self.names[position] != name:
            return np.empty(0, np.int32)
        return self.members[self.starts[position] : self.starts[position + 1]]


class ProductStore:
    """A folder of products. Reading is safe from many threads and processes; nothing is ever written."""

    def __init__(self, folder: Path, meta: dict[str, Any]) -> None:
        self.folder = folder
        self.meta = meta
        self.name: str = meta["name"]
        self.digest: str = meta["digest"]
        with self._path("products.bin").open("rb") as file:
            self._records = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._offsets = self._array("offsets")
        self._asins = self._array("asins")
        self._by_asin: Ints = self._array("by_asin")
        self.rows: Ints = self._array("rows")
        self.pricing: Floats = self._array("pricing")
        self.product = lru_cache(maxsize=_CACHED_PRODUCTS)(self._decode)
        if len(self._offsets) != len(self._asins) + 1 or self._offsets[-1] != len(self._records):
            raise DataError(f"{folder}: the store is damaged (its parts differ in length). Build it again.")

    @classmethod
    def open(cls, folder: Path) -> ProductStore:
        """Open a built store; takes milliseconds whatever its size.

        Raises:
            MissingData: there is no store. DataMismatch: it has another format. DataError: it is damaged.
        """
        path = folder / "meta.json"
        if not path.is_file():
            raise MissingData(f"{folder} holds no product store (no meta.json).")
        try:
            meta = orjson.loads(path.read_bytes())
            found = meta["format"]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged: {error}. Build the store again.") from error
        if found != FORMAT:
            raise DataMismatch(f"{folder} has store format {found}, this version reads {FORMAT}. Build it again.")
        return cls(folder, meta)

    def __len__(self) -> int:
        return len(self._asins)

    def __iter__(self) -> Iterator[Product]:
        return (self._decode(position) for position in range(len(self)))

    def asin(self, position: int) -> str:
        """The id of the product at a catalogue position."""
        return str(self._asins[position].decode())

    def position(self, asin: str) -> int | None:
        """Where a product stands in the catalogue; None when it is not there."""
        wanted = np.bytes_(asin.encode())
        rank = int(np.searchsorted(self._asins, wanted, sorter=self._by_asin))
        if rank >= len(self) or self._asins[self._by_asin[rank]] != wanted:
            return None
        return int(self._by_asin[rank])

    def goals(self, kind: GoalKind) -> Ints:
        """(G, 2) catalogue position and ordinal of each goal, in catalogue order."""
        goals: Ints = self._array(f"goals_{kind}")
        return goals

    def goal_order(self, kind: GoalKind) -> Ints:
        """(G,) the official shuffle of the goals."""
        order: Ints = self._array(f"order_{kind}")
        return order

    def synthetic_weights(self) -> Floats:
        """(G,) how often the original draws each synthetic goal, relative; unshuffled."""
        weights: Floats = self._array("weights_synthetic")
        return weights

    def groups(self, field: str) -> Groups:
        """The products of each attribute, category or query."""
        names = orjson.loads(self._path(f"groups_{field}.json").read_bytes())
        return Groups(names, self._array(f"groups_{field}_starts"), self._array(f"groups_{field}_members"))

    def _decode(self, position: int) -> Product:
        start, end = self._offsets[position], self._offsets[position + 1]
        return Product.from_json(orjson.loads(self._records[start:end]))

    def _array(self, name: str) -> Any:
        path = self._path(f"{name}.npy")
        try:
            # An array without elements cannot be mapped; its file is a header only.
            empty = path.stat().st_size <= 128
            return np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise DataError(f"{path} is damaged: {error}. Build the store again.") from error

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise MissingData(f"{path} is missing. Build the store again.")
        return path
