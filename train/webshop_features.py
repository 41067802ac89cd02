"""Image features for WebShop: 512 numbers of the picture of every product, in a folder that the environment reads.

    python train/webshop_features.py --drawn --out features
    python train/webshop_features.py --catalogue WORLD --pictures FOLDER --encoder microsoft/resnet-50 --out features
    python train/webshop_features.py --catalogue WORLD --urls urls.json --out features
    python train/webshop_features.py --catalogue WORLD --official feat_conv.pt feat_ids.pt --out features

The first command made the features that come with the embedded catalogue. A run that was killed goes on where it
stopped. A picture that cannot be read is told of and left out: its product has no features.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import track

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.image_features import FEATURES, write_features
from llm_gym.envs.webshop.panels import make_panel, selections
from llm_gym.errors import BadRecord, DataMismatch, InvalidSetting
from llm_gym.extras import require
from llm_gym.training.feature_parts import Part, Parts
from llm_gym.training.image_encoders import PACKAGED, UNTRAINED, Encoder, encoder_named, stacked
from llm_gym.training.official_features import official_features
from llm_gym.training.picture_sources import PictureOf, downloaded_pictures, drawn_pictures, folder_pictures
from llm_gym.training.principal_components import Projection, fitted
from llm_gym.training.script import run

_SMOKE = 16
"""So many products has the world of a smoke run."""
_TOLD = 10
"""So many unreadable pictures are named."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Args:
    """Where pictures come from (one of the four), what looks at them, and where the features go."""

    out: Path
    """New folder of the features."""
    catalogue: str = "embedded"
    """Whose products: "embedded", a folder of official files, or a built store."""
    drawn: bool = False
    """Draw a picture of every product."""
    pictures: Path | None = None
    """Folder of files ID.jpg or ID.png."""
    urls: Path | None = None
    """JSON {"ID": "https://…"}; the pictures are downloaded."""
    official: tuple[Path, Path] | None = None
    """The published feat_conv.pt and feat_ids.pt; nothing is computed."""
    encoder: str = PACKAGED
    """The packaged EfficientNet; "untrained"; or a ResNet of transformers by name or path."""
    batch: int = 16
    """Pictures that are encoded at once."""
    part: int = 128
    """Pictures after which what has been done is written down."""
    smoke: bool = False
    """Try the whole way in seconds: 16 drawn pictures, an untrained encoder."""


def main(args: Args) -> Path:
    """Make a folder of features.

    Raises:
        LLMGymError: something is missing or wrong; what was encoded so far is kept.
    """
    if args.smoke:
        args = replace(args, drawn=True, encoder=UNTRAINED, batch=4, part=8)
    if args.out.exists() and any(args.out.iterdir()):
        raise InvalidSetting(f"{args.out} exists already. Remove it, or choose another folder.")
    catalogue = Catalogue.open(args.catalogue, _SMOKE if args.smoke else None)
    belongs = {"name": catalogue.name, "digest": catalogue.digest}
    if args.official is not None:
        ids, features = official_features(*args.official, catalogue)
        write_features(args.out, ids, features, {"source": {"pictures": "official features"}, "catalogue": belongs})
        _log.info("Features of %s of %s products.", f"{len(ids):,}", f"{catalogue.size:,}")
        return args.out
    beside = args.out.with_name(f".{args.out.name}.parts")
    kind, picture_of = _pictures(args, catalogue, beside)
    require("torch", "torch").set_num_threads(1)  # the order of sums, and so the last digit, depends on it
    encoder = encoder_named(args.encoder)
    ids = [catalogue.store.asin(position) for position in range(catalogue.size)]
    source: dict[str, Any] = {"pictures": kind, "encoder": encoder.name}
    origin = str((args.pictures or args.urls or Path()).resolve())
    parts = Parts(beside, {**source, "from": origin, "catalogue": catalogue.digest, "part": args.part})
    _encode(ids, picture_of, encoder, parts, args)
    projection, training = _projection(parts, catalogue, ids)
    source |= {"training_products": training, "directions": projection.rank, "variance": round(projection.kept, 4)}
    found = list(itertools.chain.from_iterable(part.ids for part in parts.read()))
    features = np.concatenate([projection(part.features) for part in parts.read()])
    write_features(args.out, found, features, {"source": source, "catalogue": belongs})
    _tell(catalogue, parts, projection, len(found))
    parts.remove()
    return args.out


def _pictures(args: Args, catalogue: Catalogue, beside: Path) -> tuple[str, PictureOf]:
    match (args.drawn, args.pictures, args.urls):
        case (True, None, None):
            return "drawn", drawn_pictures(catalogue)
        case (False, Path() as folder, None):
            return "files", folder_pictures(folder)
        case (False, None, Path() as urls):
            return "downloaded", downloaded_pictures(urls, beside / "pictures")
    raise InvalidSetting("Say where the pictures come from: --drawn, --pictures, --urls or --official, one of them.")


def _encode(ids: Sequence[str], picture_of: PictureOf, encoder: Encoder, parts: Parts, args: Args) -> None:
    if args.batch < 1 or args.part < 1:
        raise InvalidSetting(f"A batch and a part hold one picture at least, got {args.batch} and {args.part}.")
    chunks = list(enumerate(_chunked(ids, args.part)))
    missing = [(number, chunk) for number, chunk in chunks if not parts.has(number)]
    if len(missing) < len(chunks):
        _log.info("Going on after %d of %d parts.", len(chunks) - len(missing), len(chunks))
    console = Console(stderr=True)
    for number, chunk in track(missing, "encoding", console=console, disable=not console.is_terminal):
        parts.write(number, _part(chunk, picture_of, encoder, args.batch))


def _part(ids: Sequence[str], picture_of: PictureOf, encoder: Encoder, batch: int) -> Part:
    found: list[str] = []
    pictures: list[Any] = []
    broken: list[str] = []
    for identity in ids:
        try:
            picture = picture_of(identity)
        except BadRecord as error:
            broken.append(f"{identity}: {error}")
            continue
        if picture is not None:
            found.append(identity)
            pictures.append(picture)
    encoded = [encoder.encode(stacked(chunk)) for chunk in _chunked(pictures, batch)]
    return Part(tuple(found), np.concatenate([np.empty((0, encoder.width), np.float32), *encoded]), tuple(broken))


def _projection(parts: Parts, catalogue: Catalogue, ids: Sequence[str]) -> tuple[Projection, int]:
    """Fitted on products of the training panel alone, so that a held-out one stays unseen; and how many these are."""
    training = _training_products(catalogue)
    seen = 0

    def batches() -> Iterator[Any]:
        nonlocal seen
        for part in parts.read():
            chosen = [row for row, identity in enumerate(part.ids) if identity in training]
            seen += len(chosen)
            if chosen:
                yield part.features[chosen]

    if not any(part.ids for part in parts.read()):
        broken = sum(len(part.broken) for part in parts.read())
        raise DataMismatch(
            f"None of the {len(ids):,} products of {catalogue.name!r} has a picture that can be read ({broken:,} are "
            "damaged or not to be had). The pictures belong to another catalogue, or are not called after the ids."
        )
    return fitted(batches(), FEATURES), seen


def _training_products(catalogue: Catalogue) -> set[str]:
    invented = catalogue.store.meta["splits"] == "by-product"
    table = catalogue.goals("human" if invented else "synthetic")
    panel = make_panel(table, "train" if "train" in selections(table) else "train_products")
    return {table.asin(int(goal)) for goal in panel.goals}


def _tell(catalogue: Catalogue, parts: Parts, projection: Projection, found: int) -> None:
    _log.info(
        "Features of %s of %s products; %d directions hold %.1f %% of the variance of the training products.",
        f"{found:,}",
        f"{catalogue.size:,}",
        projection.rank,
        100 * projection.kept,
    )
    broken = [reason for part in parts.read() for reason in part.broken]
    if broken:
        more = f"\n… and {len(broken) - _TOLD:,} more" if len(broken) > _TOLD else ""
        _log.warning("Pictures that could not be read: %d\n%s%s", len(broken), "\n".join(broken[:_TOLD]), more)


def _chunked(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))


if __name__ == "__main__":
    run(main, Args, __doc__)
