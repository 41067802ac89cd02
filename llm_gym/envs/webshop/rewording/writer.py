"""Writes the sentence of a reworded goal."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from llm_gym.core import derive_seed
from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.noise import typing_error
from llm_gym.envs.webshop.generator.wording import plural
from llm_gym.envs.webshop.goals import Goal, RewordedKind, task_id, worded_goal
from llm_gym.envs.webshop.product import Product
from llm_gym.envs.webshop.rewording.held_out import HELD_OUT
from llm_gym.envs.webshop.rewording.roles import flavour_of, role_of
from llm_gym.envs.webshop.rewording.templates import Form, Templates
from llm_gym.envs.webshop.rewording.training import TRAINING
from llm_gym.envs.webshop.rewording.wishes import Wish, draw_wish

VERSION = 1
"""Of the texts: another number means that the same ids say something else."""
TEMPLATES: dict[RewordedKind, Templates] = {"reworded": TRAINING, "reworded_heldout": HELD_OUT}

_TITLE_WORDS = (0.55, 0.25, 0.15, 0.05)
"""Shares of no, one, two and three words of the title thrown in."""
_BRAND, _TYPING_ERROR, _TWO_BLANKS = 0.08, 0.025, 0.04
_BEFORE_NOUN = {"ease": 0.1, "quality": 0.6, "material": 0.4, "purpose": 0.1, "part": 0.3}
_EASE_EXPLAINED = 0.85
_OPTION_BEFORE_NOUN = 0.35
_LEADING_FLAVOURS = frozenset({"color", "taste", "style"})
_OWNER = re.compile(r"(?:(women|men|girls?|boys?|kids|children|baby)('s)? )?(.*)")
_VAGUE = frozenset({"accessories", "care", "coloring", "covers", "kits", "products", "sets", "supplies", "tools"})
"""Nouns that say nothing without the noun before them, as in `nail polish & care`."""
_PLAIN_WORD = re.compile(r"[a-z]{3,}")


def reworded_goal(product: Product, kind: RewordedKind, ordinal: int, limit: float) -> Goal:
    """The goal with this number: the same in every process and on every machine.

    Its own product, bought with its own options, earns a reward of 1.
    """
    identity = task_id(product.asin, kind, ordinal)
    dice = Dice(derive_seed(0, "reworded", identity))
    wish = draw_wish(product, dice)
    text = _text(product, wish, TEMPLATES[kind], dice)
    return worded_goal(product, identity, text, wish.attributes, tuple(value for _, value in wish.options), limit)


def _text(product: Product, wish: Wish, templates: Templates, dice: Dice) -> str:
    sentence = _Sentence(templates, dice)
    for attribute in wish.attributes:
        sentence.add_attribute(attribute)
    for name, value in wish.options:
        sentence.add_option(name, value)
    text = sentence.written(product)
    if dice.chance(_TYPING_ERROR):
        text = typing_error(text, dice)
    return text.replace(" ", "  ", 1) if dice.chance(_TWO_BLANKS) else text


@dataclass
class _Sentence:
    """An instruction in the making: words before the noun, after it, and sentences that follow."""

    templates: Templates
    dice: Dice
    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    further: list[str] = field(default_factory=list)

    def add_attribute(self, attribute: str) -> None:
        said, role = self._said(attribute, self.templates.attribute_forms), role_of(attribute)
        if not said:
            return
        if role == "ease" and said == attribute and self.dice.chance(_EASE_EXPLAINED):
            said = self.templates.say_ease(attribute)
        if self.dice.chance(self.templates.second_sentence):
            self.further.append(self._framed(self.templates.attribute_sentences[role], said))
        elif self.dice.chance(_BEFORE_NOUN[role]):
            self.before.append(said)
        else:
            self.after.append(self._framed(self.templates.attributes[role], said))

    def add_option(self, name: str, value: str) -> None:
        said, flavour = self._said(value, self.templates.option_forms), flavour_of(name, value)
        if not said:
            return
        if self.dice.chance(self.templates.second_sentence):
            self.further.append(self._framed(self.templates.option_sentences[flavour], said))
        elif flavour in _LEADING_FLAVOURS and self.dice.chance(_OPTION_BEFORE_NOUN):
            self.before.insert(0, self._framed(("{x}", *self.templates.leading.get(flavour, ())), said))
        else:
            self.after.append(self._framed(self.templates.options[flavour], said))

    def written(self, product: Product) -> str:
        """The whole instruction, without a price."""
        owner, noun = self._type_of(product)
        called = self.templates.say_type(owner, noun, self.dice)
        phrase = " ".join([*self.before, *self._title_words(product, called), called, *self.dice.shuffled(self.after)])
        openings = self.templates.openings
        opening = openings[self.dice.weighted([weight for _, weight in openings])][0]
        text = f"{opening} {self._article(called, phrase)}{phrase}".strip()
        return text + "".join(f"{self.dice.pick(self.templates.breaks)}{one}" for one in self.further)

    def _said(self, phrase: str, forms: Sequence[tuple[Form, float]]) -> str:
        """A phrase as the shopper says it; "" when it is left out. Where a form changes nothing one more is drawn."""
        said = phrase = phrase.strip()
        for _ in range(2):
            form = forms[self.dice.weighted([weight for _, weight in forms])][0]
            said = form(phrase).strip()
            if said != phrase or form is forms[0][0]:
                break
        return said

    def _framed(self, frames: Sequence[str], said: str) -> str:
        return self.dice.pick(frames).replace("{x}", said)

    def _type_of(self, product: Product) -> tuple[str, str]:
        """Owner and noun of the query, of several nouns one that the title names."""
        match = _OWNER.fullmatch(re.sub(r" \(.*?\)", "", product.query))
        assert match is not None, "everything matches"
        parts = [part for part in re.split(r",? (?:& |and )|, ", match[3]) if part]
        nouns = [part for part in parts if part not in _VAGUE] or parts or ["product"]
        title = " ".join(product.title_nouns)
        named = [noun for noun in nouns if noun.rpartition(" ")[2].rstrip("s") in title]
        return f"{match[1]}{match[2] or ''}" if match[1] else "", self.dice.pick(named or nouns)

    def _title_words(self, product: Product, called: str) -> list[str]:
        """Nouns of the title that the shopper throws in; the first is the brand, which few people name."""
        count = self.dice.weighted(_TITLE_WORDS)
        words = [word for word in dict.fromkeys(product.title_nouns) if _PLAIN_WORD.fullmatch(word)]
        told = " ".join((called, *self.before, *self.after, *self.further))
        loose = [word for word in words[1:] if word.rstrip("s") not in told]
        brand = words[:1] if self.dice.chance(_BRAND) else []
        thrown_in = set(self.dice.shuffled(loose)[:count]) if count else ()
        return brand + [word for word in loose if word in thrown_in]

    def _article(self, called: str, phrase: str) -> str:
        """A, an, a word for several, or nothing."""
        noun = called.partition(" for ")[0]
        if plural(noun) == noun:
            return f"{self.dice.pick(self.templates.articles)} " if self.dice.chance(0.15) else ""
        if self.dice.chance(0.15):
            return ""
        return "an " if phrase[0] in "aeiou" else "a "
