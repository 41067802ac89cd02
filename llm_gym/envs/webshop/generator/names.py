"""Invented brands, series names and article numbers, built from syllables."""

from typing import Any

from llm_gym.envs.webshop.generator.dice import Dice

_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_NUMBERS = 36**8
_STRIDE = 1_580_030_168_707  # odd and not divisible by 3, so multiplying by it permutes the residues of 36**8


def article_number(seed: int, index: int) -> str:
    """Ten characters beginning with B0; different for every index of a catalogue, without remembering any."""
    number = (index * _STRIDE + seed * 7_919 + 1_234_567_891) % _NUMBERS
    digits = []
    for _ in range(8):
        number, digit = divmod(number, 36)
        digits.append(_DIGITS[digit])
    return "B0" + "".join(digits)


def invented_word(dice: Dice, names: dict[str, Any]) -> str:
    """One pronounceable lower-case word of two or three syllables."""
    syllables = 1 if dice.chance(0.7) else 2
    word = "".join(
        dice.pick(names["onsets"]) + dice.pick(names["nuclei"]) + dice.pick(names["codas"]) for _ in range(syllables)
    )
    return word + (dice.pick(names["onsets"])[-1] if word[-1] in "aeiouy" else "") + str(dice.pick(names["endings"]))


def brand(dice: Dice, names: dict[str, Any]) -> str:
    """`Velmora`, `NORTKEN` or `Kestra Home`; a fifth of the shop's brands shout."""
    word = invented_word(dice, names)
    word = word.upper() if dice.chance(0.22) else word.capitalize()
    return f"{word} {str(dice.pick(names['brand_suffixes'])).capitalize()}" if dice.chance(0.08) else word


def model_code(dice: Dice) -> str:
    """`KX204`: the kind of token only one product has."""
    letters = "".join(dice.pick("ABCDEFGHKLMNPRSTVWXZ") for _ in range(dice.between(1, 3)))
    return f"{letters}{dice.between(2, 999)}"
