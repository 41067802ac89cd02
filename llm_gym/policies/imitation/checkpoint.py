"""A trained model in a folder: what it is as JSON, its tokenizer, and its weights as safetensors.

Nothing in it is executed or unpickled. Weights are kept whole, in half precision, or as 8-bit integers with a scale a
row (`name` and `name.scale`), which takes a quarter of the room and is undone when they are read.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from llm_gym.data import new_folder
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.extras import require

Precision = Literal["float32", "float16", "int8"]
Array = npt.NDArray[Any]

CONFIG, WEIGHTS, TOKENIZER = "config.json", "model.safetensors", "tokenizer.json"
_FORMAT = 1
_SCALE = ".scale"
_EXTRA = "torch"
_LARGEST_CONFIG = 1_000_000


@dataclass(frozen=True)
class Checkpoint:
    """What a folder holds."""

    kind: str
    """Which model this is, e.g. "webshop-choice"."""
    config: Mapping[str, Any]
    """What the model is made with."""
    weights: Mapping[str, Array]
    """Name → values, float32."""
    tokenizer: str
    """A tokenizer of the library `tokenizers`, as JSON."""


def write_checkpoint(folder: Path, checkpoint: Checkpoint, precision: Precision = "float32") -> None:
    """Make a folder; it appears when it is whole.

    Raises:
        InvalidSetting: there is something in the folder already.
        MissingDependency: the extra `torch` is not installed.
    """
    safetensors = require("safetensors.numpy", _EXTRA)
    stored: dict[str, Array] = {}
    for name, values in checkpoint.weights.items():
        stored |= _stored(name, np.ascontiguousarray(values), precision)
    config = {"format": _FORMAT, "kind": checkpoint.kind, "precision": precision, **checkpoint.config}
    with new_folder(folder) as workshop:
        (workshop / CONFIG).write_text(json.dumps(config, indent=1, sort_keys=True) + "\n", encoding="utf-8")
        (workshop / TOKENIZER).write_text(checkpoint.tokenizer, encoding="utf-8")
        (workshop / WEIGHTS).write_bytes(safetensors.save(stored))


def read_checkpoint(folder: Path, kind: str) -> Checkpoint:
    """What `write_checkpoint` wrote.

    Raises:
        MissingData: the folder or a file in it is not there.
        BadRecord: a file is truncated or malformed.
        DataMismatch: the folder holds another kind of model, or one of a later version of this package.
        MissingDependency: the extra `torch` is not installed.
    """
    safetensors = require("safetensors.numpy", _EXTRA)
    for name in (CONFIG, TOKENIZER, WEIGHTS):
        if not (folder / name).is_file():
            raise MissingData(f"{folder} is no trained model: it has no {name}. Give a folder that training made.")
    config = _config(folder / CONFIG)
    if config.get("kind") != kind:
        raise DataMismatch(f"{folder} holds a model of kind {config.get('kind')!r}, not {kind!r}.")
    if config.get("format") != _FORMAT:
        raise DataMismatch(f"{folder} has format {config.get('format')!r}, this version reads {_FORMAT}.")
    try:
        stored = safetensors.load((folder / WEIGHTS).read_bytes())
    except Exception as error:  # the library raises a class of its own, which a broken header can change
        raise BadRecord(f"{folder / WEIGHTS} is truncated or no safetensors file: {error}") from error
    try:
        tokenizer = (folder / TOKENIZER).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise BadRecord(f"{folder / TOKENIZER} is no text in UTF-8.") from error
    return Checkpoint(kind, config, _restored(stored, folder), tokenizer)


def fill(model: Any, checkpoint: Checkpoint, folder: Path) -> None:
    """Put the weights into a model of torch.

    Raises:
        DataMismatch: names or shapes differ from the model's: the configuration belongs to other weights.
    """
    torch = require("torch", _EXTRA)
    weights = {name: torch.from_numpy(np.array(values)) for name, values in checkpoint.weights.items()}
    try:
        model.load_state_dict(weights)
    except RuntimeError as error:
        first = " ".join(str(error).split())[:300]
        raise DataMismatch(f"{folder}: the weights do not fit the model of its {CONFIG}: {first}") from error


def _config(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST_CONFIG:
        raise BadRecord(f"{path} is larger than any configuration.")
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadRecord(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadRecord(f"{path} should hold an object, holds {type(config).__name__}.")
    return config


def _stored(name: str, values: Array, precision: Precision) -> dict[str, Array]:
    if not np.issubdtype(values.dtype, np.floating):
        return {name: values}
    if precision == "float32":
        return {name: values.astype(np.float32)}
    if precision == "float16" or values.ndim < 2:
        return {name: values.astype(np.float16)}
    rows = values.reshape(len(values), -1).astype(np.float32)
    scale = np.maximum(np.abs(rows).max(axis=1, initial=0), 1e-12) / 127
    return {name: np.rint(values / _column(scale, values)).astype(np.int8), name + _SCALE: scale.astype(np.float32)}


def _restored(stored: Mapping[str, Array], folder: Path) -> dict[str, Array]:
    weights: dict[str, Array] = {}
    for name, values in stored.items():
        if name.endswith(_SCALE) and name.removesuffix(_SCALE) in stored:
            continue
        scale = stored.get(name + _SCALE)
        if scale is None:
            weights[name] = values.astype(np.float32) if np.issubdtype(values.dtype, np.floating) else values
        elif values.ndim < 2 or scale.shape != values.shape[:1]:
            raise BadRecord(f"{folder / WEIGHTS}: the scale of {name} has shape {scale.shape}, values {values.shape}.")
        else:
            weights[name] = values.astype(np.float32) * _column(scale, values)
    return weights


def _column(scale: Array, values: Array) -> Array:
    """(R,) → (R, 1, …), to multiply the rows of `values`."""
    return scale.reshape(-1, *[1] * (values.ndim - 1))
