"""Worlds for the tests of the shop: the official one, built once, and small invented ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Comment

from llm_gym.envs.webshop.build import BuildSettings, build_store
from llm_gym.envs.webshop.catalogue import Catalogue

Row = dict[str, Any]
WriteFiles = Callable[..., Path]
MakeWorld = Callable[..., Path]


@pytest.fixture(scope="session")
def official_store(webshop_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store of the official 1,000 products, built once."""
    pytest.importorskip("spacy")
    target = tmp_path_factory.mktemp("official") / "store"
    build_store(webshop_folder, target)
    return target


@pytest.fixture(scope="session")
def official(official_store: Path) -> Catalogue:
    return Catalogue.open(official_store)


def row(asin: str, name: str, **changes: Any) -> Row:
    """A raw product as in `items_shuffle.json`; the nouns are given, so that no tagger is needed."""
    plain: Row = {
        "asin": asin,
        "name": name,
        "full_description": f"A description of {name}.",
        "small_description": ["First bullet ", "Second bullet"],
        "pricing": "$15.00",
        "customization_options": {},
        "images": [f"https://images.example/{asin}.jpg"],
        "category": "fashion",
        "query": "Shoes ",
        "product_category": "Clothing › Shoes › Plain",
        "title_nouns": name.lower().split(),
    }
    return plain | changes


def options(**groups: Sequence[str]) -> dict[str, list[Row]]:
    return {name: [{"value": value, "image": None} for value in values] for name, values in groups.items()}


NASTY: list[Row] = [
    row(
        "B0BRACKETS",
        "Shoe [wide] <b>\"bold\"</b> & 'more'",
        full_description="</p><script>alert(1)</script> &amp; <!-- no comment -->",
        small_description=["[FEATURES]: <i>x</i> ", "a & b"],
        customization_options=options(
            size=["wide [2e]", "narrow"], color=["Red/", 'the "red" one', "a<b & c>d", "it's"]
        ),
    ),
    row(
        "B0UNICODE1",
        "Ünïcödé › 靴 — 👟 shoe",
        full_description="\u00a0",
        small_description=["\u2003wide space", "ĲSSEL İ"],
        customization_options=options(größe=["Größe 41", "ÄÖ", "日本 / 大"], color=["grün"]),
    ),
    row("B0EMPTY001", "", full_description="", small_description=[], pricing="", images=[], title_nouns=[]),
    row(
        "B0SPACES01",
        "   ",
        full_description="\n",
        small_description=["", "  ", "\n", " \t ", "real"],
        pricing=None,
        customization_options=options(empty=[], blank=[" ", "/"], **{"": ["x"], "  ": ["y"]}),
    ),
    row(
        "B0LINES001",
        "first\nsecond shoe",
        full_description="  line one\n\n  line two\n",
        small_description=["a\nb", "\ttab"],
        customization_options=options(note=["two\nlines", "one line"]),
    ),
    row("B0SHARED01", "shared shoe", customization_options=options(size=["Small", "Large"], fit=["Small", "Large"])),
    row(
        "B0BUTTONS1",
        "button shoe",
        customization_options=options(trap=["search", "description", "Back to Search", "Buy Now", "Next >", "plain"]),
    ),
    row(
        "B0RANGE001", "range shoe", pricing="$10.00 - $20.50", customization_options=options(size=["Red", "red | blue"])
    ),
]
PLAIN: list[Row] = [row(f"B0PLAIN{number:03}", f"plain shoe number{number}") for number in range(17)]
MINED: dict[str, Row] = {
    product["asin"]: {
        "attributes": ["machine wash", f"attribute {number % 3}"],
        "instruction": "Find me machine wash shoes",
        "instruction_attributes": ["machine wash"],
    }
    for number, product in enumerate(NASTY + PLAIN)
}
HUMAN: dict[str, list[Row]] = {
    "B0BRACKETS": [
        {
            "instruction": "i am looking for a [wide] <shoe> & more.",
            "instruction_attributes": ["machine wash"],
            "instruction_options": ["wide [2e]"],
        }
    ],
    "B0SHARED01": [
        {"instruction": "a small shoe", "instruction_attributes": ["machine wash"], "instruction_options": ["small"]},
        {"instruction": "no attribute: left out", "instruction_attributes": [], "instruction_options": []},
        {"instruction": "a large one.", "instruction_attributes": ["attribute 2"], "instruction_options": ["large"]},
    ],
    "B0RANGE001": [
        {"instruction": "...a shoe...", "instruction_attributes": ["machine wash"], "instruction_options": []},
    ],
}


def _write_files(
    folder: Path,
    products: Sequence[Any],
    mined: Mapping[str, Any] | None = None,
    human: Mapping[str, Any] | None = None,
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items_shuffle.json").write_text(json.dumps(products), encoding="utf-8")
    if mined is not None:
        (folder / "items_ins_v2.json").write_text(json.dumps(mined), encoding="utf-8")
    if human is not None:
        (folder / "items_human_ins.json").write_text(json.dumps(human), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def make_row() -> Callable[..., Row]:
    return row


@pytest.fixture(scope="session")
def make_options() -> Callable[..., Row]:
    return options


@pytest.fixture
def write_files(tmp_path: Path) -> WriteFiles:
    """Writes official-looking files: products, attribute file, human instructions."""

    def write(
        products: Sequence[Any], mined: Mapping[str, Any] | None = None, human: Mapping[str, Any] | None = None
    ) -> Path:
        return _write_files(tmp_path / "files", products, mined, human)

    return write


@pytest.fixture
def make_world(write_files: WriteFiles, tmp_path: Path) -> MakeWorld:
    """Builds a store of invented products."""

    def make(*arguments: Any, settings: BuildSettings | None = None) -> Path:
        target = tmp_path / "store"
        build_store(write_files(*arguments), target, settings)
        return target

    return make


@pytest.fixture(scope="session")
def write_once(tmp_path_factory: pytest.TempPathFactory) -> MakeWorld:
    """As `make_world`, but every call has a folder of its own."""

    def make(*arguments: Any) -> Path:
        folder = tmp_path_factory.mktemp("world")
        build_store(_write_files(folder / "files", *arguments), folder / "store")
        return folder / "store"

    return make


@pytest.fixture(scope="session")
def nasty_world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of products with every text that is hard to show or to click, and enough others for three pages."""
    folder = tmp_path_factory.mktemp("nasty")
    build_store(_write_files(folder / "files", NASTY + PLAIN, MINED, HUMAN), folder / "store")
    return folder / "store"


# -- an HTML page read as the original reads it (BEHAVIOUR.md, A6) -------------------------------------------------


class HtmlReader:
    """What the original's text environment makes of a page of HTML; knows nothing of our own nodes."""

    _UNSEEN = frozenset({"style", "script", "head", "title", "meta", "[document]"})

    def __init__(self, html: str) -> None:
        self._soup = BeautifulSoup(html, "html.parser")
        self.pieces = [
            piece
            for piece in self._soup.find_all(string=True)
            if piece.parent.name not in self._UNSEEN and not isinstance(piece, Comment) and piece != "\n"
        ]

    def text(self) -> str:
        return " [SEP] ".join(piece.strip() for piece in self.pieces)

    def rich_text(self, visited: set[str], url: str | None = None) -> str:
        """With `url`, chosen options are found in the address, as in the original; without, by the checked buttons."""
        seen = ""
        for piece in self.pieces:
            parent = piece.parent
            if parent.name == "button":
                line = f"[button] {piece} [button_]"
            elif parent.name == "label":
                chosen = f'"{piece}"' in url if url is not None else self._is_checked(parent["for"])
                line = f"  [clicked button] {piece} [clicked button_]" if chosen else f"  [button] {piece} [button_]"
                seen = f"You have clicked {piece}.\n{seen}" if chosen else seen
            elif parent.get("class") == ["product-link"]:
                line = (
                    f"\n[clicked button] {piece} [clicked button_]"
                    if piece in visited
                    else f"\n[button] {piece} [button_]"
                )
            else:
                line = str(piece)
            seen += line + "\n"
        return seen

    def clickables(self) -> list[str]:
        names = [one.get_text().lower() for one in self._soup.find_all(class_="btn")]
        names += [one.get_text().lower() for one in self._soup.find_all(class_="product-link")]
        names += [one.get("value") for one in self._soup.select('input[type="radio"]')]
        return list(dict.fromkeys(names))

    @property
    def has_search_bar(self) -> bool:
        return self._soup.find(id="search_input") is not None

    def _is_checked(self, identity: str) -> bool:
        return self._soup.find("input", id=identity).has_attr("checked")


@pytest.fixture(scope="session")
def read_html() -> type[HtmlReader]:
    return HtmlReader


@pytest.fixture
def run_python(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a program in its own process, with its own cache folder; warnings are errors there too."""

    def run(program: str, *arguments: object, check: bool = True) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        command = [sys.executable, "-W", "error::UserWarning", "-c", program, *map(str, arguments)]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=check, timeout=240)

    return run
