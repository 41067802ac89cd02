"""Where the pictures of products come from: a folder, addresses, or the pen."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from llm_gym.download import download
from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.pictures import Picture, picture_of
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting, MissingData
from llm_gym.extras import require
from llm_gym.training.image_encoders import squared

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
_MOST_BYTES = 20_000_000
_MOST_PIXELS = 50_000_000

PictureOf = Callable[[str], Picture | None]
"""A product's picture by its id, as the encoder sees it; None where there is none. BadRecord: it cannot be read."""


def drawn_pictures(catalogue: Catalogue) -> PictureOf:
    """Drawn from what the products are."""
    image = require("PIL.Image", "train")

    def picture(identity: str) -> Picture | None:
        product = catalogue.find(identity)
        return None if product is None else squared(image.fromarray(picture_of(product)))

    return picture


def folder_pictures(folder: Path) -> PictureOf:
    """The files `ID.jpg`, `ID.jpeg`, `ID.png` or `ID.webp` of a folder.

    Raises:
        MissingData: there is no such folder, or no such file in it.
    """
    if not folder.is_dir():
        raise MissingData(f"There is no folder {folder}.")
    files = {path.stem: path for path in sorted(folder.iterdir()) if path.suffix.lower() in SUFFIXES}
    if not files:
        raise MissingData(f"{folder} holds no picture: they are called ID.jpg or ID.png, after the product's id.")
    return lambda identity: read_picture(files[identity]) if identity in files else None


def downloaded_pictures(list_file: Path, kept_in: Path) -> PictureOf:
    """Pictures from addresses: `{"ID": "https://…"}`, or `{"ID": {"url": "https://…", "sha256": "…"}}` to be sure.

    What has been fetched is kept, and what was begun goes on where it stopped.

    Raises:
        MissingData: there is no such file. BadRecord: it is no such list.
    """
    addresses = _addresses(list_file)

    def picture(identity: str) -> Picture | None:
        if identity not in addresses:
            return None
        url, digest = addresses[identity]
        target = kept_in / hashlib.sha256(url.encode()).hexdigest()[:32]
        try:
            return read_picture(download(url, target, sha256=digest, max_bytes=_MOST_BYTES, attempts=2))
        except (MissingData, DataMismatch, InvalidSetting) as error:
            raise BadRecord(str(error)) from error

    return picture


def read_picture(file: Path) -> Picture:
    """The picture in a file.

    Raises:
        BadRecord: it is no picture, truncated, or larger than any photograph of a product.
    """
    image = require("PIL.Image", "train")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what is only doubtful, or large enough to fill the memory, is refused too
            with image.open(file, formats=("JPEG", "PNG", "WEBP", "GIF")) as opened:
                width, height = opened.size
                if width * height > _MOST_PIXELS:
                    raise BadRecord(
                        f"{file.name} has {width} × {height} pixels, more than any photograph of a product."
                    )
                return squared(opened)
    except BadRecord:
        raise
    except Exception as error:  # the readers of a damaged file raise whatever they stumble over
        raise BadRecord(f"{file.name} is no picture that can be read: {error}") from error


def _addresses(file: Path) -> Mapping[str, tuple[str, str | None]]:
    try:
        listed: Any = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise MissingData(f"There is no file {file}.") from None
    except (OSError, ValueError) as error:
        raise BadRecord(f"{file} is no JSON: {error}") from error
    if not isinstance(listed, dict):
        raise BadRecord(f"{file} should hold an object of ids and addresses, holds {type(listed).__name__}.")
    return {identity: _address(entry, f"{file}: {identity}") for identity, entry in listed.items()}


def _address(entry: object, where: str) -> tuple[str, str | None]:
    match entry:
        case str():
            return entry, None
        case {"url": str() as url, "sha256": str() as digest}:
            return url, digest
        case {"url": str() as url}:
            return url, None
    raise BadRecord(f'{where} should be an address or {{"url": …, "sha256": …}}.')
