"""How well texts of a shop agree, judged by their words alone."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from llm_gym.envs.webshop.search.porter import stem
from llm_gym.envs.webshop.search.tokens import STOP_WORDS

_TOKEN = re.compile(r"\d+xl|\d+(?:\.\d+)?|[^\W\d_]+")
_PRICE_LIMIT = re.compile(r"(?:lower|less|under|below|up to|at most)(?: than)?\s*\$?\s*(\d[\d,]*(?:\.\d+)?)")
_AMOUNT = re.compile(r"\d+(?:\.\d+)?")

_NUMBER_WORDS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "sixty": "60",
    "hundred": "100",
    "dozen": "12",
}
_UNITS = {
    variant: name
    for name, variants in {
        "oz": "ounce ounces",
        "fl": "fluid",
        "lb": "lbs pound pounds",
        "gram": "g grams",
        "inch": "inches",
        "foot": "ft feet",
        "piece": "pieces pc pcs count ct",
        "pack": "packs packet packets",
        "gray": "grey",
    }.items()
    for variant in variants.split()
}
_REWRITES = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"(\d)\s*(?:\"|''|”|″|in\b)", r"\1 inch "),
        (r"(\d)\s*['′](?!\w)", r"\1 foot "),
        (r"\band a half\b", "half"),
        (r"\b(?:extra|x)[\s-]*large\b|\bxl\b", " 1xl "),
        (r"\bxx[\s-]*large\b|\bxxl\b", " 2xl "),
        (r"\bxxx[\s-]*large\b|\bxxxl\b", " 3xl "),
        (r"\b(\d)\s*x?[\s-]*(?:x[\s-]*large|xl)\b", r" \1xl "),
        (r"\b(?:extra|x)[\s-]*small\b|\bxs\b", " xsmall "),
        (r"\bxx[\s-]*small\b|\bxxs\b", " xxsmall "),
    )
)


@lru_cache(maxsize=16_384)
def words(text: str) -> tuple[str, ...]:
    """Words in order, in one spelling for what people write in several; stop words are dropped, stems compared.

    >>> words("Three ounces, XX-Large; eleven and a half")
    ('3', 'oz', '2xl', '11.5')
    """
    lowered = text.lower()
    for pattern, replacement in _REWRITES:
        lowered = pattern.sub(replacement, lowered)
    found: list[str] = []
    for token in _TOKEN.findall(lowered):
        token = _NUMBERS.get(token, _UNITS.get(token, token))
        if token == "half" and found and found[-1].isdecimal():
            found[-1] += ".5"
        elif token not in STOP_WORDS:
            found.append(stem(token))
    return tuple(found)


def agreement(instruction: str, title: str, options: Mapping[str, Sequence[str]]) -> int:
    """How well a product agrees: instruction words in title and options, and one more for each option met in full.

    >>> agreement("red shoe", "A Shoe", {"color": ["red", "blue"]})  # both words, and a colour met in full
    3
    """
    wanted = set(words(instruction))
    values = [value for group in options.values() for value in group]
    found = {word for text in (title, *options, *values) for word in words(text)}
    best = (best_value(instruction, name, group) for name, group in options.items())
    return len(wanted & found) + sum(value is not None and set(words(value)) <= wanted for value in best)


def price_limit(instruction: str) -> float | None:
    """The dollars an instruction allows, or None where it names no limit; the last one named counts.

    >>> price_limit("a red shoe, and price lower than 1,040.00 dollars")
    1040.0
    """
    limits = _PRICE_LIMIT.findall(instruction.lower())
    return float(limits[-1].replace(",", "")) if limits else None


def typical_price(tag: str) -> float | None:
    """The price on a price tag, the middle of a range; None when the tag holds no number.

    >>> typical_price("$10.0 to $20.0")
    15.0
    """
    amounts = [float(amount) for amount in _AMOUNT.findall(tag.replace(",", ""))]
    return sum(amounts) / len(amounts) if amounts else None


def named_value(instruction: str, values: Sequence[str]) -> str | None:
    """The longest value that stands in an instruction as it is, not as a part of a longer word; None if none does.

    >>> named_value("a dress in size x-large", ["large", "x-large", "xx-large"])
    'x-large'
    """
    text = instruction.lower()
    return max((value for value in values if _stands_in(value.lower(), text)), key=len, default=None)


def _stands_in(value: str, text: str) -> bool:
    if not value.strip():
        return False
    before = r"(?<!\w)" if value[0].isalnum() else ""
    after = r"(?!\w)" if value[-1].isalnum() else ""
    return re.search(f"{before}{re.escape(value)}{after}", text) is not None


def best_value(instruction: str, name: str, values: Sequence[str]) -> str | None:
    """The value of an option that an instruction asks for, or None when no telling word agrees.

    First comes a value the instruction gives as `name: value`, then one whose words it holds in a row (more words are
    better), then the one of whose words it holds most, less something for those it lacks; a word that every value has,
    as "pack" may be, tells nothing there.

    >>> best_value("a red shirt, pack of three", "size", ["1 pack", "3 pack"])
    '3 pack'
    """
    stated = [value for value in values if _is_stated(instruction.lower(), name, value)]
    if stated:
        return max(stated, key=len)
    wanted = words(instruction)
    common = set.intersection(*(set(words(value)) for value in values)) if len(values) > 1 else set()
    scored = [(_score(words(value), wanted, common), value) for value in values]
    score, best = max(scored, key=lambda pair: pair[0], default=((0, 0.0), ""))
    return best if score > (0, 0.0) else None


def _is_stated(instruction: str, name: str, value: str) -> bool:
    return f"{name}: {value}, and " in f"{instruction}, and "


_MISSING_WORD = 0.3
"""What a word of the value that the instruction lacks costs, in matched words; below 0.5, for codes and pack tails."""


def _score(value: tuple[str, ...], wanted: tuple[str, ...], common: set[str]) -> tuple[int, float]:
    """Words in a row, then words anywhere less those missing; (0, 0.0) when no telling word agrees."""
    if _in_a_row(value, wanted):
        return len(value), 0.0
    matched = set(value) & set(wanted)
    if not matched - common:
        return 0, 0.0
    return 0, max(len(matched) - _MISSING_WORD * len(set(value) - matched), 0.01)


def _in_a_row(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    return any(whole[start : start + len(part)] == part for start in range(len(whole) - len(part) + 1))
