"""Repetition within a text, against naive definitions."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.metrics.loops import (
    _Hashes,
    compression_ratio,
    longest_repeat,
    repeat_share,
)
from support.processor_time import assert_within


def naive_longest(text: str, minimum: int) -> int:
    for length in range(len(text) // 2, minimum - 1, -1):
        if any(
            text.find(text[start : start + length], start + length) >= 0
            for start in range(len(text) - length + 1)
        ):
            return length
    return 0


@given(st.text("ab", max_size=60))
def test_the_longest_repeat_is_that_of_the_definition(text: str) -> None:
    result = longest_repeat(text, minimum=3)
    assert len(result) == naive_longest(text, 3)
    assert not result or text.count(result) >= 2


@given(st.text("ab", min_size=20, max_size=60), st.integers(3, 10))
def test_hashes_of_long_texts_find_the_same(text: str, length: int) -> None:
    naive = next(
        (
            end
            for end in range(length, len(text) - length + 1)
            if text.find(text[end : end + length]) <= end - length
        ),
        -1,
    )
    assert _Hashes(text).first_repeat(length) == naive


@pytest.mark.parametrize("text", ["a" * 9, "Mississippi", "see the sea", ""])
def test_what_any_text_repeats_is_no_loop(text: str) -> None:
    assert longest_repeat(text) == ""


def test_a_long_run_of_one_letter_is_a_loop() -> None:
    assert repeat_share("a" * 100, longest_repeat("a" * 100)) == 1.0


@pytest.mark.parametrize(
    "unit", ["a", "ab c", "".join(chr(97 + place * place % 26) for place in range(5_003))]
)
def test_a_million_characters_take_seconds(unit: str) -> None:
    def find(turn: int) -> None:
        text = (unit * (1_000_000 // len(unit) + 2))[: 1_000_000 + turn]
        assert len(longest_repeat(text)) > 400_000

    assert_within(30, find)


def test_compression_is_capped_and_counts_bytes() -> None:
    assert compression_ratio("abc") == 1.0
    assert compression_ratio("é" * 500) == len(zlib.compress(("é" * 500).encode(), 9)) / 1000
    with pytest.raises(ValueError, match="empty"):
        compression_ratio("")
