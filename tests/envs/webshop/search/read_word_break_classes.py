"""Writes word_break_classes.py by asking Lucene about every code point (a minute): `python <this file> <target>`.

Each code point is put into the contexts below. The lengths of the tokens that come out are its signature, and the code
points of one signature form a class, named after a member that is known.
"""

from __future__ import annotations

import sys
import textwrap
from collections import defaultdict
from pathlib import Path

from llm_gym.envs.webshop.search import word_break_classes
from llm_gym.envs.webshop.search.lucene import lucene_words

_CONTEXTS = """
    ? x? ?x x?y 1?2 1? ?1 x:? 1,? ?' ?"א א? א?א ア? ア?ア ก? ?ก ?_ ??
    😀? 😀?\u0301 ❤?❤ ❤\u200d? ?\ufe0f #? ?\u20e3 ☝? ?\U0001f3fb \U0001f1e6? 🏴\ufe0f?\U000e007f 🏴\ufe0f\U000e0061?
"""
CONTEXTS = _CONTEXTS.split()

MEMBERS = {
    "A": "A\U00010000", "W": "ℹ\U0001f170", "H": "א", "N": "0\U000104a0", "K": "〱\U0001b000", "J": "⺀\U0001b001",
    "S": "ก\U00011700", "s": "\u0e31\U0001171d", "M": ":", "I": ".", "Q": "'", "C": ",", "D": '"', "U": "_",
    "E": "\xad\U000101fd", "Z": "\u200d", "V": "\ufe0e", "P": "\ufe0f", "X": "\u20e3", "T": "\U000e0020",
    "t": "\U000e007f", "F": "\U0001f3fb", "R": "\U0001f1e6", "Y": "©\U0001f000", "B": "#", "o": "\0\U0001000c",
}  # fmt: skip
"""Class → a member, and one beyond the basic plane, where a character counts as two units and so signs differently."""

SEPARATOR = "zqz"
BATCH = 400


def candidates() -> list[int]:
    """Planes 0 to 3 as far as assigned, and the tags; without space, surrogates and private use."""
    return [*range(0x20), *range(0x21, 0xD800), *range(0xF900, 0x32400), *range(0xE0000, 0xE0200)]


def signatures(code_points: list[int]) -> list[tuple[tuple[int, ...], ...]]:
    """For each code point, the lengths of the tokens in each context."""
    texts = [context.replace("?", chr(code_point)) for code_point in code_points for context in CONTEXTS]
    lengths: list[tuple[int, ...]] = []
    current: list[int] = []
    for token in lucene_words(f" {SEPARATOR} ".join([*texts, ""])):
        if token == SEPARATOR:
            lengths.append(tuple(current))
            current = []
        else:
            current.append(len(token.encode("utf-16-le", "surrogatepass")) // 2)
    count = len(CONTEXTS)
    return [tuple(lengths[start : start + count]) for start in range(0, len(texts), count)]


def ranges(code_points: list[int]) -> str:
    """`41-5a 61 …` of ascending code points."""
    found: list[list[int]] = []
    for code_point in code_points:
        if found and found[-1][1] == code_point - 1:
            found[-1][1] = code_point
        else:
            found.append([code_point, code_point])
    return " ".join(f"{first:x}" if first == last else f"{first:x}-{last:x}" for first, last in found)


def main(target: Path) -> None:
    by_signature = defaultdict(list)
    points = candidates()
    for start in range(0, len(points), BATCH):
        batch = points[start : start + BATCH]
        for code_point, signature in zip(batch, signatures(batch), strict=True):
            by_signature[code_point > 0xFFFF, signature].append(code_point)
    kind_of = {ord(member): kind for kind, members in MEMBERS.items() for member in members}
    classes = defaultdict(list)
    for group in by_signature.values():
        (kind,) = {
            kind_of[code_point] for code_point in group if code_point in kind_of
        }  # else a class is new, or split
        classes[kind] += group
    lines = [f'"""{word_break_classes.__doc__}"""', "", "RANGES = {"]
    for kind in list(MEMBERS)[:-1]:
        parts = textwrap.wrap(ranges(sorted(classes[kind])), 108, break_on_hyphens=False)
        if len(parts) == 1:
            lines.append(f'    "{kind}": "{parts[0]}",')
        else:
            lines += [
                f'    "{kind}": (',
                *(f'        "{part} "' for part in parts[:-1]),
                f'        "{parts[-1]}"',
                "    ),",
            ]
    lines += ["}", '"""Class → code points in hexadecimal, single or from-to, ascending."""', ""]
    target.write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
