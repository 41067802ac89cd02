"""The product store: one file of records, opened memory-mapped, with everything that is found once at build.

meta.json            format, name, digest, counts, where it came from
products.bin         one JSON record a product, in catalogue order
offsets.npy          (N + 1,) where each record begins
titles.bin           the titles alone, for pages of results
title_offsets.npy    (N + 1,) where each title begins
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
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from llm_gym.envs.webshop.goals import StoredKind
from llm_gym.envs.webshop.product import Product, price_tag
from llm_gym.errors import DataError, DataMismatch, MissingData

FORMAT = 2
_META_KEYS = ("name", "digest", "splits")
GROUP_FIELDS = ("attributes", "category", "query")

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]


class ShownResult(NamedTuple):
    """What a page of results shows of a product."""

    asin: str
    title: str
    price: str


@dataclass(frozen=True, slots=True)
class Groups:
    """Products of each value of a field, memory-mapped: `members[starts[i]:starts[i + 1]]` belong to `names[i]`."""

    names: Sequence[str]
    starts: npt.NDArray[np.int64]
    members: Ints

    def find(self, name: str) -> Ints:
        """Catalogue positions of the products with this value, in catalogue order; (K,), empty when there is none."""
        position = bisect_left(self.names, name)
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
        self._records = self._mapped("products.bin")
        self._offsets = self._array("offsets")
        self._titles = self._mapped("titles.bin")
        self._title_offsets = self._array("title_offsets")
        self.asins: npt.NDArray[np.bytes_] = self._array("asins")
        self._by_asin: Ints = self._array("by_asin")
        self.rows: Ints = self._array("rows")
        self.pricing: Floats = self._array("pricing")
        columns = (self.asins, self._by_asin, self.rows, self.pricing)
        lengths = {len(self._offsets) - 1, len(self._title_offsets) - 1, *map(len, columns)}
        ends = self._offsets[-1] == len(self._records) and self._title_offsets[-1] == len(self._titles)
        if len(lengths) > 1 or not ends:
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
            missing = [key for key in _META_KEYS if key not in meta]
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise DataError(f"{path} is damaged: {error}. Build the store again.") from error
        if found != FORMAT:
            raise DataMismatch(f"{folder} has store format {found}, this version reads {FORMAT}. Build it again.")
        if missing:
            raise DataError(f"{path} is damaged: {missing[0]!r} is missing. Build the store again.")
        return cls(folder, meta)

    def __len__(self) -> int:
        return len(self.asins)

    def __iter__(self) -> Iterator[Product]:
        return (self.product(position) for position in range(len(self)))

    def asin(self, position: int) -> str:
        """The id of the product at a catalogue position."""
        return str(self.asins[position].decode())

    def position(self, asin: str) -> int | None:
        """Where a product stands in the catalogue; None when it is not there."""
        wanted = np.bytes_(asin.encode(errors="surrogatepass"))
        rank = int(np.searchsorted(self.asins, wanted, sorter=self._by_asin))
        if rank >= len(self) or self.asins[self._by_asin[rank]] != wanted:
            return None
        return int(self._by_asin[rank])

    def card(self, position: int) -> ShownResult:
        """What a page of results shows of the product at a catalogue position; far cheaper than the whole product."""
        start, end = self._title_offsets[position : position + 2].tolist()
        pricing = [price for price in self.pricing[position].tolist() if price == price]  # NaN differs from itself
        return ShownResult(self.asin(position), self._titles[start:end].decode(), price_tag(pricing))

    def goals(self, kind: StoredKind) -> Ints:
        """(G, 2) catalogue position and ordinal of each goal, in catalogue order."""
        goals: Ints = self._array(f"goals_{kind}")
        return goals

    def goal_order(self, kind: StoredKind) -> Ints:
        """(G,) the official shuffle of the goals."""
        order: Ints = self._array(f"order_{kind}")
        return order

    def synthetic_weights(self) -> Floats:
        """(G,) how often the original draws each synthetic goal, relative; unshuffled."""
        weights: Floats = self._array("weights_synthetic")
        return weights

    def groups(self, field: str) -> Groups:
        """The products of each attribute, category or query."""
        names = _parsed(self._path(f"groups_{field}.json").read_bytes(), f"{self.folder}: groups_{field}.json")
        return Groups(names, self._array(f"groups_{field}_starts"), self._array(f"groups_{field}_members"))

    def product(self, position: int) -> Product:
        """The product at a catalogue position, read from the file."""
        start, end = self._offsets[position], self._offsets[position + 1]
        return Product.from_json(_parsed(self._records[start:end], f"{self.folder}: product {position + 1:,}"))

    def _mapped(self, name: str) -> mmap.mmap | bytes:
        path = self._path(name)
        if path.stat().st_size == 0:
            return b""  # an empty file cannot be mapped
        with path.open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)

    def _array(self, name: str) -> Any:
        path = self._path(f"{name}.npy")
        try:
            # An array without elements cannot be mapped; its file is a header only.
            empty = path.stat().st_size <= 128
            # A plain array: numpy's memmap class costs a microsecond at every access.
            loaded: npt.NDArray[Any] = np.load(path, mmap_mode=None if empty else "r", allow_pickle=False)
            return loaded.view(np.ndarray)
        except (ValueError, EOFError) as error:
            raise DataError(f"{path} is damaged: {error}. Build the store again.") from error

    def _path(self, name: str) -> Path:
        path = self.folder / name
        if not path.is_file():
            raise MissingData(f"{path} is missing. Build the store again.")
        return path


def _parsed(content: bytes, what: str) -> Any:
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise DataError(f"{what} is damaged: {error}. Build the store again.") from error
