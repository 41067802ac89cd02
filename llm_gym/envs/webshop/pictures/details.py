"""Visible parts and labels: what is drawn upon a thing, by the attribute that says so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from llm_gym.envs.webshop.pictures.shapes import Box, Line, Oval, Ring, Shape

DETAILS: Mapping[str, Sequence[Shape]] = {
    "zipper": [
        Line([(0.5, 0.24), (0.5, 0.8)], 0.025),
        *(Box(0.47, y, 0.53, y + 0.012) for y in (0.3, 0.4, 0.5, 0.6, 0.7)),
    ],
    "buttons": [*(Oval(0.5, y, 0.026, 0.026) for y in (0.32, 0.44, 0.56, 0.68, 0.8))],
    "pockets": [Box(0.31, 0.54, 0.46, 0.7, 0.02), Box(0.54, 0.54, 0.69, 0.7, 0.02)],
    "fringe": [
        *(Line([(x, 0.84), (x, 0.97)], 0.018) for x in (0.14, 0.22, 0.3, 0.38, 0.46, 0.54, 0.62, 0.7, 0.78, 0.86))
    ],
    "scallops": [*(Oval(x, 0.88, 0.05, 0.05) for x in (0.22, 0.31, 0.4, 0.5, 0.6, 0.69, 0.78))],
    "handle": [Ring(0.5, 0.2, 0.2, 0.16, 0.045)],
    "feet": [*(Box(x, 0.82, x + 0.05, 0.98) for x in (0.16, 0.79))],
    "wheels": [*(Oval(x, 0.94, 0.05, 0.05) for x in (0.28, 0.5, 0.72))],
    "display": [Box(0.38, 0.38, 0.62, 0.52, 0.02)],
    "port": [Box(0.62, 0.7, 0.74, 0.76, 0.02), Box(0.62, 0.8, 0.74, 0.84, 0.01)],
    "lights": [*(Oval(x, 0.62, 0.03, 0.03) for x in (0.3, 0.4, 0.5, 0.6, 0.7))],
    "straps": [Line([(0.34, 0.3), (0.4, 0.04)], 0.03), Line([(0.66, 0.3), (0.6, 0.04)], 0.03)],
    "hood": [Ring(0.5, 0.16, 0.17, 0.13, 0.06)],
    "collar": [Line([(0.38, 0.14), (0.5, 0.28), (0.62, 0.14)], 0.045)],
    "round": [Ring(0.5, 0.14, 0.13, 0.09, 0.03)],
    "sleeves": [Line([(0.16, 0.36), (0.06, 0.78)], 0.11), Line([(0.84, 0.36), (0.94, 0.78)], 0.11)],
    "magnet": [Ring(0.5, 0.5, 0.15, 0.15, 0.03)],
    "belt": [Box(0.28, 0.44, 0.72, 0.49)],
    "arm": [Line([(0.7, 0.5), (0.92, 0.36), (0.94, 0.16)], 0.04)],
    "trim": [Box(0.16, 0.8, 0.84, 0.84), Box(0.16, 0.18, 0.84, 0.21)],
    "sole": [Box(0.08, 0.76, 0.94, 0.86, 0.03)],
    "tray": [Box(0.2, 0.56, 0.8, 0.61), Box(0.46, 0.66, 0.54, 0.69)],
}

MARKED_BY: Mapping[str, str] = {
    word: name
    for name, words in {
        "zipper": "zipper zip zippers",
        "buttons": "button buttons snap",
        "pockets": "pocket pockets pouch cargo",
        "fringe": "tassel fringe raw",
        "scallops": "ruffle trim-lace lace scalloped hem overlay",
        "handle": "handle carry carrying hanging hook handled",
        "feet": "legs leg-metal feet",
        "wheels": "wheels rolling casters",
        "display": "display digital lcd touch",
        "port": "usb port ports hdmi plug output",
        "lights": "led rgb lights backlight indicator lamp",
        "straps": "strap straps spaghetti racer halter",
        "hood": "hood drawstring",
        "collar": "collar v notch lapel spread",
        "round": "crew round scoop neck",
        "sleeves": "sleeve sleeves cuff cuffs batwing bell",
        "magnet": "magnetic ring wireless",
        "belt": "waist waistband tie elastic",
        "arm": "arm adjustable tilt swivel",
        "trim": "contrast stitched bound edge edges reflective",
        "sole": "sole outsole insole toe rubber",
        "tray": "drawer drawers shelf shelves tray storage",
    }.items()
    for word in words.split()
}
"""Word of an attribute → the part that shows it."""

SEALS: Mapping[str, tuple[int, int, int]] = {
    "free": (60, 120, 216),
    "natural": (70, 160, 80),
    "proof": (40, 170, 180),
    "tested": (216, 170, 40),
    "fast": (230, 120, 40),
    "soft": (230, 130, 180),
}
"""Name → colour of the label that it is."""

LABELLED_BY: Mapping[str, str] = {
    word: name
    for name, words in {
        "free": "free low non zero reduced",
        "natural": "natural naturally organic vegan botanical plant eco whole herbal wheat recyclable",
        "proof": "proof resistant repellent waterproof ip67 safe anti",
        "tested": "tested certified approved rated licensed quality dermatologist heavy kosher",
        "fast": "fast quick rapid high ultra long instant",
        "soft": "soft sensitive gentle memory cushioned lightweight",
    }.items()
    for word in words.split()
}
"""Word of an attribute → the label on the package that claims it."""
