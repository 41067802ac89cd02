"""Words of a text by the Unicode word-break rules (UAX #29), as Lucene's StandardTokenizer applies them.

A text is turned into the string of its characters' classes, one letter each, and the rules are one regular expression
over that string. They are those of Lucene's published grammar (StandardTokenizerImpl.jflex), written so that the first
alternative that matches is the longest and nothing backtracks over more than a run of marks:

    A letter                     M `:` ·     inside words                E mark, extends what it follows
    H Hebrew letter              C `,` `;`   inside numbers              Z zero-width joiner
    W letter, emoji too (Ⓜ)      I Q `.` `'` inside both                 V P text and emoji presentation
    N digit                      D `"`       inside Hebrew words         X keycap
    K Katakana                   U `_`       joins them all              T t flag tag, its end
    J Han, Hiragana: one each    Y emoji     B `#` `*`                   F skin tone
    S s South-East Asian letter, mark        R regional indicator        o anything else
"""

from __future__ import annotations

import re
from bisect import bisect_right

from llm_gym.envs.webshop.search.word_break_classes import RANGES

MAX_TOKEN_LENGTH = 255
"""Longest token, in UTF-16 units. Of a longer one Lucene takes what fits and goes on from there."""

_MARKS = "EZVPXTtFs"
_NO_PRESENTATION = "[EZXTtFs]*"
"""Marks but the two that choose between text and emoji presentation."""


def _word_rule(core: str, joiners: str) -> str:
    """A word: cores with joiners between, before and behind them."""
    return f"(?:{joiners})?{core}(?:{joiners}{core})*(?:{joiners})?"


def _ascii_rule() -> str:
    letters = "[A-Za-z]+(?:[.:'][A-Za-z])*"
    digits = "[0-9]+(?:[.,;'][0-9])*"
    # The second alternative is no word: it skips, in one go, underscores that no word follows.
    return f"({_word_rule(f'(?:{letters}|{digits})+', '_+')})|_+"


def _class_rule() -> str:
    marks = f"[{_MARKS}]*"
    # Linked letters (those behind a `:`) never start a Hebrew rule: so it is in Lucene's grammar.
    linked = f"(?:[MIQ]{marks}[AHW]{marks})*"
    hebrew = f"H{marks}(?:D{marks}H{marks}|Q{marks}|{linked})"
    letters = f"[AW][AW{_MARKS}]*{linked}"
    digits = f"N[N{_MARKS}]*(?:[CIQ]{marks}N{marks})*"
    katakana = f"K[K{_MARKS}]*"
    joiners = f"U[U{_MARKS}]*"
    word = _word_rule(f"(?:{katakana}|(?:{letters}|{digits}|{hebrew})+)", joiners)
    asian = f"J{marks}|[Ss][S{_MARKS}]*"
    return f"({_letter_emoji_rule()}|{word}|{asian}|{_emoji_rule()})|U[UEVPXTt]*"


_EMOJI_END = f"{_NO_PRESENTATION}(?:P(?:Z+(?=[YW])|Z(?=F))?)?"
_EMOJI_JOINED = f"(?:(?<=Z)[YW]{_EMOJI_END}|(?<=Z)F{_NO_PRESENTATION})*"
"""More emoji, each behind a zero-width joiner."""


def _emoji_rule() -> str:
    flag_of_region = f"Z*[YW]{_NO_PRESENTATION}PT+t"
    sequence = f"(?:Z*[YW]{_EMOJI_END}|F{_NO_PRESENTATION}){_EMOJI_JOINED}"
    keycap = f"B{_NO_PRESENTATION}P?X{_NO_PRESENTATION}"
    flag = f"R[{_MARKS}]*R[{_MARKS}]*"
    return f"{flag_of_region}|{sequence}|{keycap}|{flag}"


def _letter_emoji_rule() -> str:
    """An emoji sequence that begins with a letter and is longer than the word there, since an emoji proper follows."""
    return f"W(?:[EZXTtFs]|(?<=Z)W|P(?=Z+[YW]))*(?<=Z)Y{_EMOJI_END}{_EMOJI_JOINED}"


_ASCII_WORD = re.compile(_ascii_rule())
_CLASS_WORD = re.compile(_class_rule())


class _Classes(dict[int, str]):
    """Code point → class for `str.translate`; filled as code points turn up."""

    def __init__(self) -> None:
        super().__init__()
        self._starts: list[int] = []
        self._ranges: list[tuple[int, str]] = []

    def __missing__(self, code_point: int) -> str:
        if not self._starts:
            self._read_ranges()
        last, kind = self._ranges[bisect_right(self._starts, code_point) - 1]
        self[code_point] = kind if code_point <= last else "o"
        return self[code_point]

    def _read_ranges(self) -> None:
        """Put off until a text needs it: importing the package stays cheap."""
        ranges = [(-1, -1, "o")]
        for kind, listed in RANGES.items():
            for part in listed.split():
                first, _, last = part.partition("-")
                ranges.append((int(first, 16), int(last or first, 16), kind))
        ranges.sort()
        self._ranges = [(last, kind) for _, last, kind in ranges]
        self._starts = [first for first, _, _ in ranges]


_CLASSES = _Classes()


def words(text: str) -> list[str]:
    """Words, numbers, ideographs and emoji of a text, in order and as they are written.

    >>> words("Women's size-6.5 shoes, 1,000 sold \N{GRINNING FACE}")
    ["Women's", 'size', '6.5', 'shoes', '1,000', 'sold', '😀']
    """
    if text.isascii():
        found = _ASCII_WORD.findall(text)
    else:
        matches = _CLASS_WORD.finditer(text.translate(_CLASSES))
        found = [text[match.start() : match.end()] for match in matches if match[1]]
    if max(map(len, found), default=0) <= MAX_TOKEN_LENGTH // 2:
        return found
    return [piece for word in found for piece in _pieces(word)]


def _pieces(word: str) -> list[str]:
    """Tokens of a word: itself, or what is left when it is read through a window of the longest token's width."""
    if _units(word) <= MAX_TOKEN_LENGTH:
        return [word]
    classes, pieces, start = word.translate(_CLASSES), [], 0
    while start < len(word):
        end = min(start + MAX_TOKEN_LENGTH, len(word))
        while _units(word[start:end]) > MAX_TOKEN_LENGTH:
            end -= 1
        match = _CLASS_WORD.match(classes, start, end)
        if match and match[1]:
            pieces.append(word[start : match.end()])
            start = match.end()
        else:
            start += 1
    return pieces


def _units(text: str) -> int:
    """Length in UTF-16 units, Java's idea of length."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
