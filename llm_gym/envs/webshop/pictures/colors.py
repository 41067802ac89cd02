"""Colours by their names."""

from __future__ import annotations

import re
from collections.abc import Mapping

Color = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""

NAMED: Mapping[str, Color] = {
    **{"black": (36, 36, 40), "white": (242, 242, 240), "blue": (48, 94, 200), "red": (204, 40, 44)},
    **{"pink": (240, 140, 176), "green": (52, 146, 74), "grey": (138, 140, 144), "gray": (138, 140, 144)},
    **{"brown": (122, 78, 44), "purple": (124, 62, 164), "navy": (28, 40, 92), "beige": (222, 204, 172)},
    **{"yellow": (244, 208, 44), "khaki": (176, 160, 112), "gold": (212, 168, 60), "silver": (190, 194, 200)},
    **{"orange": (240, 130, 36), "burgundy": (116, 24, 48), "wine": (110, 26, 56), "teal": (20, 128, 132)},
    **{"ivory": (246, 240, 222), "coffee": (94, 62, 42), "champagne": (236, 216, 178), "charcoal": (62, 66, 72)},
    **{"camel": (192, 148, 96), "turquoise": (52, 196, 194), "lavender": (186, 166, 226), "mint": (166, 226, 196)},
    **{"olive": (112, 116, 48), "coral": (246, 122, 96), "walnut": (98, 64, 40), "natural": (214, 182, 136)},
    **{"bronze": (160, 108, 60), "cream": (248, 236, 204), "taupe": (150, 132, 116), "mustard": (206, 160, 36)},
    **{"rust": (174, 78, 38), "sage": (154, 174, 140), "lilac": (200, 162, 210), "aqua": (100, 214, 220)},
    **{"fuchsia": (222, 40, 140), "espresso": (66, 42, 32), "nude": (228, 190, 164), "peach": (250, 190, 154)},
    **{"plum": (108, 40, 90), "maroon": (110, 22, 32), "chocolate": (84, 50, 32), "rose": (226, 150, 140)},
    **{"strawberry": (228, 70, 90), "blueberry": (76, 84, 160), "lemon": (246, 226, 80), "honey": (226, 164, 54)},
    **{"mango": (248, 172, 60), "caramel": (196, 128, 60), "apple": (148, 190, 70), "cherry": (166, 24, 46)},
    **{"raspberry": (204, 44, 98), "vanilla": (246, 230, 190), "matcha": (150, 176, 92), "coconut": (244, 240, 232)},
    **{"multicolor": (206, 96, 150), "rainbow": (232, 110, 90), "jasmine": (250, 236, 176), "wood": (162, 112, 66)},
    **{"charred": (50, 44, 42), "copper": (190, 108, 70), "denim": (70, 98, 150), "bamboo": (214, 190, 120)},
}
_TOWARDS: Mapping[str, tuple[Color, float]] = {
    **dict.fromkeys(("dark", "deep", "midnight", "forest", "espresso"), ((10, 10, 14), 0.4)),
    **dict.fromkeys(("light", "pale", "baby", "pearl", "cloud", "sky"), ((255, 255, 255), 0.45)),
    **dict.fromkeys(("washed", "dusty", "ash", "smoky", "vintage", "heather", "antique"), ((150, 148, 146), 0.4)),
    **dict.fromkeys(("warm", "brick", "hot", "cherry"), ((240, 90, 40), 0.2)),
    **dict.fromkeys(("cool", "lake", "sea", "royal"), ((40, 90, 220), 0.2)),
    **dict.fromkeys(("army", "moss"), ((90, 100, 50), 0.25)),
}
_WORD = re.compile(r"[a-z]+")


def mixed(color: Color, other: Color, share: float) -> Color:
    """A colour with a share of another.

    >>> mixed((0, 0, 0), (200, 100, 50), 0.5)
    (100, 50, 25)
    """
    red, green, blue = (round((1 - share) * mine + share * theirs) for mine, theirs in zip(color, other, strict=True))
    return red, green, blue


def colors_in(text: str) -> list[Color]:
    """The colours that a text names, in its order; words such as "pale" change the one that follows.

    >>> colors_in("Black + Dark Gray shoes, size 9") == [NAMED["black"], mixed(NAMED["gray"], (10, 10, 14), 0.4)]
    True
    """
    found: list[Color] = []
    change: tuple[Color, float] | None = None
    for word in _WORD.findall(text.lower()):
        if word in NAMED and (word not in _TOWARDS or change is None):
            found.append(mixed(NAMED[word], *change) if change else NAMED[word])
            change = None
        else:
            change = _TOWARDS.get(word)
    return found
