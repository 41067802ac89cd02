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

_LONGEST_AT_ONCE = 1024
"""Characters beyond which a text is read through a window, so that no text, however odd, takes quadratic time."""

_MARKS = "EZVPXTtFs"
_NO_PRESENTATION = "[EZXTtFs]*+"
"""Marks but the two that choose between text and emoji presentation. Never given back: what follows is no mark."""


def _word_rule(core: str, joiners: str) -> str:
    """A word: cores with joiners between, before and behind them."""
    return f"(?:{joiners})?{core}(?:{joiners}{core})*(?:{joiners})?"


def _ascii_rule() -> str:
    letters = "[A-Za-z]+(?:[.:'][A-Za-z])*"
    digits = "[0-9]+(?:[.,;'][0-9])*"
    # The second alternative is no word: it skips, in one go, underscores that no word follows.
    return f"({_word_rule(f'(?:{letters}|{digits})+', '_++')})|_+"


def _class_rule() -> str:
    marks = f"[{_MARKS}]*+"
    # Linked letters (those behind a `:`) never start a Hebrew rule: so it is in Lucene's grammar.
    linked = f"(?:[MIQ]{marks}[AHW]{marks})*"
    hebrew = f"H{marks}(?:D{marks}H{marks}|Q{marks}|{linked})"
    letters = f"[AW][AW{_MARKS}]*+{linked}"
    digits = f"N[N{_MARKS}]*+(?:[CIQ]{marks}N{marks})*"
    katakana = f"K[K{_MARKS}]*+"
    joiners = f"U[U{_MARKS}]*+"
    word = _word_rule(f"(?:{katakana}|(?:{letters}|{digits}|{hebrew})+)", joiners)
    asian = f"J{marks}|[Ss][S{_MARKS}]*"
    return f"({_letter_emoji_rule()}|{word}|{asian}|{_emoji_rule()})|U[UEVPXTt]*"


_EMOJI_END = f"{_NO_PRESENTATION}(?:P(?:Z+(?=[YW])|Z(?=F))?)?"
_EMOJI_JOINED = f"(?:(?<=Z)[YW]{_EMOJI_END}|(?<=Z)F{_NO_PRESENTATION})*"
"""More emoji, each behind a zero-width joiner."""


def _emoji_rule() -> str:
    flag_of_region = f"Z*+[YW]{_NO_PRESENTATION}PT++t"
    sequence = f"(?:Z*+[YW]{_EMOJI_END}|F{_NO_PRESENTATION}){_EMOJI_JOINED}"
    keycap = f"B[EZXTtFs]*P?X{_NO_PRESENTATION}"  # here an X is given back
    flag = f"R[{_MARKS}]*+R[{_MARKS}]*"
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
    if len(text) > _LONGEST_AT_ONCE:
        return _words_by_window(text)
    if text.isascii():
        found = list(filter(None, _ASCII_WORD.findall(text)))
    else:
        matches = _CLASS_WORD.finditer(text.translate(_CLASSES))
        found = [text[match.start() : match.end()] for match in matches if match[1]]
    if max(map(len, found), default=0) <= MAX_TOKEN_LENGTH // 2:
        return found
    return [part for word in found for part in _words_by_window(word)]


def _words_by_window(text: str) -> list[str]:
    """Words as Lucene finds them: the longest match within the next 255 units, or else on by one character."""
    classes = text.translate(_CLASSES)
    surrogates = bool(text) and max(text) > "\uffff"
    found, start = [], 0
    while start < len(text):
        width = MAX_TOKEN_LENGTH
        if surrogates:  # the window is 255 units of UTF-16 wide, without half a character at its end
            units = text[start : start + width].encode("utf-16-le", "surrogatepass")
            width = len(units[: 2 * MAX_TOKEN_LENGTH].decode("utf-16-le", "ignore"))
        match = _CLASS_WORD.match(classes[start : start + width])
        length = match.end() if match and match[1] else 0
        if length:
            found.append(text[start : start + length])
        start += length or 1
    return found
