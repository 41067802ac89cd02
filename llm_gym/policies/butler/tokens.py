"""Texts as the numbers that the text agent reads, and back."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from llm_gym.errors import BadRecord
from llm_gym.policies.imitation.choice_tokens import read_tokenizer

_KEPT_TEXTS = 8192
BEGIN, END, PADDING = "[CLS]", "[SEP]", "[PAD]"
"""Of a command; the end of a command also parts observations."""


class ButlerTokens:
    """Token ids of texts; those of the texts used last are kept.

    Args:
        tokenizer: a WordPiece tokenizer, as JSON.

    Raises:
        BadRecord: it is none, or lacks a special token.
    """

    def __init__(self, tokenizer: str) -> None:
        self._tokenizer = read_tokenizer(tokenizer, "The text agent's tokenizer")
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.begin, self.end, self.padding = (self._special(token) for token in (BEGIN, END, PADDING))
        self.ids = lru_cache(maxsize=_KEPT_TEXTS)(self._encoded)

    def __len__(self) -> int:
        """Tokens of the vocabulary."""
        return int(self._tokenizer.get_vocab_size())

    def target(self, command: str, longest: int) -> tuple[int, ...]:
        """A command as it is to be written: its ids and its end, at most so many."""
        return (*self.ids(command), self.end)[:longest]

    def text(self, ids: Sequence[int]) -> str:
        """What was written, up to its end.

        Punctuation within a word comes back without the blanks that a tokenizer puts around it, so that a command
        in the words of the papers, `put mug 1 in/on shelf 1`, is itself again.
        """
        written = list(ids)
        if self.end in written:
            written = written[: written.index(self.end)]
        decoded: str = self._tokenizer.decode(written)
        return decoded.replace(" / ", "/")

    def _encoded(self, text: str) -> tuple[int, ...]:
        """Without a frame; at least one token."""
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids) or (self.padding,)

    def _special(self, token: str) -> int:
        number = self._tokenizer.token_to_id(token)
        if number is None:
            raise BadRecord(f"The text agent's tokenizer has no token {token}.")
        return int(number)

    def to_json(self) -> str:
        """The tokenizer, for a checkpoint."""
        return str(self._tokenizer.to_str())
