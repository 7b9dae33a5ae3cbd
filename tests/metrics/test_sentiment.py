"""Sentiment by the lexicon."""

from __future__ import annotations

import math

import pytest

from pytest_evalstudio.metrics.sentiment import lexicon_sentiment


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("We are happy to help.", 1),
        ("We are sorry, but your application was rejected.", -2),
        ("It is not good.", -1),
        ("It is not the least bit very good.", 1),
        ("The account is blue.", 0),
        ("Отлично", 0),
    ],
)
def test_good_words_less_bad_words_negations_turned_around(text: str, words: int) -> None:
    assert lexicon_sentiment(text) == pytest.approx(words / math.sqrt(words * words + 15))
