"""How shoppers say what they want: each attribute, option and product type in one of several forms.

The forms and their shares were coded by hand on 174 human goals of the original: four in five attributes are said
word for word, while one option in five loses its code or its pack size.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.vocabulary import Attribute, Kind, Query

AttributeForm = Literal["verbatim", "function word", "hyphen", "inflected", "gap", "paraphrase", "absent"]
ATTRIBUTE_FORMS: tuple[AttributeForm, ...] = (
    "verbatim",
    "function word",
    "hyphen",
    "inflected",
    "gap",
    "paraphrase",
    "absent",
)
OptionForm = Literal["verbatim", "simplified", "format", "re-ordered", "number words", "paraphrase", "absent"]
OPTION_FORMS: tuple[OptionForm, ...] = (
    "verbatim",
    "simplified",
    "format",
    "re-ordered",
    "number words",
    "paraphrase",
    "absent",
)
TypeForm = Literal["title", "inflected", "re-ordered", "superordinate", "other wording", "wrong type"]
TYPE_FORMS: tuple[TypeForm, ...] = ("title", "inflected", "re-ordered", "superordinate", "other wording", "wrong type")


def inflected(word: str) -> str:
    """Singular to plural and back, as far as shop nouns need it."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("y") and word[-2:-1] not in {"a", "e", "o", "u"}:
        return word[:-1] + "ies"
    if word.endswith("elves"):
        return word[:-3] + "f"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if word.endswith(("ss", "sh", "ch", "x")):
        return word + "es"
    return word[:-1] if word.endswith("s") else word + "s"


def plural(phrase: str) -> str:
    """`table lamp` to `table lamps`; what already ends like a plural stays."""
    return phrase if re.search(r"[^s]s$", phrase) else inflected(phrase)


def say_attribute(attribute: Attribute, form: AttributeForm) -> str:
    """The phrase as the shopper says it; "" when it is left out. `easy clean` is said `easy to clean` by most."""
    first, last = attribute.text.split(" ")
    if form == "function word":
        if attribute.role == "ease":
            return f"{first} to {last}"
        if last in {"free", "resistant"}:
            return f"{last} {'of' if last == 'free' else 'to'} {first}"
        return f"{first} type {last}" if attribute.role == "part" else f"{first}-{last}"
    return {
        "verbatim": attribute.text,
        "hyphen": f"{first}-{last}",
        "inflected": f"{first} {inflected(last)}",
        "gap": f"{last} {first}",
        "paraphrase": last if attribute.role in {"part", "purpose"} else first,
        "absent": "",
    }[form]


def simplified(value: str) -> str:
    """Without bracket, pack tail, code, second side or shade: what a shopper keeps of `z2-dark blue (pack of 3)`."""
    plain = re.sub(r"\s*\(.*?\)", "", value)
    plain = re.split(r" \| | & |\+", plain)[0]
    plain = re.sub(
        r"^(?:[a-z]{0,2}\d+[a-z]?|[a-wyz])[- ](?=[a-z]{3,})(?!inch|ounce|count|pack|feet|pcs|piece|pound|fl )",
        "",
        plain,
    )
    words = plain.split(" ")
    if plain == value and len(words) > 1 and not any(character.isdigit() for character in value):
        return words[-1]
    return plain.strip()


def _with_number_word(value: str, words: Mapping[str, str]) -> str:
    return re.sub(r"\b(\d+)\b(?![.\"x%])", lambda match: words.get(match[1], match[1]), value, count=1)


def _reformatted(value: str, variants: list[list[str]]) -> str:
    for old, new in variants:
        if old in value:
            return value.replace(old, new)
    return value


def say_option(value: str, form: OptionForm, instructions: Mapping[str, Any]) -> str:
    """The value as the shopper says it; "" when it is left out."""
    if form == "simplified":
        return simplified(value)
    if form == "format":
        return _reformatted(value, instructions["unit_variants"])
    if form == "re-ordered":
        words = value.split(" ")
        return " ".join(words[1:] + words[:1])
    if form == "number words":
        return _with_number_word(value, instructions["number_words"])
    if form == "paraphrase":
        return value.split(" ")[0].rstrip("-,")
    return value if form == "verbatim" else ""


_VAGUE = frozenset(("set", "kit", "mix", "cover", "covers", "case", "bag", "holder", "stand"))


def short_type(head: str) -> str:
    """The last word, as most people speak: `bar stool` is a stool, but `lip kit` stays a lip kit."""
    last = head.rsplit(" ", 1)[-1]
    return head if last in _VAGUE else last


def say_type(head: str, kind: Kind, query: Query, form: TypeForm, dice: Dice) -> str:
    """The noun the shopper uses for the product whose title says `head`."""
    words = head.split(" ")
    if form == "inflected":
        return " ".join([*words[:-1], inflected(words[-1])])
    if form == "re-ordered":
        return f"{words[-1]} for {' '.join(words[:-1])}" if len(words) > 1 else head
    if form == "superordinate":
        return kind.superordinate
    if form == "other wording":
        return dice.pick(kind.heads)
    if form == "wrong type":
        return dice.pick(dice.pick(query.kinds).heads)
    return head
