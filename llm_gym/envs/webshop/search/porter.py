"""Porter's stemmer of 1980, with the particulars of Lucene's PorterStemFilter.

Written from M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with the two departures that Porter
published himself later and Lucene follows (`bli → ble` for `abli → able`; `logi → log`); words of one or two letters
stay as they are. Snowball's "porter" and "english" stemmers differ, and a term stemmed otherwise changes scores.
"""

_STEP_2 = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_STEP_3 = {
    "icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": "",
}  # fmt: skip
_STEP_4 = dict.fromkeys(
    ("al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
     "ous", "ive", "ize"),
    "",
)  # fmt: skip
_LONGEST_SUFFIX = 7


def stem(word: str) -> str:
    """Stem of a lower-case word. Letters outside a-z and digits count as consonants, as in Lucene."""
    if len(word) <= 2:
        return word
    word = _strip_plural(word)
    word = _strip_past_and_gerund(word)
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    word = _replace_suffix(word, _STEP_2, minimum=1)
    word = _replace_suffix(word, _STEP_3, minimum=1)
    word = _replace_suffix(word, _STEP_4, minimum=2)
    return _tidy_ending(word)


def _shape(word: str) -> str:
    """One of `c` (consonant) or `v` (vowel) per letter; a y is a vowel exactly after a consonant."""
    shape = []
    previous = "v"
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and previous == "c")
        previous = "v" if vowel else "c"
        shape.append(previous)
    return "".join(shape)


def _measure(stem_: str) -> int:
    """Porter's m: how often a run of vowels is followed by a run of consonants."""
    return _shape(stem_).count("vc")


def _ends_double_consonant(word: str) -> bool:
    return len(word) >= 2 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_consonant_vowel_consonant(word: str) -> bool:
    """Porter's *o: c-v-c, the last not w, x or y; such a word gets, or keeps, its final e (hop-ing, hope)."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _strip_plural(word: str) -> str:
    """Step 1a."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _strip_past_and_gerund(word: str) -> str:
    """Step 1b."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    suffix = "ed" if word.endswith("ed") else "ing" if word.endswith("ing") else ""
    base = word[: len(word) - len(suffix)]
    if not suffix or "v" not in _shape(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if _ends_double_consonant(base):
        return base if base[-1] in "lsz" else base[:-1]
    if _measure(base) == 1 and _ends_consonant_vowel_consonant(base):
        return base + "e"
    return base


def _replace_suffix(word: str, rules: dict[str, str], *, minimum: int) -> str:
    """Steps 2 to 4. Only the longest suffix that matches is considered, whether or not its measure suffices."""
    for length in range(min(_LONGEST_SUFFIX, len(word)), 1, -1):
        suffix = word[-length:]
        if suffix not in rules or (suffix == "ion" and word[-4:-3] not in ("s", "t")):
            continue
        base = word[:-length]
        return base + rules[suffix] if _measure(base) >= minimum else word
    return word


def _tidy_ending(word: str) -> str:
    """Step 5: a final e after a long enough stem, and one l of a final ll."""
    measure = _measure(word)
    if word.endswith("e") and (measure > 1 or (measure == 1 and not _ends_consonant_vowel_consonant(word[:-1]))):
        word = word[:-1]
    return word[:-1] if word.endswith("ll") and measure > 1 else word
