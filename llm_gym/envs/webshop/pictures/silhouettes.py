"""Outlines of things: what a product looks like from afar, by the words it is called by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_gym.envs.webshop.pictures.shapes import Box, Line, Oval, Polygon, Ring, Shape


def _legs(top: float, *at: float, width: float = 0.04) -> list[Shape]:
    return [Box(x - width / 2, top, x + width / 2, 0.92) for x in at]


def _mirrored(*points: tuple[float, float]) -> Polygon:
    """The outline whose right half these points are, from top to bottom."""
    return Polygon([*points, *((1 - x, y) for x, y in reversed(points))])


SILHOUETTES: Mapping[str, Sequence[Shape]] = {
    # Clothes
    "shirt": [_mirrored((0.6, 0.14), (0.72, 0.18), (0.94, 0.42), (0.82, 0.5), (0.72, 0.4), (0.72, 0.9))],
    "sweater": [_mirrored((0.6, 0.12), (0.74, 0.18), (0.92, 0.8), (0.8, 0.84), (0.73, 0.5), (0.74, 0.92))],
    "tank": [_mirrored((0.56, 0.3), (0.6, 0.12), (0.66, 0.12), (0.7, 0.38), (0.72, 0.9))],
    "dress": [_mirrored((0.58, 0.1), (0.66, 0.12), (0.64, 0.3), (0.6, 0.44), (0.82, 0.92))],
    "robe": [_mirrored((0.58, 0.08), (0.74, 0.16), (0.9, 0.58), (0.78, 0.62), (0.72, 0.48), (0.76, 0.95))],
    "overall": [_mirrored((0.55, 0.1), (0.64, 0.1), (0.66, 0.42), (0.7, 0.94), (0.54, 0.94), (0.5, 0.58))],
    "trousers": [_mirrored((0.66, 0.08), (0.74, 0.94), (0.57, 0.94), (0.5, 0.34))],
    "shorts": [_mirrored((0.7, 0.22), (0.82, 0.76), (0.55, 0.8), (0.5, 0.48))],
    "skirt": [_mirrored((0.64, 0.2), (0.84, 0.84))],
    "briefs": [_mirrored((0.8, 0.3), (0.8, 0.46), (0.58, 0.74))],
    "bikini": [
        Oval(0.36, 0.34, 0.14, 0.12),
        Oval(0.64, 0.34, 0.14, 0.12),
        _mirrored((0.78, 0.62), (0.76, 0.7), (0.55, 0.88)),
        Line([(0.36, 0.24), (0.5, 0.08), (0.64, 0.24)], 0.02),
    ],
    "shoe": [Polygon([(0.1, 0.72), (0.1, 0.4), (0.32, 0.4), (0.5, 0.54), (0.82, 0.6), (0.93, 0.72)])],
    "boot": [Polygon([(0.2, 0.85), (0.2, 0.14), (0.52, 0.14), (0.54, 0.54), (0.84, 0.66), (0.9, 0.85)])],
    "heel": [
        Polygon([(0.1, 0.86), (0.12, 0.3), (0.3, 0.42), (0.62, 0.68), (0.94, 0.78), (0.94, 0.86), (0.6, 0.84)]),
        Polygon([(0.12, 0.3), (0.3, 0.42), (0.24, 0.6), (0.17, 0.86), (0.12, 0.86)]),
    ],
    "sandal": [Oval(0.5, 0.72, 0.42, 0.1), Line([(0.3, 0.7), (0.5, 0.44), (0.7, 0.7)], 0.07)],
    "hat": [Oval(0.5, 0.66, 0.44, 0.09), _mirrored((0.6, 0.26), (0.7, 0.38), (0.72, 0.66))],
    "glove": [Box(0.32, 0.4, 0.66, 0.92, 0.1), *(Box(x, 0.12, x + 0.07, 0.5, 0.03) for x in (0.32, 0.41, 0.5, 0.59))],
    "sock": [Polygon([(0.36, 0.08), (0.62, 0.08), (0.62, 0.56), (0.86, 0.74), (0.8, 0.9), (0.56, 0.88), (0.36, 0.62)])],
    "tie": [_mirrored((0.56, 0.06), (0.54, 0.16), (0.6, 0.78), (0.5, 0.95))],
    "belt": [Ring(0.5, 0.5, 0.42, 0.3, 0.09), Box(0.42, 0.7, 0.58, 0.86, 0.02)],
    "ring": [Ring(0.34, 0.5, 0.16, 0.2, 0.04), Ring(0.68, 0.5, 0.16, 0.2, 0.04)],
    # Beauty
    "bottle": [Box(0.42, 0.06, 0.58, 0.2, 0.02), Box(0.46, 0.18, 0.54, 0.3), Box(0.3, 0.28, 0.7, 0.94, 0.08)],
    "perfume": [Box(0.42, 0.12, 0.58, 0.32, 0.02), Box(0.24, 0.34, 0.76, 0.92, 0.05)],
    "spray": [Box(0.38, 0.06, 0.62, 0.22, 0.05), Box(0.36, 0.24, 0.64, 0.94, 0.05)],
    "jar": [Box(0.18, 0.24, 0.82, 0.4, 0.03), Box(0.2, 0.42, 0.8, 0.86, 0.1)],
    "tube": [_mirrored((0.68, 0.08), (0.62, 0.76)), Box(0.4, 0.78, 0.6, 0.94, 0.02)],
    "dropper": [Oval(0.5, 0.14, 0.09, 0.11), Box(0.4, 0.22, 0.6, 0.36, 0.02), Box(0.32, 0.38, 0.68, 0.92, 0.1)],
    "lipstick": [Polygon([(0.42, 0.46), (0.42, 0.16), (0.58, 0.08), (0.58, 0.46)]), Box(0.36, 0.48, 0.64, 0.92, 0.02)],
    "polish": [Box(0.4, 0.06, 0.6, 0.5, 0.03), Box(0.26, 0.52, 0.74, 0.92, 0.12)],
    "nails": [*(Box(x, 0.3, x + 0.13, 0.74, 0.06) for x in (0.1, 0.27, 0.44, 0.61, 0.78))],
    "brush": [
        Line([(0.5, 0.94), (0.5, 0.46)], 0.09),
        Box(0.42, 0.34, 0.58, 0.46),
        _mirrored((0.54, 0.08), (0.66, 0.2), (0.58, 0.34)),
    ],
    "toothbrush": [
        Line([(0.2, 0.9), (0.72, 0.3)], 0.07),
        Polygon([(0.62, 0.32), (0.8, 0.1), (0.9, 0.2), (0.74, 0.42)]),
    ],
    "floss": [Box(0.24, 0.3, 0.76, 0.88, 0.14), Line([(0.5, 0.3), (0.62, 0.14), (0.84, 0.12)], 0.02)],
    "sponge": [_mirrored((0.53, 0.12), (0.66, 0.36), (0.76, 0.66), (0.68, 0.84), (0.56, 0.9))],
    "iron": [Line([(0.14, 0.86), (0.84, 0.2)], 0.1), Line([(0.26, 0.92), (0.9, 0.3)], 0.08)],
    "wand": [Line([(0.16, 0.86), (0.46, 0.56)], 0.14), Line([(0.5, 0.52), (0.88, 0.14)], 0.09)],
    "dryer": [Oval(0.44, 0.34, 0.26, 0.2), Box(0.62, 0.24, 0.9, 0.44, 0.02), Line([(0.42, 0.5), (0.5, 0.9)], 0.12)],
    "hair": [
        Oval(0.5, 0.32, 0.26, 0.22),
        Polygon(
            [
                (0.24, 0.32),
                (0.76, 0.32),
                (0.86, 0.92),
                (0.66, 0.86),
                (0.64, 0.42),
                (0.36, 0.42),
                (0.34, 0.86),
                (0.14, 0.92),
            ]
        ),
    ],
    "ponytail": [
        Box(0.4, 0.08, 0.6, 0.18, 0.04),
        Polygon([(0.42, 0.18), (0.6, 0.18), (0.76, 0.46), (0.64, 0.94), (0.4, 0.8), (0.32, 0.46)]),
    ],
    "razor": [Box(0.24, 0.1, 0.76, 0.26, 0.03), Line([(0.5, 0.26), (0.5, 0.92)], 0.1)],
    "shaver": [Box(0.34, 0.3, 0.66, 0.94, 0.12), *(Oval(x, 0.2, 0.1, 0.09) for x in (0.36, 0.5, 0.64))],
    "clip": [Polygon([(0.12, 0.5), (0.84, 0.34), (0.9, 0.46), (0.88, 0.58)]), Oval(0.2, 0.52, 0.1, 0.12)],
    "bag": [Box(0.14, 0.36, 0.86, 0.88, 0.1), Ring(0.5, 0.38, 0.2, 0.22, 0.05)],
    "pouch": [Box(0.12, 0.3, 0.88, 0.82, 0.14)],
    "backpack": [Box(0.24, 0.2, 0.76, 0.92, 0.16), Box(0.32, 0.56, 0.68, 0.84, 0.05), Ring(0.5, 0.18, 0.1, 0.1, 0.03)],
    "chest": [Box(0.12, 0.28, 0.88, 0.86, 0.03), Box(0.42, 0.16, 0.58, 0.3, 0.03)],
    # Food
    "packet": [
        Polygon(
            [(0.22, 0.1), (0.78, 0.1), (0.74, 0.2), (0.8, 0.88), (0.76, 0.94), (0.24, 0.94), (0.2, 0.88), (0.26, 0.2)]
        )
    ],
    "carton": [Box(0.26, 0.14, 0.74, 0.92), Polygon([(0.26, 0.14), (0.36, 0.05), (0.84, 0.05), (0.74, 0.14)])],
    "bar": [Polygon([(0.1, 0.6), (0.78, 0.28), (0.92, 0.44), (0.24, 0.78)])],
    "sticks": [*(Line([(x, 0.86), (x + 0.16, 0.16)], 0.08) for x in (0.2, 0.36, 0.52, 0.68))],
    "cookie": [Oval(0.36, 0.42, 0.25, 0.25), Oval(0.66, 0.66, 0.25, 0.25)],
    "cracker": [Box(0.14, 0.2, 0.56, 0.62, 0.02), Box(0.42, 0.42, 0.86, 0.86, 0.02)],
    "cake": [Polygon([(0.24, 0.54), (0.76, 0.54), (0.68, 0.92), (0.32, 0.92)]), Oval(0.5, 0.42, 0.32, 0.2)],
    "sweets": [
        *(
            Oval(x, y, 0.1, 0.1)
            for x, y in ((0.3, 0.34), (0.54, 0.26), (0.74, 0.44), (0.4, 0.6), (0.64, 0.7), (0.26, 0.8))
        )
    ],
    "nuts": [
        *(
            Oval(x, y, 0.09, 0.13)
            for x, y in ((0.28, 0.3), (0.5, 0.24), (0.72, 0.34), (0.36, 0.56), (0.6, 0.54), (0.46, 0.8), (0.72, 0.76))
        )
    ],
    "can": [Oval(0.5, 0.34, 0.34, 0.1), Box(0.16, 0.34, 0.84, 0.72), Oval(0.5, 0.72, 0.34, 0.1)],
    "shaker": [Box(0.38, 0.12, 0.62, 0.28, 0.06), Box(0.34, 0.3, 0.66, 0.92, 0.04)],
    "cup": [_mirrored((0.74, 0.3), (0.66, 0.86)), Ring(0.78, 0.52, 0.13, 0.15, 0.05)],
    # Electronics
    "phone": [Box(0.28, 0.06, 0.72, 0.94, 0.08)],
    "wallet": [Box(0.1, 0.14, 0.49, 0.88, 0.05), Box(0.51, 0.14, 0.9, 0.88, 0.05)],
    "tablet": [Box(0.1, 0.2, 0.9, 0.8, 0.05)],
    "headphones": [
        Ring(0.5, 0.5, 0.38, 0.4, 0.06),
        Box(0.06, 0.46, 0.24, 0.82, 0.07),
        Box(0.76, 0.46, 0.94, 0.82, 0.07),
    ],
    "speaker": [Box(0.26, 0.1, 0.74, 0.92, 0.08)],
    "soundbar": [Box(0.04, 0.42, 0.96, 0.6, 0.05)],
    "radio": [Box(0.1, 0.34, 0.9, 0.86, 0.05), Line([(0.76, 0.34), (0.92, 0.08)], 0.025)],
    "microphone": [Oval(0.64, 0.28, 0.17, 0.17), Line([(0.56, 0.38), (0.2, 0.88)], 0.11)],
    "cable": [
        Line([(0.1, 0.2), (0.5, 0.2), (0.7, 0.36), (0.5, 0.52), (0.3, 0.68), (0.5, 0.84), (0.9, 0.84)], 0.05),
        Box(0.04, 0.13, 0.2, 0.27, 0.02),
        Box(0.82, 0.77, 0.97, 0.91, 0.02),
    ],
    "plug": [Box(0.28, 0.34, 0.72, 0.9, 0.08), Box(0.36, 0.12, 0.42, 0.36), Box(0.58, 0.12, 0.64, 0.36)],
    "keyboard": [
        *(
            Box(0.05 + 0.1 * column, 0.32 + 0.1 * row, 0.13 + 0.1 * column, 0.4 + 0.1 * row, 0.01)
            for row in range(3)
            for column in range(9)
        ),
        Box(0.05, 0.62, 0.95, 0.7, 0.01),
    ],
    "mouse": [Oval(0.5, 0.54, 0.24, 0.36)],
    "mat": [Polygon([(0.24, 0.34), (0.98, 0.34), (0.76, 0.76), (0.02, 0.76)])],
    "bullet": [Box(0.16, 0.3, 0.8, 0.56, 0.12), Line([(0.5, 0.56), (0.56, 0.86)], 0.06), Box(0.44, 0.84, 0.76, 0.92)],
    "dome": [Box(0.14, 0.3, 0.86, 0.46, 0.03), Oval(0.5, 0.48, 0.3, 0.34)],
    "camera": [Box(0.1, 0.3, 0.9, 0.82, 0.06), Box(0.36, 0.18, 0.64, 0.34, 0.03)],
    "tripod": [
        Box(0.4, 0.1, 0.6, 0.24, 0.02),
        *(Line([(0.5, 0.24), (x, 0.94)], 0.045) for x in (0.2, 0.5, 0.8)),
    ],
    "watch": [Box(0.42, 0.04, 0.58, 0.96, 0.04), Box(0.3, 0.32, 0.7, 0.68, 0.1)],
    "band": [
        Line([(0.5, 0.04), (0.5, 0.4)], 0.2),
        Line([(0.5, 0.6), (0.5, 0.96)], 0.2),
        Ring(0.5, 0.5, 0.14, 0.13, 0.04),
    ],
    "projector": [Box(0.08, 0.36, 0.92, 0.74, 0.08), Oval(0.28, 0.55, 0.15, 0.15)],
    "screen": [Box(0.06, 0.16, 0.94, 0.7, 0.02), Box(0.46, 0.7, 0.54, 0.86), Box(0.3, 0.86, 0.7, 0.92)],
    "antenna": [
        Box(0.34, 0.78, 0.66, 0.92, 0.03),
        Line([(0.42, 0.8), (0.14, 0.12)], 0.035),
        Line([(0.58, 0.8), (0.86, 0.12)], 0.035),
    ],
    "player": [Box(0.06, 0.44, 0.94, 0.64, 0.02), Box(0.12, 0.64, 0.22, 0.68), Box(0.78, 0.64, 0.88, 0.68)],
    "drone": [
        Box(0.38, 0.42, 0.62, 0.58, 0.05),
        *(Oval(x, y, 0.16, 0.06) for x in (0.2, 0.8) for y in (0.28, 0.72)),
        Line([(0.2, 0.28), (0.8, 0.72)], 0.03),
        Line([(0.8, 0.28), (0.2, 0.72)], 0.03),
    ],
    "flashlight": [Box(0.36, 0.06, 0.64, 0.34, 0.03), Box(0.42, 0.34, 0.58, 0.94, 0.04)],
    # Home
    "chair": [Box(0.3, 0.06, 0.7, 0.5, 0.08), Box(0.24, 0.52, 0.76, 0.64, 0.04), *_legs(0.64, 0.3, 0.5, 0.7)],
    "gamingchair": [
        _mirrored((0.62, 0.03), (0.7, 0.2), (0.66, 0.54)),
        Box(0.2, 0.42, 0.28, 0.6),
        Box(0.72, 0.42, 0.8, 0.6),
        Box(0.22, 0.56, 0.78, 0.68, 0.04),
        *_legs(0.68, 0.5, width=0.07),
        Box(0.24, 0.86, 0.76, 0.92),
    ],
    "stool": [
        Oval(0.5, 0.3, 0.3, 0.08),
        *(Line([(x, 0.34), (z, 0.92)], 0.045) for x, z in ((0.36, 0.26), (0.5, 0.5), (0.64, 0.74))),
    ],
    "table": [Box(0.08, 0.4, 0.92, 0.5, 0.02), *_legs(0.5, 0.16, 0.84, width=0.06)],
    "roundtable": [Oval(0.5, 0.36, 0.4, 0.1), *_legs(0.4, 0.5, width=0.07), Oval(0.5, 0.9, 0.22, 0.05)],
    "nightstand": [Box(0.22, 0.24, 0.78, 0.8, 0.02), *_legs(0.8, 0.28, 0.72, width=0.06)],
    "cabinet": [Box(0.2, 0.08, 0.8, 0.92, 0.01)],
    "shelf": [
        Box(0.18, 0.06, 0.23, 0.94),
        Box(0.77, 0.06, 0.82, 0.94),
        *(Box(0.18, y, 0.82, y + 0.05) for y in (0.08, 0.34, 0.6, 0.86)),
    ],
    "rack": [
        Line([(0.2, 0.94), (0.2, 0.08)], 0.03),
        Line([(0.8, 0.94), (0.8, 0.08)], 0.03),
        *(Box(0.14, y, 0.86, y + 0.04) for y in (0.26, 0.54, 0.82)),
    ],
    "bed": [
        Box(0.06, 0.24, 0.14, 0.86),
        Box(0.1, 0.5, 0.94, 0.74, 0.03),
        Box(0.86, 0.5, 0.94, 0.86),
        Box(0.16, 0.4, 0.38, 0.52, 0.05),
    ],
    "bunkbed": [
        Box(0.08, 0.08, 0.14, 0.94),
        Box(0.86, 0.08, 0.92, 0.94),
        Box(0.08, 0.26, 0.92, 0.36),
        Box(0.08, 0.68, 0.92, 0.78),
    ],
    "headboard": [_mirrored((0.7, 0.16), (0.94, 0.34), (0.94, 0.62)), *_legs(0.6, 0.1, 0.9, width=0.08)],
    "pillow": [
        Polygon([(0.1, 0.16), (0.5, 0.22), (0.9, 0.16), (0.84, 0.5), (0.9, 0.86), (0.5, 0.8), (0.1, 0.86), (0.16, 0.5)])
    ],
    "blanket": [Box(0.14, 0.2, 0.86, 0.86, 0.03), Box(0.1, 0.14, 0.9, 0.3, 0.06)],
    "rug": [Box(0.08, 0.22, 0.92, 0.8, 0.01)],
    "runner": [Box(0.02, 0.38, 0.98, 0.64, 0.01)],
    "curtain": [Box(0.04, 0.06, 0.96, 0.1), _mirrored((0.56, 0.1), (0.9, 0.1), (0.9, 0.94), (0.66, 0.94))],
    "blind": [
        Box(0.14, 0.06, 0.86, 0.14),
        *(Box(0.16, y, 0.84, y + 0.05) for y in (0.18, 0.27, 0.36, 0.45, 0.54, 0.63, 0.72, 0.81)),
    ],
    "lamp": [_mirrored((0.62, 0.1), (0.76, 0.44)), Box(0.47, 0.44, 0.53, 0.84), Oval(0.5, 0.88, 0.2, 0.06)],
    "floorlamp": [_mirrored((0.6, 0.05), (0.68, 0.24)), Box(0.48, 0.24, 0.52, 0.9), Oval(0.5, 0.92, 0.18, 0.04)],
    "pendant": [Box(0.48, 0.02, 0.52, 0.4), _mirrored((0.56, 0.38), (0.84, 0.74))],
    "mirror": [Ring(0.5, 0.5, 0.36, 0.42, 0.07)],
    "painting": [Box(0.12, 0.16, 0.88, 0.84)],
    "candle": [Box(0.34, 0.34, 0.66, 0.9, 0.03), Oval(0.5, 0.22, 0.05, 0.09)],
    "plant": [
        Polygon([(0.34, 0.66), (0.66, 0.66), (0.6, 0.94), (0.4, 0.94)]),
        *(Line([(0.5, 0.66), (x, y)], 0.09) for x, y in ((0.2, 0.3), (0.38, 0.12), (0.62, 0.12), (0.8, 0.3))),
    ],
    "tent": [_mirrored((0.52, 0.12), (0.94, 0.86))],
    "clock": [Oval(0.5, 0.5, 0.4, 0.4)],
    "parcel": [Box(0.14, 0.26, 0.86, 0.86), Box(0.46, 0.14, 0.54, 0.86)],
}
"""Name → shapes that make up the thing. Lines of the picture's own size are about 0.03 wide."""

CALLED: Mapping[str, str] = {
    word: name
    for name, words in {
        "shirt": "shirt shirts tee tees polo polos blouse blouses tunic tunics women top tops scrubs",
        "sweater": "hoodie hoodies sweatshirt sweatshirts jacket jackets cardigan cardigans sweater coat suit suits",
        "tank": "tank tanks cami camis vest vests",
        "dress": "dress dresses gown formal nightgown",
        "robe": "robe robes sleep sleepwear pajama pajamas kimono",
        "overall": "jumpsuit jumpsuits romper rompers overalls",
        "trousers": "pants jeans leggings joggers trousers",
        "shorts": "shorts trunks athletic",
        "skirt": "skirt skirts skort",
        "briefs": "underwear briefs boxers",
        "bikini": "bikini bikinis lingerie bra bralette swimsuit",
        "shoe": "sneaker sneakers running oxford oxfords loafers shoes",
        "boot": "boot boots chukka safety",
        "heel": "pumps heels",
        "sandal": "sandal sandals flats slippers slides",
        "hat": "hat hats cap caps wig-caps",
        "glove": "glove gloves",
        "sock": "sock socks",
        "tie": "necktie neckties",
        "belt": "belt belts",
        "ring": "earrings earring",
        "bottle": "shampoo shampoos conditioner bottle lotion lotions oils vinegars syrup syrups washes tanners water",
        "perfume": "parfum perfume cologne toilette",
        "spray": "spray sprays mist atomizer atomizers deodorant",
        "jar": "jar jars cream creams mask conditioners balms moisturizers dips pickles lip-balms lip-balm",
        "tube": "toothpaste gloss glosses aftershave ink lip-glosses lip-gloss",
        "dropper": "serum serums treatments oil",
        "lipstick": "lipstick lipsticks lip",
        "polish": "polish lacquer",
        "nails": "nails",
        "brush": "brush brushes brow eyelash",
        "toothbrush": "toothbrush toothbrushes tongue",
        "floss": "floss",
        "sponge": "sponge sponges",
        "iron": "straightening straightener",
        "wand": "curling curler",
        "dryer": "dryer dryers hair-dryer",
        "hair": "wig wigs extensions extension hair-extensions hair-extension",
        "ponytail": "ponytail ponytails hair-bun",
        "razor": "razor razors safety-razor",
        "shaver": "shaver shavers trimmer clippers beard nail-tools hair-clippers",
        "clip": "clip clips clipper",
        "bag": "toiletry handbag handbags bag crossbody",
        "pouch": "cosmetic pouch",
        "backpack": "backpack lens camera-cases camera-bags",
        "chest": "organizer train storage tools kit kits box nail-storage polish-organizer",
        "packet": "chips crisps gummies gummy snack snacks mix mixes noodles seaweed",
        "carton": "tea coffee cereal powdered powder powders",
        "bar": "chocolate nutrition chocolate-bars",
        "sticks": "jerky styluses stylus pencils",
        "cookie": "cookies cookie",
        "cracker": "cracker crackers",
        "cake": "cake cakes cupcake",
        "sweets": "candy bombs bath",
        "nuts": "mixed seeds fruits nuts trail dried trail-mix trail-mixes",
        "can": "seafood can canned",
        "shaker": "spices spice sauce sauces sugars sweeteners",
        "cup": "cup mug",
        "phone": "phone basic protectors protector",
        "wallet": "flip wallet folio",
        "tablet": "tablet tablets graphics",
        "headphones": "headphones earbud earbuds headset headsets",
        "speaker": "speaker speakers bluetooth karaoke",
        "soundbar": "soundbar bars sound-bars sound-bar",
        "radio": "radio radios scanner",
        "microphone": "microphone",
        "cable": "cable cables",
        "plug": "adapter adapters charger chargers surge ac docks power-banks surge-protectors",
        "keyboard": "keyboard keyboards memory",
        "mouse": "mouse mice",
        "mat": "pads pad mousepad mouse-pads mouse-pad",
        "bullet": "bullet bullet-cameras",
        "dome": "dome dome-cameras doorbell doorbells",
        "camera": "camera cameras cams",
        "tripod": "tripod tripods stand stands mounts mount",
        "watch": "smartwatch smartwatches tracker trackers watch",
        "band": "bands band strap",
        "projector": "projector projectors",
        "screen": "screen screens monitor monitors tv projection-screens",
        "antenna": "antenna antennas",
        "player": "dvd player players turntable turntables streaming",
        "drone": "drone drones detector detectors",
        "flashlight": "lighting flashlight",
        "chair": "chair chairs",
        "gamingchair": "gaming gaming-chairs",
        "stool": "stool stools",
        "table": "table tables desk vanity vanities",
        "roundtable": "end end-tables",
        "nightstand": "nightstand nightstands",
        "cabinet": "cabinet cabinets sliding",
        "shelf": "bookcase bookcases shelf shelves",
        "rack": "rack racks caddies baker",
        "bed": "bed beds mattress mattresses frames bed-frames",
        "bunkbed": "bunk loft bunk-beds",
        "headboard": "headboard headboards",
        "pillow": "pillow pillows cushion cushions",
        "blanket": "blanket throw throws comforter comforters",
        "rug": "rug rugs",
        "runner": "runner runners",
        "curtain": "curtain curtains panels sheers",
        "blind": "blind blinds shades",
        "lamp": "lamp lamps",
        "floorlamp": "floor floor-lamps",
        "pendant": "pendant ceiling pendant-lights wall-lights",
        "mirror": "mirror mirrors",
        "painting": "painting paintings poster posters prints",
        "candle": "candle candles",
        "plant": "plant plants",
        "tent": "tent tents",
        "clock": "clock clocks",
    }.items()
    for word in words.split()
}
"""Word → name of the outline; a thing that is called nothing of these is a parcel."""
