"""What an instruction asks for, as a person reads it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from llm_gym.envs.webshop.goals import query_of
from llm_gym.envs.webshop.reward import COLORS
from llm_gym.policies.lexical_match import price_limit, words

_FRAME = """
i i'm im iam am my me you your we it its it's is are be being should must can could would will please help trying try
looking searching interested hoping shopping need needs want wants like love prefer get find buy order purchase pick
choose take see show use used using come comes coming featuring feature features having have has made that's which
whose what one ones some any something thing kind also really very good great perfect suitable ideal for in of with
the a an and to that so or size color colour colored coloured style type item product new nice lookin
"""
FRAME = frozenset(_FRAME.split())
"""Words that say that something is wanted, not what."""
_FRAME_STEMS = frozenset(words(_FRAME))
_OPENING_WORDS = FRAME - {"my", "made", "used", "using", "size", "color", "new", "one", "style", "type"}
_AFTER_THE_HEAD = re.compile(
    r"\b(?:with|that|that's|thats|which|whose|in|for|from|made|featuring|has|have|having|perfect|good|suitable|ideal"
    r"|great|to|i|it|also|comes|under|by|of|pick|choose|get|prefer|want|need)\b|[.;?!(]"
)
_SIZES = frozenset(("small", "medium", "large", "big", "tall", "wide", "narrow", "regular", "xl", "xxl"))
_QUALITY = frozenset(COLORS) | _SIZES
_LISTED = re.compile(r"\s*(?:,|&|\band\b)\s*")

HEAD, PAIR, OPTION = 1.5, 0.5, 2.0
"""What counts the word for the thing, two wanted words in a row, and an option met in full, where every other wanted
word counts 1."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Stems that texts hold, and which of them follow each other."""

    words: frozenset[str]
    pairs: frozenset[tuple[str, str]]

    @staticmethod
    def of(texts: Iterable[str]) -> Seen:
        """What texts hold; no pair reaches from one to the next."""
        stems = [words(text) for text in texts]
        pairs = (pair for one in stems for pair in itertools.pairwise(one))
        return Seen(frozenset(itertools.chain.from_iterable(stems)), frozenset(pairs))


@dataclass(frozen=True, slots=True)
class Wish:
    """An instruction taken apart."""

    text: str
    """Without its opening phrase and its price clause."""
    words: frozenset[str]
    """Stems of the telling words."""
    pairs: frozenset[tuple[str, str]]
    """Telling words in a row."""
    heads: frozenset[str]
    """Stems of the words for the thing itself; one of them is enough."""
    stated: int
    """Options that stand in the instruction as `name: value`."""
    limit: float | None
    """Dollars; None where no limit is named."""

    @staticmethod
    @lru_cache(maxsize=4096)
    def read(goal: str) -> Wish:
        """Take an instruction apart.

        >>> wish = Wish.read("i'm trying to find a wide red boot in size 7, and price lower than 40.00 dollars")
        >>> wish.text, sorted(wish.heads), sorted(wish.words), wish.limit
        ('wide red boot in size 7', ['boot'], ['7', 'boot', 'red', 'wide'], 40.0)
        """
        text = without_opening(goal)
        said = Seen.of([text])
        telling = said.words - _FRAME_STEMS
        pairs = frozenset(pair for pair in said.pairs if telling.issuperset(pair))
        return Wish(text, telling, pairs, _heads(text), text.count(": "), price_limit(goal))

    def missing(self, seen: Seen) -> frozenset[str]:
        """Telling words that nothing seen has; the words for the thing are met when one of them is."""
        missing = self.words - seen.words
        return missing - self.heads if self.heads & seen.words else missing

    def met(self, seen: Seen, options: int = 0) -> float:
        """The share of the wish that what was seen meets.

        It is 1 where every word is met, and more where options are met in full, `options` in number, that the wish does
        not state by name.
        """
        others = self.words - self.heads
        total = len(others) + HEAD * bool(self.heads) + PAIR * len(self.pairs) + OPTION * self.stated
        met = len(others & seen.words) + HEAD * bool(self.heads & seen.words) + PAIR * len(self.pairs & seen.pairs)
        return (met + OPTION * options) / total if total else 1.0

    def affordable(self, price: float | None) -> bool:
        """Whether a price in dollars is within the limit; one that nobody knows is."""
        return self.limit is None or price is None or price <= self.limit


def without_opening(goal: str) -> str:
    """The instruction without its price clause and the words that only say that something is wanted."""
    said = query_of(goal).split()
    start = next((at for at, word in enumerate(said) if word.lower().strip(",.") not in _OPENING_WORDS), 0)
    return " ".join(said[start:])


def _heads(text: str) -> frozenset[str]:
    """The last word before whatever describes the thing from behind: `red boot` of `red boot with fur`."""
    pieces = [part for part in _AFTER_THE_HEAD.split(text.lower()) if words(part)]
    parts = [_nouns(part) for part in _LISTED.split(pieces[0])] if pieces else []
    named = [part[-1] for part in parts if part]
    return frozenset(named[-2:] if "&" in text else named[-1:])


def _nouns(text: str) -> list[str]:
    """Stems of the words that may name a thing: neither colour, size, number nor a word of wanting."""
    named = (word for word in text.split() if not _QUALITY.intersection(re.split(r"\W+", word)))
    return [stem for word in named for stem in words(word) if stem not in _FRAME_STEMS and not stem[0].isdigit()]
