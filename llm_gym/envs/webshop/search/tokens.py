"""Terms of a text: the analysis that Anserini and Pyserini give English text by default (DefaultEnglishAnalyzer).

Words by the Unicode word-break rules, possessive 's stripped, lower case, Lucene's English stop words removed, Porter's
stems. A document analysed differently would not only rank differently itself: it shifts the average length and with it
every score, so the chain is compared with Lucene's own, token by token, in the tests.
"""

from functools import lru_cache

from llm_gym.envs.webshop.search.porter import stem
from llm_gym.envs.webshop.search.word_break import words

STOP_WORDS = frozenset(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this
    to was will with""".split()
)
"""Lucene's EnglishAnalyzer.ENGLISH_STOP_WORDS_SET."""

_CACHED_WORDS = 1 << 17
_POSSESSIVES = ("'s", "'S", "’s", "’S", "＇s", "＇S")


def analyze(text: str) -> list[str]:
    """Terms in order, repeated ones too; none for a text of stop words.

    >>> analyze("The women's running shoes")
    ['women', 'run', 'shoe']
    """
    return list(filter(None, map(_term, words(text))))


@lru_cache(_CACHED_WORDS)
def _term(word: str) -> str:
    """The term of a word, empty for a stop word."""
    if word.endswith(_POSSESSIVES):
        word = word[:-2]
    word = _lower(word)
    return "" if word in STOP_WORDS else _stem(word)


def _lower(word: str) -> str:
    """Lower case letter by letter, as Java's Character.toLowerCase; Python looks at the letters around Σ and splits İ."""
    return word.replace("Σ", "σ").replace("İ", "i").lower()


def _stem(word: str) -> str:
    """Lucene stems UTF-16 units: a character beyond the basic plane counts as two consonants."""
    if word.isascii() or max(word) <= "\uffff":
        return stem(word)
    units = "".join(map(chr, memoryview(word.encode("utf-16-le", "surrogatepass")).cast("H")))
    return stem(units).encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
