"""JSON files of any size, element by element, in the dialect of Python's own parser.

The original reads its files with `json.load`, which takes `NaN` and integers of any length; streaming parsers refuse
them. Memory holds one element and a block of the file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, TextIO

_FIRST_BLOCK = 1 << 20
"""Characters; each further block for one element is twice as large."""
MAX_ELEMENT_CHARS = 1 << 26
"""A longer element is taken for a damaged one, so that a file cut off early is not read into memory whole."""
_BLANKS = re.compile(r"[ \t\n\r]*")
_decoder = json.JSONDecoder()


class Damaged(ValueError):
    """The text is not what it should be; the message says how, without the position."""


def list_elements(file: TextIO) -> Iterator[Any]:
    """The elements of a JSON list.

    Raises:
        Damaged: at the place where the text is no list any more.
    """
    reader = _Reader(file)
    reader.expect("[", "it does not begin with a list")
    going = reader.mark() != "]"
    while going:
        yield reader.value()
        going = reader.goes_on("]")
    reader.expect("]", "the list does not end")
    reader.expect("", "something stands after its end")


def object_items(file: TextIO) -> Iterator[tuple[str, Any]]:
    """Key and value of each entry of a JSON object, repeated keys too.

    Raises:
        Damaged: at the place where the text is no object any more.
    """
    reader = _Reader(file)
    reader.expect("{", "it does not begin with an object")
    going = reader.mark() != "}"
    while going:
        key = reader.value() if reader.mark() == '"' else None
        if not isinstance(key, str):
            raise Damaged("an entry has no name")
        reader.expect(":", "an entry has no value")
        reader.mark()
        yield key, reader.value()
        going = reader.goes_on("}")
    reader.expect("}", "the object does not end")
    reader.expect("", "something stands after its end")


class _Reader:
    """A window on the text."""

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self._text = ""
        self._at = 0
        self._block = _FIRST_BLOCK

    def mark(self) -> str:
        """The next character that is no blank, not yet taken; empty at the end."""
        while True:
            blanks = _BLANKS.match(self._text, self._at)
            self._at = blanks.end() if blanks else self._at
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def expect(self, mark: str, otherwise: str) -> None:
        """Take this character (empty: the end), or say what is wrong."""
        if self.mark() != mark:
            raise Damaged(otherwise)
        self._at += len(mark)

    def goes_on(self, close: str) -> bool:
        """Take the comma that announces another element; whether there was one. After it nothing may close."""
        if self.mark() != ",":
            return False
        self._at += 1
        if self.mark() == close:
            raise Damaged("a comma has nothing after it")
        return True

    def value(self) -> Any:
        """The value that begins here."""
        self._block = _FIRST_BLOCK
        while True:
            try:
                value, end = _decoder.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if len(self._text) - self._at > MAX_ELEMENT_CHARS or not self._more():
                    raise Damaged(error.msg) from error
                continue
            except RecursionError as error:
                raise Damaged("an element is nested too deeply") from error
            if not self._may_go_on(value, end) or not self._more():
                self._at = end
                return value

    def _may_go_on(self, value: object, end: int) -> bool:
        """Whether what follows the window may belong to the value: only a number has no mark at its end."""
        return isinstance(value, int | float) and not self._text[end:].strip("0123456789+-.eE")

    def _more(self) -> bool:
        """Widen the window; whether there was anything left."""
        try:
            block = self._file.read(self._block)
        except UnicodeDecodeError as error:
            raise Damaged("it is not UTF-8") from error
        self._block *= 2
        self._text = self._text[self._at :] + block
        self._at = 0
        return bool(block)
