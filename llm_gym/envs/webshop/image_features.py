"""What a picture of each product shows, as 512 numbers: a folder that is read memory-mapped.

meta.json      format, digest, source (how the features were made), catalogue (name and digest of the products)
ids.npy        (N,) ids of products, ascending
features.npy   (N, 512) float16, in the order of the ids
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData

FEATURES = 512
"""So many has the original WebShop."""
EMBEDDED_IMAGES = Path(__file__).parent / "embedded_images"
"""Of the pictures that are drawn of the embedded catalogue's products."""

_FORMAT = 1
_KEYS = ("digest", "source", "catalogue")
_CACHED = 2048

Vector = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.floating[Any]]


class FeatureStore:
    """Image features by product id. Reading is safe from many threads and processes; nothing is ever written.

    Attributes:
        meta: of the folder.
        digest: of ids and features; two stores with one digest are the same.
    """

    def __init__(self, folder: Path, meta: Mapping[str, Any], ids: npt.NDArray[Any], features: Matrix) -> None:
        self.folder, self.meta = folder, meta
        self.digest: str = meta["digest"]
        self._ids, self._features = ids, features
        self.find = lru_cache(maxsize=_CACHED)(self._find)
        """A product's features, (512,) read-only; None where the store has none.

        Raises:
            BadRecord: they hold something that is no number.
        """

    @classmethod
    def open(cls, folder: str | Path) -> FeatureStore:
        """Open a folder that `write_features` made; takes milliseconds whatever its size. A process opens it once.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated, malformed or of another shape, or an id is there twice.
            DataMismatch: the folder has the format of another version of this package.
        """
        return _opened(Path(folder).expanduser().resolve())

    @property
    def ids(self) -> list[str]:
        """Ids of the products with features, ascending."""
        return [identity.decode() for identity in self._ids.tolist()]

    def __len__(self) -> int:
        return len(self._ids)

    def check_catalogue(self, digest: str, ids: npt.NDArray[np.bytes_]) -> None:
        """Refuse a catalogue whose products are others.

        Args:
            digest: of the catalogue.
            ids: (P,) of its products.

        Raises:
            DataMismatch: not one product has features.
        """
        own = self.meta["catalogue"]
        if own["digest"] == digest or np.isin(ids, self._ids).any():
            return
        raise DataMismatch(
            f"{self.folder} has features of {len(self):,} products of the catalogue {own['name']!r}, of none of the "
            f"{len(ids):,} products of this one. Give the features that were made of its own pictures."
        )

    def _find(self, identity: str) -> Vector | None:
        wanted = np.bytes_(identity.encode(errors="surrogatepass"))
        rank = int(np.searchsorted(self._ids, wanted))
        if rank >= len(self) or self._ids[rank] != wanted:
            return None
        features: Vector = self._features[rank].astype(np.float32)
        if not np.isfinite(features).all():
            raise BadRecord(f"{self.folder}: the features of {identity} are no numbers. Make them again.")
        features.flags.writeable = False
        return features


def write_features(folder: Path, ids: Sequence[str], features: Matrix, meta: Mapping[str, Any]) -> None:
    """Make a folder of features; it appears when it is whole.

    Args:
        folder: new or empty.
        ids: (N,) ids of products, in any order.
        features: (N, 512).
        meta: "source", how they were made; "catalogue", {"name", "digest"} of the products.

    Raises:
        InvalidSetting: there is something in the folder already, or shapes, ids or values cannot be stored.
    """
    if features.shape != (len(ids), FEATURES) or not len(ids):
        raise InvalidSetting(f"{len(ids)} ids need features of shape ({len(ids)}, {FEATURES}), got {features.shape}.")
    names = np.array([identity.encode() for identity in ids])
    order = np.argsort(names)
    names, stored = names[order], features[order].astype(np.float16)
    twice = names[1:][names[1:] == names[:-1]]
    if len(twice):
        raise InvalidSetting(f"{twice[0].decode()!r} is there twice; a product has one vector of features.")
    broken = np.flatnonzero(~np.isfinite(stored).all(axis=1))
    if len(broken):
        raise InvalidSetting(f"The features of {names[broken[0]].decode()!r} are no numbers, or beyond ±65,504.")
    sha = hashlib.sha256(names.data)
    sha.update(stored.data)
    written = {"format": _FORMAT, **meta, "digest": sha.hexdigest()[:16], "products": len(ids)}
    with new_folder(folder) as workshop:
        np.save(workshop / "ids.npy", names, allow_pickle=False)
        np.save(workshop / "features.npy", stored, allow_pickle=False)
        (workshop / "meta.json").write_bytes(orjson.dumps(written, option=orjson.OPT_INDENT_2) + b"\n")


@lru_cache(maxsize=8)
def _opened(folder: Path) -> FeatureStore:
    meta = _meta(folder)
    ids, features = _array(folder / "ids.npy"), _array(folder / "features.npy")
    if ids.ndim != 1 or ids.dtype.kind != "S":
        raise BadRecord(f"{folder / 'ids.npy'} should hold ids, holds {ids.dtype} of shape {ids.shape}.")
    if features.shape != (len(ids), FEATURES) or features.dtype != np.float16:
        raise BadRecord(
            f"{folder / 'features.npy'} should hold float16 of shape ({len(ids)}, {FEATURES}), holds {features.dtype} "
            f"of shape {features.shape}. Make the features again."
        )
    disordered = np.flatnonzero(ids[1:] <= ids[:-1])
    if len(disordered):
        first = ids[disordered[0] + 1].decode(errors="replace")
        raise BadRecord(f"{folder / 'ids.npy'}: {first!r} is there twice or out of order. Make the features again.")
    return FeatureStore(folder, meta, ids, features)


def _meta(folder: Path) -> dict[str, Any]:
    path = folder / "meta.json"
    if not path.is_file():
        raise MissingData(f"{folder} holds no image features (no meta.json). Make them with train/webshop_features.py.")
    try:
        meta = orjson.loads(path.read_bytes())
    except orjson.JSONDecodeError as error:
        raise BadRecord(f"{path} is no JSON: {error}.") from error
    if not isinstance(meta, dict) or meta.get("format") != _FORMAT:
        raise DataMismatch(f"{folder} is no store of image features that this version reads (format {_FORMAT}).")
    missing = [key for key in _KEYS if key not in meta]
    if missing or not isinstance(meta["catalogue"], dict) or not {"name", "digest"} <= meta["catalogue"].keys():
        raise BadRecord(f"{path} lacks {missing[0] if missing else 'name and digest of the catalogue'!r}.")
    return meta


def _array(path: Path) -> npt.NDArray[Any]:
    if not path.is_file():
        raise MissingData(f"{path} is missing. Make the features again.")
    try:
        loaded: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise BadRecord(f"{path} is truncated or damaged: {error}. Make the features again.") from error
    return loaded.view(np.ndarray)
