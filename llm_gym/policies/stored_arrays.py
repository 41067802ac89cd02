"""Reads what a model of plain arrays is stored in: a JSON object and a file of NumPy arrays. Nothing is unpickled."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from llm_gym.errors import BadRecord

Floats = np.ndarray[Any, np.dtype[np.float32]]

_SLACK = 2
"""A file may unpack to so many times the bytes that its arrays need."""
_MARGIN = 100_000


def read_config(path: Path) -> dict[str, Any]:
    """The object of a JSON file.

    Raises:
        BadRecord: it is no JSON, or no object.
    """
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path} is no JSON: {error}") from error
    if not isinstance(config, dict):
        raise BadRecord(f"{path} should hold an object, holds {type(config).__name__}.")
    return config


def read_arrays(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Floats]:
    """The arrays of an .npz file, by their names.

    Args:
        path: of the file.
        shapes: name → shape of every array that should be there; others are left alone.

    Raises:
        BadRecord: the file is truncated or far too big, or an array is missing, of another shape or type, or holds a
            number that is not finite.
    """
    most = _SLACK * sum(4 * int(np.prod(shape)) for shape in shapes.values()) + _MARGIN
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > most:
            raise ValueError(f"it unpacks to {unpacked:,} bytes")
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in shapes if name in stored.files}
    except Exception as error:  # zip, zlib and NumPy each raise classes of their own on broken bytes
        raise BadRecord(f"{path} is truncated or no file of arrays: {error}") from error
    for name, shape in shapes.items():
        array = arrays.get(name)
        if array is None or array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
            raise BadRecord(f"{path}: {name!r} should be finite numbers of type float32 and shape {shape}.")
    return arrays
