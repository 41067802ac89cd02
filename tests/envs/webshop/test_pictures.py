"""Drawn pictures: what of a product they show, and that they are the same on every machine."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_gym.envs.webshop.catalogue import Catalogue
from llm_gym.envs.webshop.pictures import SIZE, Look, as_png, draw, look_of, picture_of
from llm_gym.envs.webshop.pictures.colors import NAMED
from llm_gym.envs.webshop.pictures.details import DETAILS, LABELLED_BY, MARKED_BY, SEALS
from llm_gym.envs.webshop.pictures.shapes import Box, Line, Oval, Polygon, Ring, Shape, covered
from llm_gym.envs.webshop.pictures.silhouettes import CALLED, SILHOUETTES
from llm_gym.envs.webshop.pictures.surfaces import PATTERNS, SHOWN_BY
from llm_gym.envs.webshop.product import Product

PLAIN = Look(
    outline="rug",
    width=1.0,
    height=1.0,
    color=(200, 40, 40),
    second=(20, 20, 160),
    pattern=None,
    details=(),
    seals=(),
    pieces=1,
    background=(250, 250, 250),
    chance=1,
)


def changed(look: Look, **changes: Any) -> Look:
    return Look(**{name: getattr(look, name) for name in Look.__slots__} | changes)


def product(title: str = "a thing", **changes: Any) -> Product:
    plain: dict[str, Any] = {
        "asin": "B000000001",
        "title": title,
        "description": "",
        "bullets": (),
        "pricing": (15.0,),
        "options": {},
        "option_images": {},
        "attributes": (),
        "main_image": "",
        "category": "garden",
        "query": "things",
        "product_category": "",
        "title_nouns": (),
    }
    return Product(**plain | changes)


# -- shapes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "inside", "outside"),
    [
        (Box(0.2, 0.4, 0.6, 0.8), [(0.21, 0.41), (0.59, 0.79), (0.4, 0.6)], [(0.1, 0.6), (0.4, 0.81), (0.7, 0.9)]),
        (Box(0, 0, 1, 1, 0.5), [(0.5, 0.01), (0.14, 0.5), (0.2, 0.2)], [(0.1, 0.1), (0.95, 0.95)]),
        (Oval(0.5, 0.5, 0.4, 0.1), [(0.11, 0.5), (0.5, 0.59)], [(0.5, 0.61), (0.12, 0.55)]),
        (Polygon([(0, 0), (1, 0), (0, 1)]), [(0.1, 0.1), (0.45, 0.5), (0.1, 0.85)], [(0.6, 0.5), (-0.1, 0.5)]),
        (Line([(0.1, 0.5), (0.9, 0.5)], 0.2), [(0.02, 0.5), (0.5, 0.59), (0.98, 0.5)], [(0.5, 0.61), (0.02, 0.58)]),
        (Line([(0, 0), (0.5, 0), (0.5, 1)], 0.02), [(0.25, 0), (0.5, 0.7)], [(0.25, 0.5), (0.25, 0.02)]),
        (Ring(0.5, 0.5, 0.4, 0.4, 0.1), [(0.5, 0.15), (0.85, 0.5)], [(0.5, 0.5), (0.5, 0.25), (0.5, 0.05)]),
    ],
)
def test_shapes_cover_what_lies_in_them(
    shape: Shape, inside: list[tuple[float, float]], outside: list[tuple[float, float]]
) -> None:
    x, y = np.array([*inside, *outside], np.float32).T
    assert shape.covers(x, y).tolist() == [True] * len(inside) + [False] * len(outside)


def test_several_shapes_cover_what_any_of_them_does() -> None:
    x, y = np.array([[0.1, 0.5, 0.9], [0.5] * 3], np.float32)
    assert covered([Oval(0.1, 0.5, 0.05, 0.05), Oval(0.9, 0.5, 0.05, 0.05)], x, y).tolist() == [True, False, True]
    assert covered([], x, y).tolist() == [False] * 3


def points() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    ticks: npt.NDArray[np.float32] = ((np.arange(48) + 0.5) / 48).astype(np.float32)
    x, y = np.meshgrid(ticks, ticks)
    return x, y


@pytest.mark.parametrize("name", sorted(SILHOUETTES))
def test_an_outline_is_neither_a_speck_nor_everything(name: str) -> None:
    assert 0.03 < covered(SILHOUETTES[name], *points()).mean() < 0.8


def test_no_two_outlines_are_alike() -> None:
    masks = {name: covered(shapes, *points()) for name, shapes in SILHOUETTES.items()}
    alike = [
        (one, other)
        for one in masks
        for other in masks
        if one < other and (masks[one] != masks[other]).sum() < 0.06 * (masks[one] | masks[other]).sum()
    ]
    assert not alike


@pytest.mark.parametrize("name", sorted(PATTERNS))
def test_a_pattern_shows_both_colours_and_repeats_itself(name: str) -> None:
    share, again = (PATTERNS[name](*points(), np.random.default_rng(3)) for _ in range(2))
    assert share.shape == (48, 48)
    assert share.min() >= -1e-6
    assert share.max() <= 1 + 1e-6
    assert share.std() > 0.04
    assert np.array_equal(share, again)


def test_every_word_leads_to_something_that_can_be_drawn() -> None:
    for words, drawn in ((CALLED, SILHOUETTES), (SHOWN_BY, PATTERNS), (MARKED_BY, DETAILS), (LABELLED_BY, SEALS)):
        assert set(words.values()) <= set(drawn)


# -- what a product looks like -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chain", "title", "query", "outline"),
    [
        ("Home › Bedding › Throw Pillow Covers", "soft rug", "rugs", "pillow"),
        ("Clothing › Men › Pants › Casual", "a thing", "things", "trousers"),
        ("Clothing › Women › Dresses › Casual", "a thing", "things", "dress"),
        ("Tools › Lighting › Lamps & Shades › Floor Lamps", "a thing", "things", "floorlamp"),
        ("Tools › Lighting › Lamps & Shades › Table Lamps", "a thing", "things", "lamp"),
        ("Nothing › Known", "Velvet Cushion for a chair", "rugs", "pillow"),
        ("", "nothing known", "area rugs", "rug"),
        ("", "nothing known", "things", "parcel"),
    ],
)
def test_the_outline_is_of_the_leaf_then_of_the_title_then_of_the_query(
    chain: str, title: str, query: str, outline: str
) -> None:
    assert look_of(product(title, product_category=chain, query=query)).outline == outline


def test_the_colour_is_of_the_first_option_then_of_the_title_then_of_the_attributes() -> None:
    named: dict[str, Any] = {"attributes": ("rose gold",), "options": {"color": ("navy", "red")}}
    assert look_of(product("green lamp", **named)).color == NAMED["navy"]
    assert look_of(product("green lamp", **named | {"options": {"size": ("red",)}})).color == NAMED["green"]
    assert look_of(product("lamp", attributes=("bronze finish",))).color == NAMED["bronze"]
    assert look_of(product("black and white lamp")).second == NAMED["white"]


def test_things_whose_colour_nothing_names_differ_in_colour() -> None:
    colors = Counter(look_of(product(asin=f"B{number:09}")).color for number in range(400))
    assert len(colors) == 8
    assert min(colors.values()) > 20


@pytest.mark.parametrize(
    ("attributes", "title", "pattern"),
    [
        (("leopard print",), "shirt", "spots"),
        (("machine wash", "cable knit"), "wooden shirt", "cable"),
        (("tea tree",), "plaid shirt", "leaves"),
        (("machine wash",), "plaid shirt", "plaid"),
        ((), "shirt", None),
    ],
)
def test_a_pattern_is_shown_although_only_an_attribute_tells_of_it(
    attributes: tuple[str, ...], title: str, pattern: str | None
) -> None:
    assert look_of(product(title, attributes=attributes)).pattern == pattern


def test_parts_and_labels_come_from_the_attributes() -> None:
    look = look_of(product(attributes=("hidden zipper", "v neck", "paraben free", "water resistant", "metal legs")))
    assert look.details == ("zipper", "collar", "feet")
    assert look.seals == ("free", "proof")


def test_a_pack_shows_its_pieces_up_to_twelve() -> None:
    sold = {"size": ("8 ounce (pack of 4)", "pack of 2")}
    assert look_of(product("Cookies, Pack of 3", options=sold)).pieces == 3
    assert look_of(product("Cookies", options=sold)).pieces == 4
    assert look_of(product("Cookies, 100 count")).pieces == 12
    assert look_of(product("Cookies 0 pack")).pieces == 1
    assert look_of(product("Cookies")).pieces == 1


def test_equal_things_differ_as_two_photographs_do() -> None:
    one, two = (look_of(product("red rug", asin=asin)) for asin in ("B000000001", "B000000002"))
    assert changed(one, chance=0) == changed(two, chance=0)
    assert not np.array_equal(draw(one), draw(two))


def test_price_and_sizes_are_not_in_the_picture() -> None:
    cheap = product("red rug", options={"size": ("2 x 3", "4 x 6")})
    dear = product("red rug", options={"size": ("8 x 10",)}, pricing=(900.0,))
    assert np.array_equal(picture_of(cheap), picture_of(dear))


def test_most_invented_products_are_known_by_their_outline() -> None:
    looks = [look_of(one) for one in Catalogue.open().store]
    outlines = Counter(look.outline for look in looks)
    assert outlines["parcel"] < 0.02 * len(looks)
    assert outlines.most_common(1)[0][1] < 0.1 * len(looks)
    assert sum(look.pattern is not None for look in looks) > 0.4 * len(looks)


# -- the picture ---------------------------------------------------------------------------------------------------


def test_a_picture_shows_the_thing_in_its_colour_before_its_background() -> None:
    picture = draw(PLAIN)
    assert picture.shape == (SIZE, SIZE, 3)
    assert picture.dtype == np.uint8
    red, green, blue = picture[SIZE // 2, SIZE // 2].astype(int)
    assert red > 150
    assert red > 3 * green
    assert abs(green - blue) <= 2
    assert picture[2, 2].min() > 225


def test_a_picture_is_drawn_alike_every_time() -> None:
    assert np.array_equal(draw(PLAIN), draw(PLAIN))


@pytest.mark.parametrize(
    "changes",
    [
        {"outline": "dress"},
        {"width": 0.8},
        {"color": (40, 200, 40)},
        {"pattern": "plaid"},
        {"details": ("zipper",)},
        {"seals": ("free",)},
        {"pieces": 4},
        {"background": (230, 240, 250)},
    ],
)
def test_all_that_a_look_says_is_seen(changes: dict[str, Any]) -> None:
    difference = np.abs(draw(PLAIN).astype(int) - draw(changed(PLAIN, **changes)).astype(int)).sum(axis=2)
    assert (difference > 20).mean() > 0.005


def test_a_png_file_holds_the_picture() -> None:
    image = pytest.importorskip("PIL.Image", reason="needs the extra train")
    picture = draw(changed(PLAIN, pattern="glitter"))[:, :100]
    read = image.open(io.BytesIO(as_png(picture)))
    assert np.array_equal(np.asarray(read), picture)


@settings(max_examples=25)
@given(title=st.text(max_size=60), category=st.text(max_size=9), chain=st.text(max_size=60), word=st.text(max_size=20))
def test_any_product_can_be_drawn(title: str, category: str, chain: str, word: str) -> None:
    odd = product(
        title, category=category, product_category=chain, attributes=(word,), options={"color": (word,), "size": ()}
    )
    assert picture_of(odd).shape == (SIZE, SIZE, 3)
