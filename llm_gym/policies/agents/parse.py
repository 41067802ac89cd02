"""A JSON object out of what a model wrote: read strictly, else repaired, and never executed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 100_000
"""Characters of an answer that are looked at for a repair; no command needs as many."""
DEEPEST = 40
"""Objects within objects; no reply needs as many."""

_FENCED = re.compile(r"```[\w-]*\s*?\n(.*?)(?:```|\Z)", re.DOTALL)
_BLANK = re.compile(r"\s*")
_AFTER_TEXT = re.compile(r"\s*(?:[,:}\]]|\Z|([\"'])[\w -]{1,40}\1\s*:)")
_PLAIN = re.compile(r"[^\"'\\]+")
_BARE = re.compile(r"[^,:{}\[\]\"'\n]+")
_NUMBER = re.compile(r"-?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?")
_HEX = re.compile(r"[0-9a-fA-F]{4}")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS: Mapping[str, Any] = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None}


@dataclass(frozen=True, slots=True)
class Read:
    """An object."""

    value: Mapping[str, Any]
    repaired: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """There is none."""

    hint: str
    """One sentence that says what was wrong."""


def read_object(text: str) -> Read | Unread:
    r"""The object that an answer holds.

    An answer that is JSON is read as such. Otherwise it is repaired: text and code fences around, single quotes, quotes
    inside a text, line breaks in it, names without quotes, Python's True, False and None, commas too many or too few,
    backslashes that escape nothing, braces that are not closed. Of several objects the first counts, also in a list:
    the others were written without seeing what it leads to. The time grows with the length, and with nothing else.

    >>> read_object("Sure! ```json\n{'command': {'name': 'search',}")
    Read(value={'command': {'name': 'search'}}, repaired=True)
    """
    if not text.strip():
        return Unread("The answer is empty.")
    value = _strictly(text)
    if isinstance(value, dict):
        return Read(value)
    if "{" not in text:
        return Unread("The answer holds no JSON object.")
    text = text[:LONGEST]
    for part in (*(match[1] for match in _FENCED.finditer(text) if "{" in match[1]), text):
        value = _strictly(part)
        value = value if isinstance(value, dict) else _first_object(part)
        if isinstance(value, dict) and value:
            return Read(value, repaired=True)
    return Unread("The answer is no JSON that could be read.")


def _strictly(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _first_object(text: str) -> dict[str, Any] | None:
    """The first that has anything in it; what was read once is not read again."""
    at = text.find("{")
    while at >= 0:
        reader = _Lenient(text, at)
        value = reader.value(0)
        if isinstance(value, dict) and value:
            return value
        at = text.find("{", max(reader.at, at + 1))
    return None


class _Lenient:
    """Reads one value, taking what a careless writer may have meant; `at` is where it stands."""

    def __init__(self, text: str, at: int) -> None:
        self.text, self.at = text, at

    def value(self, depth: int) -> Any:
        """None also where nothing can be read."""
        self._skip_blank()
        if self._here() == "{":
            return self._object(depth)
        if self._here() == "[":
            return self._list(depth)
        if self._here() in ('"', "'"):
            return self._string()
        return self._bare()

    def _object(self, depth: int) -> dict[str, Any] | None:
        self.at += 1
        found: dict[str, Any] = {}
        while self._goes_on("}"):
            key = self._string() if self._here() in ('"', "'") else str(self._bare())
            self._skip_blank()
            if self._here() != ":":
                if key == "":  # neither name nor end: nothing that could be an object
                    return found
                continue
            self.at += 1
            if depth >= DEEPEST:
                return found
            value = self.value(depth + 1)
            if self.at < len(self.text) or value not in ("", None):  # of a name without its value nothing is known
                found[key] = value
        return found

    def _list(self, depth: int) -> list[Any]:
        self.at += 1
        found: list[Any] = []
        while self._goes_on("]") and depth < DEEPEST:
            before = self.at
            found.append(self.value(depth + 1))
            if self.at == before:
                break
        return found

    def _goes_on(self, end: str) -> bool:
        """Whether another member begins here; passes commas and the end."""
        self._skip_blank()
        while self._here() == ",":
            self.at += 1
            self._skip_blank()
        if self._here() == end:
            self.at += 1
            return False
        return self.at < len(self.text)

    def _string(self) -> str:
        """Ends at the quote after which a text can end, so that quotes inside need no backslash."""
        quote = self.text[self.at]
        self.at += 1
        parts: list[str] = []
        while self.at < len(self.text):
            plain = _PLAIN.match(self.text, self.at)
            if plain is not None:
                parts.append(plain[0])
                self.at = plain.end()
                continue
            sign = self.text[self.at]
            self.at += 1
            if sign == "\\":
                parts.append(self._escaped())
            elif sign == quote and _AFTER_TEXT.match(self.text, self.at):
                break
            else:
                parts.append(sign)
        return "".join(parts).encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")  # joins pairs

    def _escaped(self) -> str:
        """What stands after a backslash; one that escapes nothing is meant as it stands."""
        sign = self._here()
        if sign == "u" and (code := _HEX.match(self.text, self.at + 1)):
            self.at = code.end()
            return chr(int(code[0], 16))
        if sign in _ESCAPES:
            self.at += 1
            return _ESCAPES[sign]
        return "\\"

    def _bare(self) -> Any:
        """A number, a word that means something, or a text without quotes; "" where nothing can be one."""
        match = _BARE.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        word = match[0].strip()
        if word in _WORDS:
            return _WORDS[word]
        return json.loads(word) if _NUMBER.fullmatch(word) and not _leading_zero(word) else word

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _skip_blank(self) -> None:
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at


def _leading_zero(word: str) -> bool:
    digits = word.removeprefix("-")
    return digits[:1] == "0" and digits[1:2].isdigit()
