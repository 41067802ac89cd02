"""What things are made of and printed with: a pattern says at each point how much of a second colour shows, 0 to 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.pictures.shapes import Grid

Pattern = Callable[[Grid, Grid, np.random.Generator], Grid]
"""Points, (H, W) each, and a source of chance → the share of the second colour, (H, W)."""


def _wave(values: npt.NDArray[np.floating], period: float) -> Grid:
    """0 to 1 and back over a period."""
    return np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * values / period), np.float32)


def _share(inside: npt.NDArray[np.bool_], strength: float = 1.0) -> Grid:
    return inside.astype(np.float32) * np.float32(strength)


def _nearest(x: Grid, y: Grid, rng: np.random.Generator, count: int) -> Grid:
    """Distance to the nearest of some random points."""
    distance = np.full_like(x, np.inf)
    for across, down in rng.random((count, 2)).astype(np.float32):
        np.minimum(distance, np.hypot(x - across, y - down), out=distance)
    return distance


def _spots(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    distance = _nearest(x, y, rng, 90)
    return _share((distance > 0.014) & (distance < 0.034), 0.85)


def _dots(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share(np.hypot((x * 9) % 1 - 0.5, (y * 9) % 1 - 0.5) < 0.26)


def _mesh(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share(np.hypot((x * 26) % 1 - 0.5, (y * 26) % 1 - 0.5) < 0.3, 0.7)


def _stripes(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share((y * 9) % 1 < 0.45)


def _zebra(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share((x * 7 + 0.5 * np.sin(y * 14 + rng.random() * 6)) % 1 < 0.45)


def _plaid(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.5 * _share((x * 6) % 1 < 0.45) + 0.5 * _share((y * 6) % 1 < 0.45)


def _checks(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share((np.floor(x * 8) + np.floor(y * 8)) % 2 == 0)


def _flowers(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    points = rng.random((26, 2)).astype(np.float32)
    across, down = x[..., None] - points[:, 0], y[..., None] - points[:, 1]
    petals = 0.045 * (0.65 + 0.35 * np.cos(5 * np.arctan2(down, across)))
    return _share((np.hypot(across, down) < petals).any(axis=-1))


def _triangles(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return _share((x * 6) % 1 + (y * 6) % 1 < 1)


def _ribs(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.6 * _wave(x, 1 / 22)


def _cable(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.7 * _share(np.abs((x * 6) % 1 - 0.5 - 0.25 * np.sin(y * 40)) < 0.14)


def _waffle(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.7 * _share(((x * 16) % 1 < 0.3) | ((y * 16) % 1 < 0.3))


def _weave(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    over = (np.floor(x * 18) + np.floor(y * 18)) % 2 == 0
    return 0.75 * np.where(over, _wave(x, 1 / 18), _wave(y, 1 / 18)).astype(np.float32)


def _lace(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    distance = np.hypot((x * 8) % 1 - 0.5, (y * 8) % 1 - 0.5)
    return _share(((distance > 0.3) & (distance < 0.42)) | (distance < 0.12), 0.8)


def _glitter(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    coarse = rng.random((64, 64)).astype(np.float32)
    rows, columns = (np.clip(axis * 64, 0, 63).astype(np.int64) for axis in (y, x))
    return _share(coarse[rows, columns] > 0.82)


def _marble(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    bent: Grid = x + y + 0.16 * np.sin(9 * y + rng.random() * 6) + 0.1 * np.sin(17 * x)
    return 0.8 * _wave(bent, 0.36) ** 8


def _grain(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.5 * _wave(y + 0.05 * np.sin(5 * x + rng.random() * 6), 0.075)


def _metal(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.9 * _wave(x + 0.35 * y, 0.42) ** 3


def _leather(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    distance = _nearest(x, y, rng, 160)
    return 0.5 * _share(distance > 0.042)


def _fur(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    noise = rng.random((40, 40)).astype(np.float32)
    rows, columns = (np.clip(axis * 40, 0, 39).astype(np.int64) for axis in (y + 0.02 * np.sin(60 * x), x))
    return 0.6 * noise[rows, columns]


def _satin(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.6 * _wave(x - y + 0.05 * np.sin(8 * y), 0.6) ** 2


def _quilt(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.8 * _share((np.abs((x + y) * 5 % 1 - 0.5) > 0.44) | (np.abs((x - y) * 5 % 1 - 0.5) > 0.44))


def _swirl(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    across, down = x - 0.5, y - 0.5
    return _wave(np.arctan2(down, across) / (2 * np.pi) + 2 * np.hypot(across, down), 0.25)


def _glass(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.85 * _share((np.abs(x - y + 0.14) < 0.05) | (np.abs(x - y + 0.28) < 0.02))


def _leaves(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    points = rng.random((22, 2)).astype(np.float32)
    across, down = x[..., None] - points[:, 0], y[..., None] - points[:, 1]
    inside: npt.NDArray[np.bool_] = ((across + down) / 0.07) ** 2 + ((across - down) / 0.028) ** 2 < 1
    return _share(np.any(inside, axis=-1))


def _crumbs(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    distance = _nearest(x, y, rng, 60)
    return _share(distance < 0.022, 0.9)


def _sheer(x: Grid, y: Grid, rng: np.random.Generator) -> Grid:
    return 0.35 + 0.35 * _wave(x, 0.12)


PATTERNS: Mapping[str, Pattern] = {
    name[1:]: pattern
    for name, pattern in {
        function.__name__: function
        for function in (
            *(_spots, _dots, _mesh, _stripes, _zebra, _plaid, _checks, _flowers, _triangles, _ribs, _cable, _waffle),
            *(_weave, _lace, _glitter, _marble, _grain, _metal, _leather, _fur, _satin, _quilt, _swirl, _glass),
            *(_leaves, _crumbs, _sheer),
        )
    }.items()
}

SHOWN_BY: Mapping[str, str] = {
    word: name
    for name, words in {
        "spots": "leopard cheetah",
        "dots": "polka terrazzo",
        "mesh": "mesh breathable perforated",
        "stripes": "stripe striped stripes rainbow",
        "zebra": "zebra",
        "plaid": "plaid flannel tartan",
        "checks": "checkered checker mosaic patchwork",
        "flowers": "floral flower wildflower daisy blossom meadow jasmine",
        "triangles": "geometric boho bohemian honeycomb mandala paisley",
        "ribs": "ribbed corduroy pleated ridged slats",
        "cable": "cable-knit chunky",
        "waffle": "waffle terry",
        "weave": "woven braided jute rattan wicker linen weave bamboo seagrass",
        "lace": "lace crochet embroidered snowflake",
        "glitter": "glitter shimmer sequin sparkle galaxy nebula constellation aurora iridescent",
        "marble": "marble ceramic stone",
        "grain": "wood wooden walnut engineered oak farmhouse",
        "metal": "metal steel stainless chrome nickel titanium aluminum bronze gold-finish",
        "leather": "leather suede",
        "fur": "fleece sherpa fur plush velvet fuzzy shaggy pile wool",
        "satin": "satin silk silky glossy gloss high-gloss",
        "quilt": "tufted quilted padded puffer",
        "swirl": "swirl dye watercolor sunset moonlit",
        "glass": "glass tempered transparent clear crystal mirror",
        "leaves": "leaf botanical botanic palm tropic tropical herbal tea-tree aloe cactus",
        "crumbs": "seeded seeds grains grain chips flakes salt salted chocolate-chips",
        "sheer": "sheer sheers chiffon transparent-film",
    }.items()
    for word in words.split()
}
"""Word → name of the pattern by which a picture shows it; two words that belong together are joined by a hyphen."""
