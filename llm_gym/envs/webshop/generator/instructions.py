"""Goals: which attributes and options a shopper wants, and the sentence that says so (the loader adds the price)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.noise import broken_grammar, typing_error
from llm_gym.envs.webshop.generator.products import Product
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.titles import title_nouns
from llm_gym.envs.webshop.generator.vocabulary import ROLES, Attribute, Vocabulary
from llm_gym.envs.webshop.generator.wording import (
    ATTRIBUTE_FORMS,
    OPTION_FORMS,
    TYPE_FORMS,
    say_attribute,
    say_option,
    say_type,
    short_type,
)

_PLURAL = re.compile(r"[^s]s$")


@dataclass(frozen=True)
class Goal:
    """One row of the human instruction file."""

    attributes: tuple[Attribute, ...]
    options: tuple[tuple[str, str, str], ...]  # (group name, flavour, value)
    text: str


@dataclass
class _Sentence:
    """An instruction in the making: words before the noun, after it, and sentences that follow."""

    before: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


@dataclass
class GoalWriter:
    """Writes the goals of one product."""

    product: Product
    settings: CatalogueSettings
    vocabulary: Vocabulary
    dice: Dice

    @property
    def _templates(self) -> Mapping[str, Any]:
        return self.vocabulary.instructions

    def _choose_attributes(self) -> tuple[Attribute, ...]:
        count = 1 + self.dice.weighted(self.settings.goal_attributes)
        return tuple(self.dice.shuffled(self.product.attributes)[:count])

    def _choose_options(self) -> tuple[tuple[str, str, str], ...]:
        groups = self.product.options
        count = self.dice.weighted(self.settings.goal_options) if groups else 0
        chosen = self.dice.shuffled(range(len(groups)))[:count]
        return tuple((groups[at].name, groups[at].flavour, self.dice.pick(groups[at].values)) for at in sorted(chosen))

    def _add_attribute(self, attribute: Attribute, sentence: _Sentence) -> None:
        form = ATTRIBUTE_FORMS[self.dice.weighted(self.settings.attribute_forms)]
        if attribute.role == "ease" and form == "verbatim" and self.dice.chance(0.85):
            form = "function word"
        said = say_attribute(attribute, form)
        leading = {"quality": 0.62, "part": 0.25, "purpose": 0.12, "ease": 0.3}[attribute.role]
        if said and self.dice.chance(leading) and len(sentence.before) < 2:
            sentence.before.append(said)
        elif said:
            sentence.after.append(self.dice.pick(self._templates[f"{attribute.role}_after"]).format(x=said))

    def _add_option(self, flavour: str, value: str, sentence: _Sentence) -> None:
        form = OPTION_FORMS[self.dice.weighted(self.settings.option_forms)]
        said = say_option(value, form, self._templates)
        if not said:
            return
        if self.dice.chance(self.settings.second_sentence):
            sentence.sentences.append(self.dice.pick(self._templates[f"{flavour}_sentence"]).format(x=said))
        elif flavour in {"color", "pack", "taste", "style"} and len(sentence.before) < 2 and self.dice.chance(0.35):
            suffix = {"color": (" colored", " color", "", "", ""), "taste": (" flavored", "")}.get(flavour, ("",))
            sentence.before.insert(0, said + self.dice.pick(suffix))
        else:
            sentence.after.append(self.dice.pick(self._templates[f"{flavour}_after"]).format(x=said))

    def _title_words(self, head: str) -> list[str]:
        """Words of the title that the shopper throws in."""
        count = self.dice.weighted(self.settings.title_words)
        count += count == 2 and self.dice.chance(0.3)
        brand_words = set(self.product.brand.lower().split(" "))
        known = brand_words | set(head.split(" "))
        # People repeat what a thing is or is for; made-up series names and codes they leave out.
        ordinary = {*self.product.kind.words, *self.product.query.words, *self.vocabulary.titles["adjectives"]}
        ordinary.update(self.vocabulary.titles["free"][self.product.query.category])
        nouns = title_nouns(self.product.title, self.vocabulary)
        words = [word for word in dict.fromkeys(nouns) if word not in known and word in ordinary]
        loose = [*self.product.kind.words, *self.product.query.words]
        picked = [
            self.dice.pick(loose) if self.dice.chance(self.settings.loose_words) else word
            for word in self.dice.shuffled(words)[:count]
        ]
        return ([self.product.brand.lower()] if self.dice.chance(self.settings.brand_named) else []) + picked

    def _noun_phrase(self, sentence: _Sentence, noun: str, opening: str) -> str:
        phrase = " ".join([*sentence.before, *self._title_words(noun), noun])
        if sentence.after:
            joint = ", " if self.dice.chance(0.15) else " and " if self.dice.chance(0.15) else " "
            phrase += " " + joint.join(sentence.after)
        return self._article(noun, phrase, opening) + phrase

    def _article(self, noun: str, phrase: str, opening: str) -> str:
        """A, an, some, the or nothing; one in fifty chooses the wrong one."""
        if not opening:
            return ""
        plural = bool(_PLURAL.search(noun.split(" for ")[0]))
        if plural or self.dice.chance(0.12):
            return "some " if self.dice.chance(0.2) else ""
        vowel = phrase[0] in "aeiou"
        return "an " if vowel != self.dice.chance(0.02) else "a "

    def _plain(self, attribute: Attribute) -> str:
        """The shortest wording; equal for every product of a kind with this attribute."""
        noun = self.product.kind.heads[0]
        lead = {"quality": f"{attribute.text} {noun}", "part": f"{noun} with {attribute.text}"}
        return "i am looking for " + lead.get(attribute.role, f"{noun} for {attribute.text}")

    def _worded(self, attributes: Sequence[Attribute], options: Sequence[tuple[str, str, str]]) -> str:
        sentence = _Sentence()
        for attribute in attributes:
            self._add_attribute(attribute, sentence)
        for _, flavour, value in options:
            self._add_option(flavour, value, sentence)
        form = TYPE_FORMS[self.dice.weighted(self.settings.type_forms)]
        noun = say_type(self.product.head, self.product.kind, self.product.query, form, self.dice)
        if self.dice.chance(self.settings.own_purpose):
            sentence.after.append(
                self.dice.pick(self._templates["own_purpose"]).format(x=self.dice.pick(self.product.query.uses))
            )
        if self.dice.chance(self.settings.short_type):
            noun = short_type(noun)
        openings = self._templates["openings"]
        opening = openings[self.dice.weighted([weight for _, weight in openings])][0]
        text = f"{opening} {self._noun_phrase(sentence, noun, opening)}".strip()
        return text + "".join(f". {extra}" if self.dice.chance(0.8) else f", {extra}" for extra in sentence.sentences)

    def _text(self, attributes: Sequence[Attribute], options: Sequence[tuple[str, str, str]]) -> str:
        if self.dice.chance(self.settings.title_copied):
            words = self.product.title.lower().split(" ")
            return " ".join(words[: self.dice.between(7, 13)])
        if not options and len(attributes) == 1 and self.dice.chance(self.settings.plain_wording):
            return self._plain(attributes[0])
        text = self._worded(attributes, options)
        if self.dice.chance(self.settings.typos):
            text = typing_error(text, self.dice)
        if self.dice.chance(self.settings.broken_grammar):
            text = broken_grammar(text, self.dice)
        return text.replace(" ", "  ", 1) if self.dice.chance(0.04) else text

    def goal(self) -> Goal:
        attributes, options = self._choose_attributes(), self._choose_options()
        text = self._text(attributes, options)
        return Goal(attributes, options, text + ("." if self.dice.chance(self.settings.full_stop) else ""))

    def goals(self) -> list[Goal]:
        """None for products without goals; one for most, two to four for some."""
        if not self.product.carries_goals:
            return []
        count = 1 + (self.dice.between(1, 3) if self.dice.chance(self.settings.several_goals) else 0)
        return [self.goal() for _ in range(count)]

    def synthetic(self) -> tuple[str, list[str]] | None:
        """The template instruction `Find me ... with ... for ...` and its attributes; None on most products."""
        if not self.product.attributes or not self.dice.chance(self.settings.synthetic_instructions / 0.84):
            return None
        count = min(len(self.product.attributes), 2 + self.dice.geometric(0.9))
        chosen = self.dice.shuffled(self.product.attributes)[:count]
        said = {role: [attribute.text for attribute in chosen if attribute.role == role] for role in ROLES}
        text = "Find me " + ", ".join(said["ease"] + said["quality"])
        text = f"{text.rstrip()} {self.product.query.name}"
        text += f" with {', '.join(said['part'])}" if said["part"] else ""
        text += f" for {', '.join(said['purpose'])}" if said["purpose"] else ""
        return text, [text for role in ("ease", "quality", "part", "purpose") for text in said[role]]
