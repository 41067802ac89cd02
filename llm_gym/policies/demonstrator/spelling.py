"""Other ways to write a word in a query."""

from __future__ import annotations

import re

from llm_gym.policies.lexical_match import words

_SHORT = {
    variant: short
    for short, variants in {
        "oz": "ounce ounces",
        "fl": "fluid",
        "lb": "pound pounds",
        "ft": "feet foot",
        "in": "inch inches",
        "pcs": "pieces piece",
        "pk": "pack packs",
        "ct": "count",
        "xl": "x-large",
        "xxl": "xx-large",
        "xs": "x-small",
        "gray": "grey",
        "grey": "gray",
    }.items()
    for variant in variants.split()
}
_LARGE = re.compile(r"(\d)x-large")
_OTHER = {
    word: others[1 - others.index(word)]
    for others in (
        pair.split("/")
        for pair in """
couch/sofa|bookshelf/bookcase|rug/carpet|lamp/light|cupboard/cabinet|drapes/curtains|nightstand/bedside|pillow/cushion
stool/seat|desk/table|dresser/drawers|trainers/sneakers|sweater/pullover|hoodie/sweatshirt|jacket/coat|pants/trousers
shirt/top|blouse/tunic|gown/dress|purse/handbag|earbuds/earphones|headphones/headset|cable/cord|charger/adapter
television/tv|speaker/soundbar|photo/picture|phone/cellphone|case/cover|strap/band|stand/holder|camera/cam|laptop/notebook
perfume/fragrance|lotion/cream|moisturizer/cream|makeup/cosmetics|hairpiece/wig|razor/shaver
candy/sweets|cookies/biscuits|snacks/treats|sauce/dressing|spices/seasoning|beverage/drink|chips/crisps
mattress/bed|blanket/throw
""".replace("\n", "|").split("|")
        if pair
    )
    for word in others
}


def abbreviated(word: str) -> str:
    """A unit, a size or a number as it is typed in a hurry; the word itself where there is no shorter way.

    >>> abbreviated("ounces"), abbreviated("4x-large"), abbreviated("three"), abbreviated("shoe")
    ('oz', '4xl', '3', 'shoe')
    """
    short = _SHORT.get(word, _LARGE.sub(r"\1xl", word))
    number = words(word)
    if short == word and word.isalpha() and len(number) == 1 and number[0].isdecimal():
        return number[0]
    return short


def other_word(word: str) -> str:
    """What else the thing may be called; the word itself where nothing comes to mind."""
    return _OTHER.get(word, word)


def inflected(word: str) -> str:
    """Singular to plural and back, as far as the words of a shop need it.

    >>> inflected("boxes"), inflected("lamp"), inflected("berry"), inflected("berries")
    ('box', 'lamps', 'berries', 'berry')
    """
    if not word.isalpha() or len(word) < 4:
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith("y") and word[-2] not in "aeou":
        return word[:-1] + "ies"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    if word.endswith(("ss", "sh", "ch", "x")):
        return word + "es"
    return word[:-1] if word.endswith("s") else word + "s"
