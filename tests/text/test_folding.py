"""Composed and decomposed characters are one, in every script."""

from __future__ import annotations

import unicodedata

import pytest

from pytest_evalstudio.text.folding import fold, fold_with_origins, same_characters
from support.processor_time import TRIES, assert_within

COMPOSED = [
    char
    for char in map(chr, range(0x80, 0x20000))
    if (parts := unicodedata.decomposition(char)) and not parts.startswith("<")
]


def test_every_composed_character_equals_its_parts() -> None:
    assert len(COMPOSED) > 1_000
    for char in COMPOSED:
        assert fold(unicodedata.normalize("NFD", char)) == fold(char), ascii(char)


@pytest.mark.parametrize("word", ["Größe", "ガイドブック", "한국어", "آب", "क़लम", "Việt", "5 \u212a", "שּׁ"])
def test_words_lead_back_to_their_parts(word: str) -> None:
    parts = unicodedata.normalize("NFD", word)
    folded = fold_with_origins(f"x {parts} y")
    start = folded.text.index(fold(word))
    first, last = folded.span(start, start + len(fold(word)))
    assert unicodedata.normalize("NFC", f"x {parts} y"[first:last]) == unicodedata.normalize("NFC", parts)


@pytest.mark.parametrize("space", "\t\x0b\x0c\x1c\x1d\x1e\x1f")
def test_a_space_of_ascii_is_a_blank_in_every_text(space: str) -> None:
    assert fold(f"a{space}b") == "a b"
    assert fold(f"a{space}b\u00e9") == "a b\u00e9"
    assert same_characters(f"a{space}b", "a b")


def test_accents_and_lines_tell_texts_apart() -> None:
    assert fold("カ") != fold("ガ")
    assert fold("Große") != fold("Grosse")
    assert same_characters("a\u00a0b", "a b")
    assert not same_characters("1\n2", "1 2")


@pytest.mark.parametrize("char", ["e\u0301", "カ\u3099", "\u0301", "\u212a", "\u200b"])
def test_it_takes_linear_time(char: str) -> None:
    assert_within(2, lambda turn: fold((char * 200_000)[: 200_000 + turn - TRIES]))
