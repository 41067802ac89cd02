"""What a product looks like, read from what is known of it."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from llm_gym.envs.webshop.pictures.colors import Color, colors_in, mixed
from llm_gym.envs.webshop.pictures.details import LABELLED_BY, MARKED_BY
from llm_gym.envs.webshop.pictures.silhouettes import CALLED
from llm_gym.envs.webshop.pictures.surfaces import SHOWN_BY
from llm_gym.envs.webshop.product import Product

MOST_DETAILS, MOST_SEALS, MOST_PIECES = 3, 3, 12
_UNKNOWN = "parcel"
_COLOR_OPTIONS = ("color", "flavor name", "flavor", "scent", "scent name")
_BACKGROUNDS: Mapping[str, Color] = {
    "beauty": (250, 236, 240),
    "electronics": (232, 238, 246),
    "garden": (238, 242, 230),
    "fashion": (240, 238, 236),
    "grocery": (250, 244, 228),
}
_PLAIN: Color = (244, 244, 244)
_UNNAMED: Sequence[Color] = (
    *((206, 190, 168), (150, 160, 172), (92, 98, 110), (196, 150, 140), (146, 168, 146), (232, 228, 222)),
    *((112, 130, 166), (170, 140, 176)),
)
"""What a thing looks like whose colour nothing names."""
_PIECES = re.compile(r"pack of (\d+)|(\d+)[ -]?(?:pack|count|pcs|piece)")
_WORD = re.compile(r"[a-z]+")
_BRIGHT = 140
_LIGHT: Color = (255, 255, 255)
_DARK: Color = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Look:
    """All that a picture shows."""

    outline: str
    """Of `silhouettes.SILHOUETTES`."""
    width: float
    height: float
    """Of the thing, 1: as its outline; things of one leaf of the category tree have equal ones."""
    color: Color
    second: Color
    """Of pattern and parts."""
    pattern: str | None
    """Of `surfaces.PATTERNS`; None: plain."""
    details: tuple[str, ...]
    """Of `details.DETAILS`."""
    seals: tuple[str, ...]
    """Of `details.SEALS`."""
    pieces: int
    """How many are in the pack; 1 to 12."""
    background: Color
    chance: int
    """Decides what differs between two photographs of equal things: place, tilt, light."""


def look_of(product: Product) -> Look:
    """The look of a product.

    Kind, colour and pack are told by category, title and options; pattern, parts and labels also by attributes that the
    page of the product may not tell.
    """
    leaf = product.product_category.rpartition("›")[2].strip()
    kind = _chance("kind", leaf or product.query)
    color, second = _colors(product)
    attributes = product.attributes
    details = _named(attributes, MARKED_BY)
    patterns = _named([*attributes, *_chosen_first(product), product.title], SHOWN_BY)
    plain = [one for one in attributes if not _named([one], MARKED_BY) and not _named([one], SHOWN_BY)]
    return Look(
        outline=_outline(product),
        width=0.82 + 0.18 * (kind % 7) / 6,
        height=0.82 + 0.18 * (kind // 7 % 7) / 6,
        color=color,
        second=second,
        pattern=patterns[0] if patterns else None,
        details=tuple(details[:MOST_DETAILS]),
        seals=tuple(_named(plain, LABELLED_BY)[:MOST_SEALS]),
        pieces=_pieces(product),
        background=_BACKGROUNDS.get(product.category, _PLAIN),
        chance=_chance("photograph", product.asin),
    )


def _outline(product: Product) -> str:
    """From the leaf of the category tree up to its root, then as the title and the shop's query call it."""
    for place in reversed(product.product_category.lower().split("›")):
        words = _words(place)[::-1]  # the last word of a name says what it is: "throw pillow covers"
        if (found := _first(words, CALLED)) is not None:
            return found
    return _first(_words(product.title), CALLED) or _first(_words(product.query), CALLED) or _UNKNOWN


def _words(text: str) -> list[str]:
    """The words, then neighbours joined by a hyphen."""
    words = _WORD.findall(text.lower())
    return [*words, *("-".join(pair) for pair in itertools.pairwise(words))]


def _first(words: Sequence[str], table: Mapping[str, str]) -> str | None:
    """What the first known word stands for; neighbours that belong together go before single words."""
    known = [word for word in words if word in table]
    return table[min(known, key=lambda word: "-" not in word)] if known else None


def _named(texts: Sequence[str], table: Mapping[str, str]) -> list[str]:
    """What each text names first of a table's values, each once."""
    found = (_first(_words(text), table) for text in texts)
    return list(dict.fromkeys(filter(None, found)))


def _chosen_first(product: Product) -> list[str]:
    """The first value of each option that a picture shows; that is what a shop photographs."""
    return [product.options[name][0] for name in _COLOR_OPTIONS if product.options.get(name)]


def _colors(product: Product) -> tuple[Color, Color]:
    texts = [*_chosen_first(product), product.title, *product.attributes]
    found = next(filter(None, map(colors_in, texts)), [])
    color = found[0] if found else _UNNAMED[_chance("color", product.asin) % len(_UNNAMED)]
    others = [other for other in found if other != color]
    bright = sum(color) > 3 * _BRIGHT
    return color, others[0] if others else mixed(color, _DARK if bright else _LIGHT, 0.45)


def _pieces(product: Product) -> int:
    for text in (product.title.lower(), *(values[0] for values in product.options.values() if values)):
        found = _PIECES.search(text)
        if found:
            return min(max(int((found[1] or found[2])[:4]), 1), MOST_PIECES)
    return 1


def _chance(role: str, identity: str) -> int:
    """A number below 2⁶³ that is the same on every machine."""
    return int.from_bytes(hashlib.sha256(f"{role}\0{identity}".encode()).digest()[:8], "big") >> 1
