"""A network that stable-baselines3 has trained, without anything of SB3 in it: settings as JSON and arrays.

SB3's own files hold pickles, which run what their maker wanted when they are read. These do not: nothing in them is
executed or unpickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData, UnknownName
from llm_gym.policies.indexed.settings import IndexedSettings

Kind = Literal["candidates", "multi-input"]
Activation = Literal["Tanh", "ReLU", "LeakyReLU", "ELU", "SELU", "GELU", "SiLU"]

KIND = "sb3"
CONFIG, WEIGHTS = "config.json", "network.npz"
_FORMAT = 1
_LARGEST = 200_000_000
"""Bytes of arrays, unpacked."""
_LARGEST_CONFIG = 100_000
_WIDEST, _DEEPEST = 16_384, 32
"""Of layers, and of how many one behind the other."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What a network is built with.

    Raises:
        InvalidSetting: it cannot be built so.
    """

    kind: Kind
    """`CandidatePolicy`, or SB3's `MultiInputPolicy`."""
    policy_layers: tuple[int, ...]
    """Widths of the layers before the actions' scores; of candidates just one, the width."""
    value_layers: tuple[int, ...] = ()
    """Widths of those before the value; of candidates none is said."""
    activation: Activation = "Tanh"
    """Between the layers of a `MultiInputPolicy`: the name of a class of torch."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind) or self.activation not in get_args(Activation):
            raise InvalidSetting(f"There is no network of kind {self.kind!r} with {self.activation!r}.")
        for layers in (self.policy_layers, self.value_layers):
            right = isinstance(layers, tuple) and len(layers) <= _DEEPEST
            if not right or not all(type(width) is int and 1 <= width <= _WIDEST for width in layers):
                raise InvalidSetting(
                    f"Layers are {_DEEPEST} widths at most, of 1 to {_WIDEST:,}, got {str(layers)[:100]}."
                )
        if self.kind == "candidates" and (len(self.policy_layers) != 1 or self.value_layers):
            raise InvalidSetting(f"A network over candidates has one width, got {self.policy_layers}.")


@dataclass(frozen=True, eq=False)
class Trained:
    """A network and what it was trained on."""

    algorithm: str
    """The class of SB3 that trained it, for people."""
    indexed: IndexedSettings
    shape: Shape
    weights: Mapping[str, npt.NDArray[np.float32]]
    """Name of a parameter → values."""

    @property
    def digest(self) -> str:
        """Of all that decides, hexadecimal."""
        decides = {"indexed": self.indexed.to_json(), "shape": asdict(self.shape)}
        total = hashlib.sha256(json.dumps(decides, sort_keys=True).encode())
        for name in sorted(self.weights):
            total.update(name.encode() + np.ascontiguousarray(self.weights[name]).tobytes())
        return total.hexdigest()[:16]

    def write(self, folder: Path) -> None:
        """Make a folder; it appears when it is whole.

        Raises:
            InvalidSetting: there is something in the folder already.
        """
        config = {"format": _FORMAT, "kind": KIND, "algorithm": self.algorithm}
        config |= {"indexed": self.indexed.to_json(), "shape": asdict(self.shape)}
        arrays: dict[str, Any] = dict(self.weights)
        with new_folder(folder) as workshop:
            (workshop / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            np.savez_compressed(workshop / WEIGHTS, allow_pickle=False, **arrays)

    @classmethod
    def read(cls, folder: Path) -> Trained:
        """What `write` wrote.

        Raises:
            MissingData: the folder or a file in it is not there.
            BadRecord: a file is truncated or malformed.
            DataMismatch: the folder holds another kind of model, or one of another version.
        """
        if folder.is_file():
            raise MissingData(
                f"{folder} is a file. What stable-baselines3 saves holds pickles, which are not read here: if you "
                "trust it, load it there, and SB3Policy.from_model(model, env).save_pretrained(folder) makes a folder."
            )
        for name in (CONFIG, WEIGHTS):
            if not (folder / name).is_file():
                raise MissingData(
                    f"{folder} is no trained network: it has no {name}. SB3Policy.save_pretrained makes one."
                )
        config = _config(folder / CONFIG)
        if config.get("kind") != KIND:
            raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {KIND!r}.")
        if config.get("format") != _FORMAT:
            raise DataMismatch(f"{folder} has format {config.get('format')!r}, this version reads {_FORMAT}.")
        try:
            indexed, shape = IndexedSettings.from_json(config.get("indexed")), _shape(config.get("shape"))
        except (InvalidSetting, UnknownName, TypeError) as error:
            raise BadRecord(f"{folder / CONFIG}: {error}") from error
        return cls(str(config.get("algorithm", "")), indexed, shape, _arrays(folder / WEIGHTS))


def _config(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST_CONFIG:
        raise BadRecord(f"{path} is larger than any configuration.")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadRecord(f"{path} should hold an object, holds {type(config).__name__}.")
    return config


def _shape(stored: Any) -> Shape:
    if not isinstance(stored, dict) or set(stored) != set(Shape.__slots__):
        raise InvalidSetting(f"This is no shape of a network: {str(stored)[:100]}.")
    layers = {name: tuple(stored[name]) for name in ("policy_layers", "value_layers")}
    return Shape(stored["kind"], **layers, activation=stored["activation"])


def _arrays(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > _LARGEST:
            raise ValueError(f"it unpacks to {unpacked} bytes")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
    except Exception as error:  # zip, zlib and NumPy each raise classes of their own on broken bytes
        raise BadRecord(f"{path} is truncated or no file of arrays: {error}") from error
    for name, values in arrays.items():
        if values.dtype != np.float32 or not np.isfinite(values).all():
            raise BadRecord(f"{path}: {name} should hold finite numbers in single precision.")
    return arrays
