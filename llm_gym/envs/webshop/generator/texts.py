"""Bullets and descriptions: sentences that mention attributes, uses and materials, in the manners of shop sellers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.vocabulary import Attribute, Kind, Query
from llm_gym.envs.webshop.generator.wording import inflected, plural

Place = Literal["title", "first", "later", "description", "variant", "apart", "absent"]
PLACES: tuple[Place, ...] = ("title", "first", "later", "description", "variant", "apart", "absent")


def draw_place(settings: CatalogueSettings, dice: Dice) -> Place:
    """Where an attribute is said. Search reads titles, first bullets and descriptions, shoppers read everything."""
    return PLACES[
        dice.weighted(
            (
                settings.title_place,
                settings.first_bullet_place,
                settings.later_bullet_place,
                settings.description_place,
                settings.variant_place,
                settings.apart_place,
                settings.absent_place,
            )
        )
    ]


def variant(attribute: Attribute, dice: Dice) -> str:
    """The phrase spelt otherwise: joined by a hyphen, or, if it is a thing, in the other number."""
    first, last = attribute.text.split(" ")
    return f"{first}-{last}" if attribute.role != "part" or dice.chance(0.5) else f"{first} {inflected(last)}"


@dataclass
class TextWriter:
    """Writes the texts of one product."""

    query: Query
    kind: Kind
    brand: str
    head: str
    templates: Mapping[str, Any]
    dice: Dice
    said: set[str] = field(default_factory=set)

    def _fill(self, template: str, **slots: str) -> str:
        values = {
            "head": self.head,
            "heads": plural(self.head),
            "brand": self.brand,
            "word": self.dice.pick(self.kind.words + self.query.words),
            "material": self.dice.pick(self.query.materials),
            "use": self.dice.pick(self.query.uses),
            "use2": self.dice.pick(self.query.uses),
            "n": str(self.dice.pick((3, 5, 6, 7, 8, 9, 10, 12, 14, 15, 20, 30))),
        }
        sentence = template.format(**values, **slots)
        return sentence[0].upper() + sentence[1:]

    def filler(self) -> str:
        own, common = self.templates["fillers"][self.query.category], self.templates["fillers"]["common"]
        for _ in range(6):
            template = self.dice.pick(own if self.dice.chance(0.5) else common)
            if template not in self.said:
                break
        self.said.add(template)
        return self._fill(template)

    def _attribute_words(self) -> list[str]:
        """Single words of the query's attributes: the reward counts an attribute that a text spells out."""
        return [word for attribute in self.query.attributes for word in attribute.text.split(" ")] or [self.head]

    def keywords(self) -> str:
        """A list of search words as pushy sellers add it: words of the whole query, whether they fit or not."""
        words = [*self.query.words, *self.kind.words, *self._attribute_words(), *self.templates["stuffing"]]
        words += [head for kind in self.query.kinds for head in kind.heads]
        count = self.dice.between(8, 22)
        return f"{self.dice.pick(self.templates['keyword_leads'])} {', '.join(self.dice.shuffled(words)[:count])}."

    def cross_selling(self) -> str:
        """A sentence about what else there is: it draws searches for other things to this product."""
        heads = [plural(head) for kind in self.query.kinds for head in kind.heads]
        tables = {
            "h": heads,
            "w": [*self.query.words, *self.kind.words],
            "a": self._attribute_words(),
            "c": self.templates["shades"][self.query.category],
            "s": self.templates["sizes"][self.query.category],
        }
        slots = {
            f"{slot}{number}": word
            for slot, words in tables.items()
            for number, word in enumerate((self.dice.shuffled(words) * 4)[:4], start=1)
        }
        return self._fill(self.dice.pick(self.templates["cross_selling"]), **slots)

    def about(self, attribute: Attribute, wording: str) -> str:
        """A sentence that contains `wording`, the attribute or a variant of it."""
        template = self.dice.pick(self.templates["attribute_sentences"][attribute.role])
        return self._fill(template, attr=wording, Attr=wording[0].upper() + wording[1:])

    def apart(self, attribute: Attribute) -> str:
        """A sentence that holds both words of the attribute, but not side by side."""
        first, second = attribute.text.split(" ")
        return self._fill(self.dice.pick(self.templates["apart_sentences"][attribute.role]), first=first, second=second)

    def sentence(self, attribute: Attribute, place: Place) -> str:
        if place == "apart":
            return self.apart(attribute)
        return self.about(attribute, variant(attribute, self.dice) if place == "variant" else attribute.text)

    def _headed(self, sentences: Sequence[str], role: str, style: int, symbol: str) -> str:
        """One bullet: some sellers begin with a header in capitals, in brackets, or with a symbol."""
        body = " ".join(sentences)
        header = str(self.dice.pick(self.templates["headers"][role]))
        return (
            body,
            f"{header.upper()}: {body}",
            f"{header.capitalize()} - {body}",
            f"【{header.title()}】{body}",
            f"{symbol} {body}",
            f"{header.title()}: {body}",
        )[style]

    def bullets(self, first: Sequence[str], later: Sequence[str], roles: Sequence[str]) -> list[str]:
        """Five bullets or so: `first` in the first, `later` in the others. Each ends with a space, as in the files."""
        wanted = (0, 2, 3, 4, 5, 6, 7, 8)[self.dice.weighted((0.06, 0.03, 0.06, 0.10, 0.56, 0.07, 0.09, 0.03))]
        if wanted == 0 and not first and not later:
            return []
        wanted = max(wanted, 2 if later else 1)
        contents: list[list[str]] = [list(first)] + [[] for _ in range(wanted - 1)]
        for sentence in later:
            contents[1 + self.dice.between(0, wanted - 2)].append(sentence)
        style, symbol = (
            self.dice.weighted((0.46, 0.15, 0.08, 0.09, 0.13, 0.09)),
            self.dice.pick(self.templates["symbols"]),
        )
        wordy = self.dice.weighted((0.25, 0.45, 0.30))
        bullets = []
        for number, content in enumerate(contents):
            role = roles[number % len(roles)] if content and roles else "filler"
            while len(content) < 1 + (self.dice.between(0, wordy) if wordy else 0):
                content.append(self.filler())
            bullets.append(self._headed(content, role, style, symbol) + " ")
        return bullets

    def _chatter(self, mean: float, settings: CatalogueSettings) -> list[str]:
        """Sentences that say nothing about this product but hold words that shoppers search for."""
        sentences = [self.cross_selling() for _ in range(self.dice.geometric(mean))]
        return [*sentences, self.keywords()] if self.dice.chance(settings.keyword_lists) else sentences

    def stuffed(self, bullets: list[str], settings: CatalogueSettings) -> list[str]:
        """The bullets with chatter at the end of two of them, the first one most often."""
        for _ in range(2 if bullets else 0):
            at = 0 if self.dice.chance(0.6) else self.dice.between(0, len(bullets) - 1)
            bullets[at] += " ".join([*self._chatter(settings.bullet_chatter, settings), ""])
        return bullets

    def description(self, said: Sequence[str], settings: CatalogueSettings) -> str:
        """Empty on 30 % of products; otherwise a handful of sentences, glued together on two in five."""
        if not said and self.dice.chance(settings.empty_description):
            return ""
        count = 1 + self.dice.geometric(3.4)
        sentences = [self._fill(self.dice.pick(self.templates["openers"]))] if self.dice.chance(0.7) else []
        sentences += self.dice.shuffled(list(said) + [self.filler() for _ in range(count)])
        sentences += self._chatter(settings.description_chatter, settings)
        return ("" if self.dice.chance(settings.glued_sentences) else " ").join(sentences)
