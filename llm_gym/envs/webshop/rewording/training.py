"""The templates of `reworded` goals: the commonest ways in which people ask."""

from __future__ import annotations

import re

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.wording import inflected, plural, simplified
from llm_gym.envs.webshop.rewording.templates import Templates

_NUMBERS = {"2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "8": "eight", "10": "ten", "12": "twelve"}
_UNITS = ((" ounce", " oz"), (" inches", " inch"), (" feet", " ft"), ("x-large", "xl"), (" count", " ct"), (" x ", "x"))


def said_fully(attribute: str) -> str:
    """With the small word that listings leave out.

    >>> said_fully("easy clean"), said_fully("gluten free"), said_fully("slip resistant"), said_fully("plug play")
    ('easy to clean', 'free of gluten', 'resistant to slip', 'plug and play')
    """
    first, _, last = attribute.partition(" ")
    if first == "easy":
        return f"easy to {last}"
    if last in {"free", "resistant"}:
        return f"{last} {'of' if last == 'free' else 'to'} {first}"
    return f"{first} and {last}" if last else first


def hyphenated(attribute: str) -> str:
    return attribute.replace(" ", "-")


def other_number(attribute: str) -> str:
    """The last word in the singular or plural."""
    before, _, last = attribute.rpartition(" ")
    return f"{before} {inflected(last)}".strip()


def turned(phrase: str) -> str:
    """The last word first."""
    before, _, last = phrase.rpartition(" ")
    return f"{last} {before}".strip()


def last_word(phrase: str) -> str:
    return phrase.rpartition(" ")[2]


def first_word(phrase: str) -> str:
    return phrase.partition(" ")[0].rstrip(",-")


def in_other_units(value: str) -> str:
    return next((value.replace(old, new) for old, new in _UNITS if old in value), value.replace("-", " "))


def with_number_word(value: str) -> str:
    """`pack of 3` as `pack of three`; sizes with a point, a percent or an inch sign stay."""
    return re.sub(r"\b(\d+)\b(?![.\"x%])", lambda match: _NUMBERS.get(match[1], match[1]), value, count=1)


def verbatim(phrase: str) -> str:
    return phrase


def unsaid(phrase: str) -> str:
    return ""


def say_type(owner: str, noun: str, dice: Dice) -> str:
    """`women's` and `tops` as women's tops, women's top or women tops."""
    number = dice.pick((noun, noun, inflected(noun) if plural(noun) == noun else noun))
    wearer = dice.pick((owner, owner, owner.removesuffix("'s")))
    return f"{wearer} {number}".strip()


TRAINING = Templates(
    openings=(
        ("i am looking for", 26),
        ("i'm looking for", 15),
        ("i need", 14),
        ("i would like", 9),
        ("i would like to buy", 2),
        ("i need to find", 2),
        ("i need to buy", 1.5),
        ("i am searching for", 1.5),
        ("looking for", 1.5),
        ("find me", 1.5),
        ("find", 0.5),
        ("buy me", 0.5),
        ("can you find me", 0.8),
        ("please find me", 0.6),
    ),
    articles=("some",),
    leading={"color": ("{x} colored", "{x} color"), "taste": ("{x} flavored",), "size": ("size {x}",)},
    attributes={
        "ease": ("that is {x}", "which is {x}", "that's {x}"),
        "quality": ("that is {x}", "which is {x}", "that are {x}"),
        "material": ("made of {x}", "made from {x}", "with {x}"),
        "purpose": ("for {x}", "for my {x}", "good for {x}"),
        "part": ("with {x}", "with a {x}", "that has {x}", "that comes with {x}"),
    },
    options={
        "color": ("in {x}", "in {x} color", "in the color {x}", "that is {x} in color"),
        "size": ("in size {x}", "in a size {x}", "in a {x} size"),
        "pack": ("in {x}", "that comes in {x}", "in a {x}"),
        "taste": ("in {x}", "in {x} flavor", "with {x} flavor"),
        "scent": ("in {x}", "in {x} scent", "with {x} scent"),
        "style": ("in {x}", "in {x} style", "that is {x}"),
    },
    attribute_sentences={
        "ease": ("it should be {x}",),
        "quality": ("it should be {x}", "it must be {x}"),
        "material": ("it should be made of {x}",),
        "purpose": ("it should be good for {x}",),
        "part": ("it should have {x}", "it must have a {x}"),
    },
    option_sentences={
        "color": ("i want the {x} one", "the color should be {x}", "i prefer {x}", "also, choose {x}"),
        "size": ("i need it in size {x}", "the size should be {x}", "i wear a size {x}"),
        "pack": ("i want the {x} one", "i need {x}"),
        "taste": ("i want the {x} flavor", "the flavor should be {x}"),
        "scent": ("i want the {x} scent", "the scent should be {x}"),
        "style": ("i want the {x} one", "choose the {x} style"),
    },
    breaks=(". ", ". ", ", "),
    attribute_forms=(
        (verbatim, 79),
        (said_fully, 8),
        (hyphenated, 3),
        (other_number, 2),
        (turned, 3),
        (last_word, 3),
        (unsaid, 2),
    ),
    say_ease=said_fully,
    option_forms=(
        (verbatim, 62),
        (simplified, 18),
        (in_other_units, 6),
        (turned, 4),
        (with_number_word, 3),
        (first_word, 4),
        (unsaid, 3),
    ),
    say_type=say_type,
    second_sentence=0.15,
)
