"""What part an attribute or an option plays in a sentence, guessed from its words."""

from __future__ import annotations

import re
from typing import Literal

Role = Literal["ease", "quality", "material", "purpose", "part"]
Flavour = Literal["color", "size", "pack", "taste", "scent", "style"]

_MATERIALS = """
alloy bamboo butter canvas cotton fabric faux fleece foam fur glass heather heathers lace latex leather linen
materials metal nylon oak oil plastic polyester rayon rubber satin silicone silk spandex steel suede velvet wax
wood wool
"""
_PURPOSES = """
boys camping care cleaning clubs decor family favors gaming gifting girls growth hair home hygiene kids lines
lounges loss makeup men nights office parties party pets removal room scalp skin styling teens theater travel
typing walls watching wear weddings whitening women work workout yoga
"""
_QUALITIES = """
approved assembled based bristled certified compatible duty fit free friendly gmo grade lasting licensed light
mounted organic plated proof quality resistant safe sided size slim slip soft speed tested thin toxic vegan wash
weight wrapped
"""
_WORDS: tuple[tuple[Role, frozenset[str]], ...] = (
    ("material", frozenset(_MATERIALS.split())),
    ("purpose", frozenset(_PURPOSES.split())),
    ("quality", frozenset(_QUALITIES.split())),
)
_PACK = re.compile(r"\b(?:packs?|count|pcs|pieces?|set of)\b")
_FLAVOURS: tuple[tuple[str, Flavour], ...] = (
    ("color", "color"),
    ("colour", "color"),
    ("flavo", "taste"),
    ("taste", "taste"),
    ("scent", "scent"),
    ("fragrance", "scent"),
)


def role_of(attribute: str) -> Role:
    """How a sentence can hold an attribute.

    >>> [role_of(one) for one in ("easy clean", "gluten free", "solid wood", "dry skin", "usb port")]
    ['ease', 'quality', 'material', 'purpose', 'part']
    """
    words = attribute.split()
    if words[0] == "easy":
        return "ease"
    listed: Role = "quality" if re.search(r"..(?:ed|ing|able)$", words[-1]) else "part"
    return next((role for role, last_words in _WORDS if words[-1] in last_words), listed)


def flavour_of(name: str, value: str) -> Flavour:
    """What an option is about.

    >>> flavour_of("color", "red"), flavour_of("size", "12 ounce (pack of 2)"), flavour_of("fit type", "men")
    ('color', 'pack', 'style')
    """
    found = next((flavour for part, flavour in _FLAVOURS if part in name), None)
    if found:
        return found
    if _PACK.search(value):
        return "pack"
    return "size" if "size" in name else "style"
