"""Texts of documents from chunks: repeated text once, sentences whole, time linear."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

import pytest

from pytest_evalstudio.hosts._chunks import MIN_OVERLAP_CHARS, joined_chunks
from support.processor_time import assert_linear

TEXT = " ".join(f"Clause {number} limits a transfer to {number * 37} USD a day." for number in range(80))


@pytest.mark.parametrize(("size", "overlap"), [(200, 100), (300, 40), (150, 149), (5000, 400)])
def test_overlapping_chunks_give_the_text_again(size: int, overlap: int) -> None:
    chunks = [TEXT[start : start + size] for start in range(0, len(TEXT) - overlap, size - overlap)]
    assert joined_chunks(chunks) == TEXT


def test_the_overlap_is_the_longest_one() -> None:
    generator = random.Random(0)
    for _ in range(300):
        first, second = ("".join(generator.choices("ab", k=60)) for _ in range(2))
        shared = generator.randint(0, 60)
        second = first[len(first) - shared :] + second
        longest = max(
            (size for size in range(len(first) + 1) if first[len(first) - size :] == second[:size]), default=0
        )
        expected = first + second[longest:] if longest >= MIN_OVERLAP_CHARS else f"{first}\n{second}"
        assert joined_chunks([first, second]) == expected


def test_a_short_repetition_is_not_an_overlap() -> None:
    assert joined_chunks(["The fee of a", "a transfer is 5 USD."]) == "The fee of a\na transfer is 5 USD."


def test_sentences_that_end_at_a_chunk_are_paragraphs() -> None:
    assert joined_chunks(["The fee is 5 USD.", "", "  ", "The limit is 1,000 USD."]) == (
        "The fee is 5 USD.\n\nThe limit is 1,000 USD."
    )
    assert joined_chunks([]) == ""


def test_the_time_is_linear_in_the_chunks() -> None:
    def prepare(size: int) -> Callable[[], object]:
        return partial(joined_chunks, ["a" * size + "b", "a" * size, "a" * size + "c"])

    assert_linear(prepare, 20_000)
