"""Looping detection: sentences, stretches, compression."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.evaluators.looping_detection import (
    LoopingDetection,
    _Windows,
    compression_ratio,
    longest_repeat,
    repeat_share,
)

Make = Callable[..., Case]
LOOP = "I will try again now. "


def test_a_single_sentence_does_not_loop(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case("The rate rose to 5.25 percent in 2023.")], tools)
    assert outcome.scores["unique_sentences"] == 1.0
    assert outcome.scores["longest_repeated_substring"] == 0.0
    assert outcome.reason == ""


def test_a_loop_is_found_by_all_three(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case(LOOP * 20)], tools)
    assert outcome.scores["unique_sentences"] == 1 / 20
    assert outcome.scores["longest_repeated_substring"] == pytest.approx(1.0, abs=0.02)
    assert outcome.scores["compression_ratio"] == len(zlib.compress((LOOP * 20).encode(), 9)) / len(LOOP * 20)
    assert outcome.reason == "a sentence is said 20 times: 'I will try again now.'"
    assert len(outcome.fragments) == 19


def test_short_sentences_and_blanks_do_not_count(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score(
        [case("Yes. Yes. Yes. This is long enough. THIS is  long enough. And this is another.")], tools
    )
    assert outcome.scores["unique_sentences"] == 2 / 3


def test_a_loop_inside_one_sentence_is_told(case: Make, tools: Tools) -> None:
    (outcome,) = LoopingDetection().score([case("and so on and on " * 8)], tools)
    assert outcome.scores["unique_sentences"] == 1.0
    assert "times" in outcome.reason
    assert all(outcome.fragments[0].end <= other.start for other in outcome.fragments[1:])


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
    found = longest_repeat(text, minimum=3)
    assert len(found) == naive_longest(text, 3)
    assert not found or text.count(found) >= 2


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
    assert _Windows(text).first_repeat(length) == naive


@pytest.mark.parametrize("text", ["a" * 9, "Mississippi", "see the sea", ""])
def test_what_any_text_repeats_is_no_loop(text: str) -> None:
    assert longest_repeat(text) == ""


def test_a_long_run_of_one_letter_is_a_loop() -> None:
    assert repeat_share("a" * 100, longest_repeat("a" * 100)) == 1.0


@pytest.mark.parametrize(
    "unit", ["a", "ab c", "".join(chr(97 + place * place % 26) for place in range(5_003))]
)
def test_a_million_characters_take_seconds(unit: str) -> None:
    text = (unit * (1_000_000 // len(unit) + 1))[:1_000_000]
    started = time.process_time()
    assert len(longest_repeat(text)) > 400_000
    assert time.process_time() - started < 30


def test_compression_is_capped_and_counts_bytes() -> None:
    assert compression_ratio("abc") == 1.0
    assert compression_ratio("é" * 500) == len(zlib.compress(("é" * 500).encode(), 9)) / 1000
    with pytest.raises(ValueError, match="empty"):
        compression_ratio("")
