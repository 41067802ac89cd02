"""Titles as shops write them: brand, a head noun with modifiers, then segments of whatever may be searched for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from llm_gym.envs.webshop.generator.dice import Dice
from llm_gym.envs.webshop.generator.names import invented_word, model_code
from llm_gym.envs.webshop.generator.options import measure
from llm_gym.envs.webshop.generator.settings import CatalogueSettings
from llm_gym.envs.webshop.generator.vocabulary import Attribute, Kind, Query, Vocabulary

_WORD = re.compile(r"[a-z0-9.]*[a-z][a-z0-9.]*")
_LONGEST_TITLE = 200  # characters; the official titles stop there too
_SMALL = frozenset(("a", "an", "and", "as", "at", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))


def title_nouns(title: str, vocabulary: Vocabulary) -> list[str]:
    """Lower-cased nouns in order, duplicates kept, as a tagger sees a title.

    Capitals make a tagger read nearly every title word as a noun (83 % in the official world), so the nouns are
    all words but the closed classes, bare numbers and the adjectives on the list `not_nouns`.
    """
    not_nouns = frozenset(vocabulary.titles["not_nouns"])
    words = _WORD.findall(title.lower().replace("'s", " "))
    return [word for word in words if len(word) > 1 and word not in not_nouns]


def capitalised(text: str) -> str:
    """Title case that leaves small words and codes alone and does not break at apostrophes."""
    words = text.split(" ")
    return " ".join(word if word in _SMALL or not word[:1].islower() else word[0].upper() + word[1:] for word in words)


@dataclass
class TitleWriter:
    """Composes one title; `core` draws what siblings of a family share, `own` draws the rest."""

    query: Query
    kind: Kind
    settings: CatalogueSettings
    vocabulary: Vocabulary
    core: Dice
    segments: list[str] = field(default_factory=list)
    used: set[str] = field(default_factory=set)

    def words(self) -> int:
        return sum(len(segment.split()) for segment in self.segments)

    def _fresh(self, words: Sequence[str], repeats: float = 0.08) -> str:
        """A word not in the title yet, unless the dice insist: half of all titles repeat a word."""
        for _ in range(6):
            word = self.core.pick(words)
            if word not in self.used or self.core.chance(repeats):
                break
        self.used.add(word)
        return word

    def _filler(self) -> tuple[int, str]:
        """One word and its place in a phrase: adjectives first, the query's and the kind's nouns last."""
        tables = self.vocabulary.titles
        rest = 1.0 - self.settings.kind_words - self.settings.query_words
        weights = (0.35 * rest, 0.15 * rest, 0.5 * rest, self.settings.query_words, self.settings.kind_words)
        source = self.core.weighted(weights)
        if source == 1:
            return source, invented_word(self.core, dict(self.vocabulary.names))
        free = tables["free"][self.query.category]
        return source, self._fresh((tables["adjectives"], (), free, self.query.words, self.kind.words)[source])

    def _words(self, count: int) -> list[str]:
        return [word for _, word in sorted(self._filler() for _ in range(count))]

    def _phrase(self, low: int, high: int) -> str:
        words = self._words(self.core.between(low, high))
        return " ".join(words + ([self._fresh(self.vocabulary.titles["nouns"])] if self.core.chance(0.3) else []))

    def _measure(self) -> str:
        """A size or pack as the kind's options have them, a set count, or an article code."""
        return (None if self.core.chance(0.25) else measure(self.kind, self.core)) or model_code(self.core)

    def _use(self) -> str:
        return f"for {self._fresh(self.query.uses, 0.0)}"

    def open(self, brand: str, head: str, code: bool) -> None:
        """The first segment: brand, modifiers, head."""
        before = " ".join(self._words(self.core.weighted((0.15, 0.35, 0.35, 0.15))))
        self.used.update(head.split())
        self.segments.append(" ".join(filter(None, (brand, model_code(self.core) if code else "", before, head))))

    def add_attribute(self, attribute: Attribute) -> None:
        """Writes an attribute verbatim, with the preposition its role needs."""
        lead = {"part": "with ", "purpose": "for "}.get(attribute.role, "")
        lead = lead if self.core.chance(0.7) else ""
        self.segments.append(f"{lead}{attribute.text}" + ("" if lead else f" {self._filler()[1]}"))

    def fill(self, length: int) -> None:
        """Adds segments until the title has about `length` words."""
        while self.words() < length:
            kind = self.core.weighted((0.72, 0.14, 0.14))
            longest = max(1, min(4, length - self.words()))
            self.segments.append(
                self._phrase(1, longest) if kind == 0 else self._measure() if kind == 1 else self._use()
            )

    def text(self, tail: str) -> str:
        """Joins the segments with one product's own punctuation; the tail is what tells siblings apart."""
        middle = self.core.shuffled(self.segments[1:])
        joint = (", ", ", ", " ", " - ", " | ")[self.core.weighted((0.34, 0.1, 0.36, 0.14, 0.06))]
        title = self.segments[0]
        for segment in middle:
            # "for" and "with" follow the head directly more often than after a comma.
            title += (" " if segment.startswith(("for ", "with ")) and self.core.chance(0.7) else joint) + segment
        bracket = self.core.chance(0.3) and "(" not in tail
        ending = f" ({capitalised(tail)})" if bracket else f"{', ' if joint == ' ' else joint}{capitalised(tail)}"
        room = _LONGEST_TITLE - len(ending)
        title = capitalised(title)
        if len(title) > room:
            title = title[:room].rsplit(" ", 1)[0].rstrip(",-| ")
        return title + ending if tail else title


def title_length(category: str, settings: CatalogueSettings, vocabulary: Vocabulary, dice: Dice) -> int:
    """Words a title should have: the category's mean, spread by a third."""
    mean = settings.title_length * float(vocabulary.titles["title_words_mean"][category])
    return max(4, min(36, round(mean * (1.0 + 0.36 * dice.normal()))))
