"""A vocabulary for a network that has no pretrained one: the words that stand in a world most often."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING

import numpy as np

from llm_gym.core import derive_seed
from llm_gym.errors import InvalidSetting
from llm_gym.extras import require
from llm_gym.policies.imitation.choice_tokens import with_markers
from llm_gym.policies.imitation.text import MARKERS, process
from llm_gym.policies.reinforcement.candidates import Queries
from llm_gym.training.a2c.episodes import Course, Episodes

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_PAD, _UNKNOWN, _START = "[PAD]", "[UNK]", "[CLS]"
_SPECIAL = (_PAD, _UNKNOWN, _START, "[SEP]")
_WITHIN = "##"
"""Before a piece that does not begin a word."""
_CHARACTERS = string.ascii_lowercase + string.digits + string.punctuation


def word_tokenizer(texts: Iterable[str], size: int | None) -> Tokenizer:
    """A tokenizer whose pieces are the most frequent words, and single characters for all the others.

    Equal texts in any order give the same tokenizer. Every text begins with a token of its own, so that none is empty.

    Args:
        texts: each counts as often as it is given; they are `process`ed first.
        size: pieces and special tokens; None: every word is a piece.

    Raises:
        InvalidSetting: `size` leaves no room for the characters.
        MissingDependency: the extra `torch` is not installed.
    """
    tokenizers = require("tokenizers", "torch")
    normalizer = tokenizers.normalizers.BertNormalizer()
    division = tokenizers.pre_tokenizers.BertPreTokenizer()
    counts = Counter[str]()
    for text, count in Counter(texts).items():
        plain = process(text)
        for marker in (*MARKERS, *_SPECIAL):
            plain = plain.replace(marker, " ")
        for word, _ in division.pre_tokenize_str(normalizer.normalize_str(plain)):
            counts[word] += count
    pieces = [*_SPECIAL, *_CHARACTERS, *(_WITHIN + character for character in _CHARACTERS)]
    needed = len(pieces) + len(MARKERS)
    if size is not None and size < needed:
        raise InvalidSetting(f"A vocabulary of {size} has no room for the {needed} pieces that it needs.")
    room = None if size is None else size - needed
    words = sorted(counts.keys() - set(pieces), key=lambda word: (-counts[word], word))[:room]
    places = {piece: place for place, piece in enumerate([*pieces, *words])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(places, unk_token=_UNKNOWN))
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizer, division
    tokenizer.add_special_tokens(list(_SPECIAL))
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{_START} $A", special_tokens=[(_START, places[_START])]
    )
    return with_markers(tokenizer)


def texts_of(course: Course, queries: Queries, steps: int, seed: int = 0) -> Iterator[str]:
    """What somebody reads who takes `steps` actions at random: instructions, pages, actions."""
    rng = np.random.default_rng(derive_seed(seed, "words"))
    with closing(Episodes(course, 1, queries, seed)) as episodes:
        episodes.begin()
        for _ in range(steps):
            (situation,) = episodes.situations
            yield from (situation.goal, situation.page, *situation.actions)
            episodes.act([int(rng.integers(len(situation.actions)))])
