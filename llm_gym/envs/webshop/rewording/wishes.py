"""What a reworded goal asks for: some of a product's attributes, and values of some of its options."""

from __future__ import annotations

from typing import NamedTuple

from llm_gym.envs.webshop.actions import can_be_clicked, parse
from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.pages import ITEM_BUTTONS
from llm_gym.envs.webshop.product import NO_ATTRIBUTE, Product
from llm_gym.envs.webshop.reward import matched_options, similar

REWORDED_PER_PRODUCT = 6
_ATTRIBUTES = (0.68, 0.26, 0.06)
"""Shares of one, two and three attributes in people's goals."""
_OPTIONS = (0.20, 0.52, 0.26, 0.02)
"""Shares of no, one, two and three options."""


class Wish(NamedTuple):
    """What is wanted of a product, all of which the product itself has."""

    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    """Name and value of each option."""


def can_be_wished(attribute: str) -> bool:
    """Whether an attribute says something, and a product that has it is rewarded for it.

    >>> can_be_wished("long sleeve"), can_be_wished("DUMMY_ATTR"), can_be_wished("!")
    (True, False, False)
    """
    return attribute != NO_ATTRIBUTE and similar(attribute, attribute)


def draw_wish(product: Product, dice: Dice) -> Wish:
    """Attributes and options in the numbers in which people ask for them; the product must have an attribute."""
    attributes = dice.shuffled([one for one in dict.fromkeys(product.attributes) if can_be_wished(one)])
    wanted = attributes[: 1 + dice.weighted(_ATTRIBUTES)]
    count, options = dice.weighted(_OPTIONS), list[tuple[str, str]]()
    for name in dice.shuffled(list(product.options)):
        if len(options) < count and (values := obtainable(product, name)):
            options.append((name, dice.pick(values)))
    return Wish(tuple(wanted), tuple(options))


def obtainable(product: Product, name: str) -> list[str]:
    """Values of an option that a shopper can choose with one click and that are rewarded when they are wanted."""
    others = {value for other, values in product.options.items() if other != name for value in values}
    return [value for value in dict.fromkeys(product.options[name]) if value not in others and _fulfils_itself(value)]


def _fulfils_itself(value: str) -> bool:
    return value not in ITEM_BUTTONS and can_be_clicked(value, parse) and matched_options([value], [value]) == 1
