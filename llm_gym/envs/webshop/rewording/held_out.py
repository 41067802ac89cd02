"""The templates of `reworded_heldout` goals: other openings, other constructions, other ways to shorten and inflect."""

from __future__ import annotations

import re

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.wording import inflected, plural
from llm_gym.envs.webshop.rewording.templates import Templates

_PACKS = {"2": "twin", "3": "triple", "4": "four-piece", "6": "half-dozen", "12": "dozen"}
_SPELLED = (
    (" x ", " by "),
    ("xx-large", "double extra large"),
    ("x-large", "extra large"),
    ("fl oz", "fluid ounces"),
    (" oz", " ounces"),
    (" ft", " foot"),
    (" inch", "-inch"),
    (" & ", " and "),
    (" | ", " or "),
)


def explained(attribute: str) -> str:
    """In a clause of its own.

    >>> explained("easy clean"), explained("gluten free"), explained("slip resistant"), explained("usb port")
    ('easily cleaned', 'without any gluten', 'able to resist slip', 'usb style port')
    """
    first, _, last = attribute.partition(" ")
    if first == "easy" and last:
        return f"easily {_participle(last)}"
    if last == "free":
        return f"without any {first}"
    if last == "resistant":
        return f"able to resist {first}"
    return f"{first} style {last}" if last else first


def glued(attribute: str) -> str:
    return attribute.replace(" ", "")


def first_inflected(attribute: str) -> str:
    """The first word in the singular or plural."""
    first, space, rest = attribute.partition(" ")
    return f"{inflected(first)}{space}{rest}"


def parted(attribute: str) -> str:
    """Another word in between."""
    return attribute.replace(" ", " and nice ", 1)


def without_last(phrase: str) -> str:
    return phrase.rpartition(" ")[0] or phrase


def bare(value: str) -> str:
    """Only the plain words, or where there are none, what stands before bracket, comma and bar.

    >>> bare("z2-dark blue"), bare("12 ounce (pack of 2)"), bare("red | white"), bare("oak, 3 drawers")
    ('dark blue', '12 ounce', 'white', 'oak')
    """
    text = re.split(r"[(,]", value)[0].rpartition(" | ")[2].strip()
    words = " ".join(re.findall(r"[a-z]{3,}", text))
    return words if words and re.search(r"\d[a-z]*-|-[a-z]*\d", text) else text or value


def spelled(value: str) -> str:
    return next((value.replace(old, new) for old, new in _SPELLED if old in value), value)


def halves_swapped(value: str) -> str:
    """`wide 8` for `8 wide`, at the first blank."""
    first, _, rest = value.partition(" ")
    return f"{rest}, {first}" if rest else value


def pack_named(value: str) -> str:
    """`pack of 2` as `twin pack`."""
    return re.sub(r"pack of (\d+)", lambda match: f"{_PACKS.get(match[1], match[1] + '-item')} pack", value)


def ends_only(value: str) -> str:
    """The first word and the last: `heather dark blue` as `heather blue`."""
    words = value.split(" ")
    return f"{words[0]} {words[-1]}" if len(words) > 2 else value


def as_written(phrase: str) -> str:
    return phrase


def forgotten(phrase: str) -> str:
    return ""


def _participle(verb: str) -> str:
    return verb[:-1] + "ied" if verb.endswith("y") else verb + ("d" if verb.endswith("e") else "ed")


def say_type(owner: str, noun: str, dice: Dice) -> str:
    """`women's` and `tops` as tops for women, or without whom they are for; of three words without the first."""
    wearer = owner.removesuffix("'s")
    words = noun.split(" ")
    if len(words) > 2:
        noun = " ".join(words[1:])
    if plural(noun) == noun and dice.chance(0.4):
        noun = inflected(noun)
    return f"{noun} for {wearer}" if wearer and dice.chance(0.8) else noun


HELD_OUT = Templates(
    openings=(
        ("i want", 26),
        ("i want to get", 6),
        ("i'd like", 14),
        ("i'd love to own", 4),
        ("i am interested in", 9),
        ("i'm in need of", 8),
        ("could you get me", 6),
        ("show me", 5),
        ("get me", 5),
        ("help me pick out", 4),
        ("my friend asked for", 3),
        ("where can i get", 3),
        ("order", 3),
        ("", 4),
    ),
    articles=("a few", "a couple of"),
    leading={"color": ("{x}-toned",), "taste": ("{x} tasting",), "style": ("{x}-style",)},
    attributes={
        "ease": ("and it has to be {x}", "as long as it's {x}"),
        "quality": ("and it has to be {x}", "as long as it's {x}", "labeled {x}"),
        "material": ("built from {x}", "whose material is {x}", "containing {x}"),
        "purpose": ("to help {x}", "whose purpose is {x}", "having {x} in mind"),
        "part": ("including {x}", "featuring {x}", "and having {x}"),
    },
    options={
        "color": ("whose color is {x}", "colored {x}", "of a {x} shade"),
        "size": ("sized {x}", "of measure {x}", "whose size is {x}"),
        "pack": ("sold as {x}", "as {x}", "packed as {x}"),
        "taste": ("tasting of {x}", "of the {x} flavor"),
        "scent": ("smelling of {x}", "that smells like {x}"),
        "style": ("of the {x} type", "the {x} version"),
    },
    attribute_sentences={
        "ease": ("being {x} matters to me",),
        "quality": ("make sure it's {x}", "being {x} matters to me"),
        "material": ("the material has to be {x}",),
        "purpose": ("{x} is what i plan to do",),
        "part": ("{x} is a must", "don't forget the {x}"),
    },
    option_sentences={
        "color": ("take {x} as the color", "{x} would look best", "any other color than {x} is wrong"),
        "size": ("{x} is the size that fits", "take {x} as the size"),
        "pack": ("pick {x}", "{x} would be enough"),
        "taste": ("{x} is my favorite flavor", "pick {x} as the flavor"),
        "scent": ("pick {x} as the scent", "{x} smells best"),
        "style": ("pick {x}", "take the {x} kind"),
    },
    breaks=("; ", " and "),
    attribute_forms=(
        (as_written, 79),
        (explained, 8),
        (glued, 3),
        (first_inflected, 2),
        (parted, 3),
        (without_last, 3),
        (forgotten, 2),
    ),
    say_ease=explained,
    option_forms=(
        (as_written, 62),
        (bare, 18),
        (spelled, 6),
        (halves_swapped, 4),
        (pack_named, 3),
        (ends_only, 4),
        (forgotten, 3),
    ),
    say_type=say_type,
    second_sentence=0.3,
)
