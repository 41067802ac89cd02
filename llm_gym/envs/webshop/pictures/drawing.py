"""A look, drawn with numpy alone, and a picture as a PNG file."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import numpy.typing as npt

from llm_gym.envs.webshop.pictures.colors import Color
from llm_gym.envs.webshop.pictures.details import DETAILS, SEALS
from llm_gym.envs.webshop.pictures.look import Look, look_of
from llm_gym.envs.webshop.pictures.shapes import Box, Grid, Mask, Oval, Ring, covered
from llm_gym.envs.webshop.pictures.silhouettes import SILHOUETTES
from llm_gym.envs.webshop.pictures.surfaces import PATTERNS
from llm_gym.envs.webshop.product import Product

SIZE = 160
"""Pixels of a picture's sides."""
_FINER = 2
"""Drawn so much larger and averaged, so that edges are smooth."""
_SHADOW = 9

Picture = npt.NDArray[np.uint8]
"""(160, 160, 3) red, green, blue."""
_Canvas = npt.NDArray[np.float32]


def picture_of(product: Product) -> Picture:
    """The picture of a product."""
    return draw(look_of(product))


def draw(look: Look) -> Picture:
    """A thing before a plain background, with its pack and its labels in the corners."""
    rng = np.random.default_rng(look.chance)
    side = SIZE * _FINER
    ticks = ((np.arange(side) + 0.5) / side).astype(np.float32)
    across, down = (np.ascontiguousarray(axis) for axis in np.meshgrid(ticks, ticks))
    light = np.float32(rng.uniform(-8, 6))
    canvas = np.empty((side, side, 3), np.float32)
    canvas[:] = np.array(look.background, np.float32) + light - 10 * down[..., None]
    x, y = _turned(across, down, look, rng)
    thing = covered(SILHOUETTES[look.outline], x, y)
    canvas -= 46 * _blurred(np.roll(thing, (_SHADOW, _SHADOW // 2), (0, 1)))[..., None]
    _paint(canvas, thing, _surface(look, x, y, rng))
    _paint(canvas, thing & ~_shrunk(thing, 2), np.array(look.color, np.float32) * 0.5)
    for name in look.details:
        part = covered(DETAILS[name], x, y)
        _paint(canvas, part, np.array(look.second, np.float32))
        _paint(canvas, part & ~_shrunk(part, 1), np.array(look.second, np.float32) * 0.45)
    _label(canvas, look, across, down)
    small = canvas.reshape(SIZE, _FINER, SIZE, _FINER, 3).mean(axis=(1, 3))
    picture: Picture = np.clip(np.rint(small), 0, 255).astype(np.uint8)
    return picture


def as_png(picture: Picture) -> bytes:
    """The content of a PNG file."""
    height, width, _ = picture.shape
    rows = b"".join(b"\0" + row.tobytes() for row in picture)  # 0: the row is stored as it is
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )


def _turned(across: Grid, down: Grid, look: Look, rng: np.random.Generator) -> tuple[Grid, Grid]:
    """Where the points of the picture lie on the thing, which stands a little aside and aslant."""
    angle = rng.uniform(-0.09, 0.09)
    to_right, to_bottom = rng.uniform(-0.03, 0.03, 2)
    size = 0.84 * rng.uniform(0.92, 1.04)
    right, below = across - 0.5 - to_right, down - 0.5 - to_bottom
    x = (np.cos(angle) * right + np.sin(angle) * below) / (size * look.width) + 0.5
    y = (np.cos(angle) * below - np.sin(angle) * right) / (size * look.height) + 0.5
    return x.astype(np.float32), y.astype(np.float32)


def _surface(look: Look, x: Grid, y: Grid, rng: np.random.Generator) -> _Canvas:
    """(H, W, 3) colours of the thing, lit from above left."""
    color, second = np.array(look.color, np.float32), np.array(look.second, np.float32)
    share = np.zeros_like(x) if look.pattern is None else PATTERNS[look.pattern](x, y, rng)
    shade = (1.08 - 0.22 * (0.6 * y + 0.4 * x))[..., None]
    surface = (color + share[..., None] * (second - color)) * shade
    return surface.astype(np.float32, copy=False)


def _label(canvas: _Canvas, look: Look, across: Grid, down: Grid) -> None:
    """Seals down the right side; a square for each piece of a pack along the bottom."""
    for place, name in enumerate(look.seals):
        middle = 0.1 + 0.15 * place
        _paint(canvas, Oval(0.91, middle, 0.065, 0.065).covers(across, down), _of(SEALS[name]))
        _paint(canvas, Ring(0.91, middle, 0.05, 0.05, 0.012).covers(across, down), _of((255, 255, 255)))
    if look.pieces > 1:
        for piece in range(look.pieces):
            left = 0.03 + 0.078 * piece
            _paint(canvas, Box(left, 0.93, left + 0.055, 0.985).covers(across, down), _of(look.color) * 0.8)


def _of(color: Color) -> _Canvas:
    return np.array(color, np.float32)


def _paint(canvas: _Canvas, where: Mask, color: _Canvas) -> None:
    """Colour (3,) or (H, W, 3) onto the points."""
    canvas[where] = color if color.ndim == 1 else color[where]


def _shrunk(mask: Mask, pixels: int) -> Mask:
    """Without the points that are nearer to the edge than some pixels."""
    inner = mask.copy()
    for axis in (0, 1):
        inner &= np.roll(mask, pixels, axis) & np.roll(mask, -pixels, axis)
    return inner


def _blurred(mask: Mask) -> Grid:
    """Means over squares, by sums along both axes."""
    values = mask.astype(np.float32)
    for axis in (0, 1):
        values = np.sum([np.roll(values, step, axis) for step in range(-6, 7, 2)], axis=0) / np.float32(7)
    return values
