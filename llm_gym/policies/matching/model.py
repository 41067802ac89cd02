"""The trained matcher: which value of an option is wanted, and which product is."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.policies.matching.forest import Floats, Forest
from llm_gym.policies.matching.memory import Sighting
from llm_gym.policies.matching.option_features import OPTION_FEATURES, option_features
from llm_gym.policies.matching.product_features import (
    PRODUCT_FEATURES,
    Evidence,
    OptionFit,
    Scale,
    product_features,
)
from llm_gym.policies.matching.wanted import Wanted

KIND = "webshop-match"
CONFIG, WEIGHTS = "config.json", "forests.npz"
SHIPPED = Path(__file__).parent.parent / "weights" / "webshop_match"
_FORMAT = 1
_LARGEST = 50_000_000
"""Bytes of arrays, unpacked."""
_FORESTS: Mapping[str, tuple[str, ...]] = {"options": OPTION_FEATURES, "products": PRODUCT_FEATURES}


@dataclass(frozen=True)
class MatchModel:
    """Two forests and what is known of their training."""

    options: Forest
    products: Forest
    telling: Mapping[str, float]
    """Word → how often it says something of the product, in [0, 1], for words that many instructions hold."""
    training: Mapping[str, Any]
    """Of what and how it was trained, as JSON; for people."""

    def values(self, wanted: Wanted, name: str, values: Sequence[str]) -> Floats:
        """How likely each value of an option is wanted, in [0, 1]; (values,)."""
        return self.options.confidence(option_features(wanted, name, values))

    def fits(self, wanted: Wanted, options: Mapping[str, Sequence[str]]) -> tuple[OptionFit, ...]:
        """The best value of each option."""
        found = []
        for name, values in options.items():
            if not values:
                continue
            confidences = self.values(wanted, name, values)
            best = int(confidences.argmax())
            found.append(OptionFit(name, values[best], float(confidences[best]), tuple(values)))
        return tuple(found)

    def products_of(self, scale: Scale, seen: Sequence[Evidence]) -> Floats:
        """How likely each product is the one to buy, in [0, 1]; (products,)."""
        rows = [product_features(scale, evidence) for evidence in seen]
        return self.products.confidence(np.array(rows, np.float64).reshape(len(rows), len(PRODUCT_FEATURES)))

    @property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        total = hashlib.sha256(json.dumps(self.telling, sort_keys=True).encode())
        for name in _FORESTS:
            for key, array in getattr(self, name).arrays().items():
                total.update(f"{name}.{key}".encode() + np.ascontiguousarray(array).tobytes())
        return total.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Make a folder; it appears when it is whole.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        arrays = {f"{name}.{key}": array for name in _FORESTS for key, array in getattr(self, name).arrays().items()}
        config = {"format": _FORMAT, "kind": KIND, "training": self.training, "telling": self.telling}
        config |= {"features": {name: list(features) for name, features in _FORESTS.items()}}
        with new_folder(folder) as workshop:
            (workshop / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            np.savez_compressed(workshop / WEIGHTS, allow_pickle=False, **arrays)

    @classmethod
    def read(cls, folder: Path) -> MatchModel:
        """What `write` wrote. Nothing in the files is executed or unpickled.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or one for other features or of a later version.
        """
        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise MissingData(
                    f"{folder} is no trained matcher: it has no {name}. Give a folder that training made."
                )
        config = _config(folder / CONFIG)
        if config.get("kind") != KIND:
            raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {KIND!r}.")
        expected = {name: list(features) for name, features in _FORESTS.items()}
        if config.get("format") != _FORMAT or config.get("features") != expected:
            raise DataMismatch(f"{folder} was trained by another version, for other features. Train it again.")
        arrays = _arrays(folder / WEIGHTS)
        forests = {}
        for name, features in _FORESTS.items():
            own = {key.partition(".")[2]: array for key, array in arrays.items() if key.startswith(f"{name}.")}
            try:
                forests[name] = Forest.of(own, len(features))
            except ValueError as error:
                raise BadRecord(f"{folder / WEIGHTS}, forest {name!r}: {error}.") from error
        training = config.get("training", {})
        return cls(**forests, telling=_telling(config, folder / CONFIG), training=training)


def evidence_of(sighting: Sighting, fits: tuple[OptionFit, ...] | None) -> Evidence:
    """What has been seen of a product, its options already matched."""
    return Evidence(sighting.title, sighting.price, sighting.rank, fits, sighting.features)


def _config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadRecord(f"{path} should hold an object, holds {type(config).__name__}.")
    return config


def _telling(config: Mapping[str, Any], path: Path) -> dict[str, float]:
    told = config.get("telling")
    if not isinstance(told, dict) or not all(isinstance(share, float) and 0 <= share <= 1 for share in told.values()):
        raise BadRecord(f'{path}: "telling" should give a share between 0.0 and 1.0 for each word.')
    return told


def _arrays(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > _LARGEST:
            raise ValueError(f"it unpacks to {unpacked} bytes")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except Exception as error:  # zip, zlib and NumPy each raise classes of their own on broken bytes
        raise BadRecord(f"{path} is truncated or no file of arrays: {error}") from error
