"""The published image features of WebShop: a row an image in `feat_conv.pt`, the addresses in `feat_ids.pt`."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.image_features import FEATURES
from llm_gym.errors import BadRecord, DataMismatch, MissingData
from llm_gym.extras import require


def official_features(
    features_file: Path, ids_file: Path, catalogue: Catalogue
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Ids and features of the products of a catalogue whose first image is among the published ones.

    Tensors and plain lists are read and nothing else: the files are never unpickled.

    Returns:
        (N,) ids and (N, 512) features, in catalogue order.

    Raises:
        MissingData: a file is not there. BadRecord: it is truncated, or holds something else.
        DataMismatch: the files differ in length, or none of the images belongs to a product.
        MissingDependency: the extra `torch` is not installed.
    """
    torch = require("torch", "torch")
    features = _loaded(torch, features_file)
    if not isinstance(features, torch.Tensor) or features.ndim != 2 or features.shape[1] != FEATURES:
        shape = tuple(features.shape) if isinstance(features, torch.Tensor) else type(features).__name__
        raise BadRecord(f"{features_file} should hold a tensor of shape (images, {FEATURES}), holds {shape}.")
    addresses = _loaded(torch, ids_file)
    if not isinstance(addresses, list) or not all(isinstance(address, str) for address in addresses):
        raise BadRecord(f"{ids_file} should hold a list of addresses.")
    if len(addresses) != len(features):
        raise DataMismatch(
            f"{features_file} has {len(features):,} rows, {ids_file} {len(addresses):,}: they do not belong together."
        )
    rows = {address: row for row, address in enumerate(addresses)}  # the last of two equal ones, as in the original
    products = (catalogue.store.product(position) for position in range(catalogue.size))
    found = [(product.asin, rows[product.main_image]) for product in products if product.main_image in rows]
    if not found:
        raise DataMismatch(
            f"None of the {len(addresses):,} images of {ids_file} is the first image of one of the {catalogue.size:,} "
            f"products of {catalogue.name!r}: the files belong to another catalogue."
        )
    values = features[[row for _, row in found]].float().numpy()
    return [identity for identity, _ in found], values


def _loaded(torch: Any, file: Path) -> Any:
    if not file.is_file():
        raise MissingData(f"There is no file {file}.")
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, OSError, EOFError, ValueError, zipfile.BadZipFile) as error:
        first = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise BadRecord(f"{file} is truncated, or holds something else than tensors and lists: {first}") from error
