"""Porter stemmer in the variant of NLTK, which defines the ROUGE of the rouge-score package.

NLTK itself takes a second or more to import, whichever of its modules is needed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

_IRREGULAR = {
    "sky": "sky", "skies": "sky", "dying": "die", "lying": "lie", "tying": "tie", "news": "news",
    "innings": "inning", "inning": "inning", "outings": "outing", "outing": "outing", "cannings": "canning",
    "canning": "canning", "howe": "howe", "proceed": "proceed", "exceed": "exceed", "succeed": "succeed",
}  # fmt: skip
_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"),
    ("bli", "ble"), ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"),
    ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"),
    ("aliti", "al"), ("iviti", "ive"), ("biliti", "ble"), ("fulli", "ful"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""),
    ("ness", ""),
)  # fmt: skip
_STEP_4 = tuple(
    (suffix, "")
    for suffix in (
        "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
        "ate", "iti", "ous", "ive", "ize",
    )
)  # fmt: skip


@functools.lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of an English word.

    Args:
        word: a word; case is ignored.

    Returns:
        The stem in lower case; words of at most two characters are their own stem.

    Source: Porter, 1980, with the extensions of NLTK's PorterStemmer (mode NLTK_EXTENSIONS).

    >>> [stem(word) for word in ("running", "policies", "relational", "sky")]
    ['run', 'polici', 'relat', 'sky']
    """
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) <= 2:
        return word
    word = _past_and_progressive(_plural(word))
    if word.endswith("y") and len(word) > 2 and _shape(word[:-1])[-1] == "c":
        word = word[:-1] + "i"
    word = _replace_first(_double_suffix(word), _STEP_3, lambda base: _measure(base) > 0)
    word = _replace_first(
        word,
        _STEP_4,
        lambda base: _measure(base) > 1 and (word != base + "ion" or base[-1] in "st"),
    )
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _ends_cvc(word[:-1])):
            word = word[:-1]
    return word[:-1] if word.endswith("ll") and _measure(word[:-1]) > 1 else word


def _shape(word: str) -> str:
    """Return `c` per consonant and `v` per vowel; y is a vowel after a consonant."""
    shape = ""
    for char in word:
        shape += "v" if char in "aeiou" or (char == "y" and shape.endswith("c")) else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _ends_cvc(word: str) -> bool:
    """Return True for consonant, vowel, consonant except w, x, y; or for a word of vowel and consonant."""
    shape = _shape(word)
    return (shape.endswith("cvc") and word[-1] not in "wxy") or shape == "vc"


def _replace_first(word: str, rules: Sequence[tuple[str, str]], condition: Callable[[str], bool]) -> str:
    """Apply the first rule whose suffix matches, if the condition holds for the rest of the word."""
    for suffix, replacement in rules:
        if word.endswith(suffix):
            base = word[: -len(suffix)]
            return base + replacement if condition(base) else word
    return word


def _plural(word: str) -> str:
    if word.endswith("ies") and len(word) == 4:  # NLTK: "dies" has the stem "die", but "flies" has "fli"
        return word[:-1]
    rules = (("sses", "ss"), ("ies", "i"), ("ss", "ss"), ("s", ""))
    return _replace_first(word, rules, lambda base: True)


def _past_and_progressive(word: str) -> str:
    if word.endswith("ied"):
        # NLTK: "died" has the stem "die", but "spied" has "spi"
        return word[:-1] if len(word) == 4 else word[:-2]
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    base = next((word[: -len(suffix)] for suffix in ("ed", "ing") if word.endswith(suffix)), "")
    if "v" not in _shape(base):
        return word
    if base.endswith(("at", "bl", "iz")):
        return base + "e"
    if len(base) > 1 and base[-1] == base[-2] and _shape(base)[-1] == "c":
        return base if base[-1] in "lsz" else base[:-1]
    return base + "e" if _measure(base) == 1 and _ends_cvc(base) else base


def _double_suffix(word: str) -> str:
    # NLTK: before the other suffixes, which are then looked for once more
    if word.endswith("alli") and _measure(word[:-4]) > 0:
        return _double_suffix(word[:-2])
    # NLTK: the "l" belongs to the stem, so that "geo" and "theo" are long enough.
    if word.endswith("logi") and not word.endswith(tuple(suffix for suffix, _ in _STEP_2)):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    return _replace_first(word, _STEP_2, lambda base: _measure(base) > 0)
