"""The slips of hurried writers: typing errors and broken grammar."""

import re

from llm_gym.envs.webshop.generator.dice import Dice


def typing_error(text: str, dice: Dice) -> str:
    """One word of five letters or more loses, doubles or swaps a letter."""
    places = [match.span() for match in re.finditer(r"[a-z]{5,}", text)]
    if not places:
        return text
    start, end = dice.pick(places)
    at = dice.between(start + 1, end - 2)
    return dice.pick(
        (
            text[:at] + text[at + 1 :],
            text[:at] + text[at] + text[at:],
            text[:at] + text[at + 1] + text[at] + text[at + 2 :],
        )
    )


def broken_grammar(text: str, dice: Dice) -> str:
    """A function word goes missing or is said twice, or the opening loses its verb."""
    changed = dice.pick(
        (
            text.replace(" a ", " ", 1),
            text.replace(" is ", " ", 1),
            text.replace("i am looking", "i looking", 1),
            text.replace(" for ", " ", 1),
            text.replace(" with ", " with with ", 1),
            text.replace(" in ", " ", 1),
        )
    )
    return changed if changed != text else text.replace(" ", "  ", 1)
