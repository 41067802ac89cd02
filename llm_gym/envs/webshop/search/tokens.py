"""Terms of a text: the analysis that Anserini and Pyserini give English text by default (DefaultEnglishAnalyzer).

Words by the Unicode word-break rules, possessive 's stripped, lower case, Lucene's English stop words removed, Porter's
stems. A document analysed differently would not only rank differently itself: it shifts the average length and with it
every score, so the chain is compared with Lucene's own, token by token, in the tests.
"""

from functools import lru_cache

from llm_gym.envs.webshop.search.porter import stem
from llm_gym.envs.webshop.search.word_break import words

STOP_WORDS = frozenset(
    ("a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of",
     "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with")
)  # fmt: skip
"""Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET."""

_CACHED = 1 << 16
_LONGEST_CACHED = 64
_POSSESSIVES = ("'s", "'S", "’s", "’S", "＇s", "＇S")


def analyze(text: str) -> list[str]:
    """Terms in order, repeated ones too; none for a text of stop words.

    >>> analyze("The women's running shoes")
    ['women', 'run', 'shoe']
    """
    terms: list[str] = []
    # No word reaches across a space, and most of what stands between spaces was seen before.
    for chunk in text.split(" "):
        terms += _chunk_terms(chunk) if len(chunk) <= _LONGEST_CACHED else _terms(chunk)
    return terms


def _terms(text: str) -> tuple[str, ...]:
    return tuple(filter(None, map(_term, words(text))))


_chunk_terms = lru_cache(_CACHED)(_terms)


@lru_cache(_CACHED)
def _term(word: str) -> str:
    """The term of a word, empty for a stop word."""
    if word.endswith(_POSSESSIVES):
        word = word[:-2]
    word = _lower(word)
    return "" if word in STOP_WORDS else _stem(word)


def _lower(word: str) -> str:
    """Lower case letter by letter, as Java's Character.toLowerCase; Python looks around Σ and makes two of İ."""
    return word.replace("Σ", "σ").replace("İ", "i").lower()


def _stem(word: str) -> str:
    """Lucene stems UTF-16 units: a character beyond the basic plane counts as two consonants."""
    if word.isascii() or max(word) <= "\uffff":
        return stem(word)
    units = "".join(map(chr, memoryview(word.encode("utf-16-le", "surrogatepass")).cast("H")))
    return stem(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
