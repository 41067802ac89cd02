"""Texts as the numbers that the choice model reads."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from llm_gym.errors import BadRecord, MissingData
from llm_gym.extras import require
from llm_gym.policies.imitation.text import MARKERS, process

if TYPE_CHECKING:
    from tokenizers import Tokenizer

_EXTRA = "torch"


def tokenizer_of(encoder: str | Path) -> Tokenizer:
    """The tokenizer of a pretrained encoder with the four markers added, each a token of its own.

    Args:
        encoder: a folder, or a name on the model hub.

    Raises:
        MissingData: there is none.
        MissingDependency: the extra `torch` is not installed.
    """
    transformers = require("transformers", _EXTRA)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(encoder), use_fast=True)
    except (OSError, ValueError) as error:
        raise MissingData(f"{encoder} is no pretrained encoder: its tokenizer cannot be read: {error}") from error
    return with_markers(tokenizer.backend_tokenizer)


def with_markers(tokenizer: Tokenizer) -> Tokenizer:
    """A copy whose vocabulary holds the markers; they come last where they were not in it."""
    tokenizers = require("tokenizers", _EXTRA)
    copy = read_tokenizer(tokenizer.to_str(), "the tokenizer")
    copy.add_special_tokens([tokenizers.AddedToken(marker, normalized=False, special=True) for marker in MARKERS])
    return copy


def read_tokenizer(json: str, where: str) -> Tokenizer:
    """The tokenizer in a checkpoint.

    Raises:
        BadRecord: it is none.
    """
    tokenizers = require("tokenizers", _EXTRA)
    try:
        tokenizer: Tokenizer = tokenizers.Tokenizer.from_str(json)
    except Exception as error:  # the library raises Exception itself
        raise BadRecord(f"{where} is no tokenizer: {error}") from error
    return tokenizer


class TextTokens:
    """Token ids of a text, `process`ed first; those used last are kept. Can be used by several threads.

    Args:
        tokenizer: is left as it is.
        longest: so many ids at most, those that frame a text included; the beginning of a longer text is cut off.
        kept: so many texts are remembered.
        head: so many ids of the beginning stay, and what follows them is cut out.
    """

    def __init__(self, tokenizer: Tokenizer, longest: int, kept: int, head: int = 0) -> None:
        self._tokenizer = read_tokenizer(tokenizer.to_str(), "the tokenizer")
        self._longest, self._head = longest, head
        # Set once: to set it at every call, as transformers does, is not safe with several threads.
        if head:
            self._tokenizer.no_truncation()
        else:
            self._tokenizer.enable_truncation(longest, direction="left")
        self._tokenizer.no_padding()
        self._ids = lru_cache(maxsize=kept)(self._encoded)

    def ids(self, text: str) -> tuple[int, ...]:
        """Two at least."""
        return self._ids(process(text))

    def _encoded(self, text: str) -> tuple[int, ...]:
        ids = self._tokenizer.encode(text).ids
        if len(ids) > self._longest:
            ids = ids[: self._head] + ids[self._head - self._longest :]
        return tuple(ids)
