"""The fast pattern for words of ordinary texts finds those of the pattern for all scripts."""

from __future__ import annotations

import sys

from pytest_evalstudio.text import words
from pytest_evalstudio.text.folding import fold

SURROGATES = range(0xD800, 0xE000)
STEP = 7
"""Every seventh character of Unicode beside the first 12,000, which have the alphabets."""
CHARACTERS = (*range(12_000), *range(12_000, sys.maxunicode, STEP))


def test_both_patterns_find_the_same_words_around_each_character() -> None:
    for code in CHARACTERS:
        if code not in SURROGATES:
            text = f"a{chr(code)}b {chr(code)} 1{chr(code)}"
            expected = [match[0] for match in words._word().finditer(fold(text).lower())]
            assert words.words_of(text) == expected, hex(code)
