"""Sentences that neither context nor question supports."""

from __future__ import annotations

import pytest

from pytest_evalstudio.contrib.validation.artifacts.unsupported import has_unsupported_sentence

SOURCES = ("The annual fee of the Gold card is 30 USD.", "What is the fee of the Gold card?")


@pytest.mark.parametrize(
    "answer",
    [
        "The fee is 30 USD.",
        "According to the document, the answer is 30 USD.",
        "Good question! The annual fee is 30 USD. I hope this helps.",
        "It is 30 USD. Please let me know if you have any further questions, I am happy to help.",
        "",
    ],
)
def test_right_answers_and_courtesies_are_supported(answer: str) -> None:
    assert not has_unsupported_sentence(answer, SOURCES)


@pytest.mark.parametrize(
    "answer",
    [
        "It is 30 USD. All visitors receive a golden key and a basket of pears at the entrance.",
        "It is 30 USD. Bitte fragen Sie morgen den Hausmeister im zweiten Stock.",
        "The archive was founded by three sailors who kept parrots in the cellar.",
    ],
)
def test_invented_sentences_and_other_languages_are_not(answer: str) -> None:
    assert has_unsupported_sentence(answer, SOURCES)
