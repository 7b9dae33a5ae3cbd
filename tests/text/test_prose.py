"""Sentences are those of syntok's segmenter, whose rules the package applies in less time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syntok import segmenter

from pytest_evalstudio.text.prose import prose_sentences

TEXT = """
the fee of Paris BLEU e.g i.e etc Dr Mr No no VII I A x 3 42 2024 1.5 don't it's well-known McDonald PDFs example.com
U.S May Sept Foo Bar He In (see (Foo bar) [1] {x} ) ( "quote end" 'x' - -- a;b foo,bar foo.Bar ... .. … é naïve “q”
’s end.) end." what?! :x x: vs
"""  # noqa: E501
WORDS = TEXT.split()
ENDS = (". ", ". ", "! ", "? ", "; ", ",", ", ", " ", " ", " ", ": ", "\n", "  ", "\n\n", ".", "\t", ".\n")


def by_segmenter(text: str) -> list[tuple[int, int]]:
    return [
        (sentence[0].offset, sentence[-1].offset + len(sentence[-1].value))
        for paragraph in segmenter.analyze(text)
        for sentence in paragraph
        if sentence
    ]


@given(
    st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(ENDS)), min_size=1, max_size=14), st.booleans()
)
def test_sentences_are_those_of_the_segmenter(parts: list[tuple[str, str]], stripped: bool) -> None:
    text = "".join(word + end for word, end in parts)
    text = (text.strip() if stripped else text) + " x. Y"

    assert prose_sentences(text) == by_segmenter(text)


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Smith paid $1.5 million. He left.", ["Dr. Smith paid $1.5 million.", "He left."]),
        ("It is so (e.g. here. There). And on.", ["It is so (e.g. here. There).", "And on."]),
        ("One line\nof text. And more", ["One line\nof text.", "And more"]),
        ("One.\n\ntwo. three", ["One.", "two. three"]),
        ("It fell in 42. May be. Open", ["It fell in 42. May be.", "Open"]),
    ],
)
def test_sentences_of_a_text(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in prose_sentences(text)] == sentences


MARKS = (
    *"abAB12.,;:!?'\"()[]-_ \té中’“”‘…–½\u200b\xa0\x1c\x85\u00ad",
    *[" "] * 12,
    *[". "] * 4,
    "\n",
    ") ",
    "(a) ",
)
PARTS = (
    *MARKS,
    "Mr",
    "Dr.",
    " The ",
    "...",
    "n't",
    "no ",
    "IV",
    "May",
    "234",
    " fees",
    " (see) ",
    " [Bob is.] ",
)


@given(st.lists(st.sampled_from(PARTS), max_size=90))
def test_sentences_of_broken_texts_are_those_of_the_segmenter(parts: list[str]) -> None:
    text = "".join(parts).strip() + " x. Y"

    assert prose_sentences(text) == by_segmenter(text)


def test_text_in_brackets_ends_a_sentence_only_within_fifty_tokens() -> None:
    for size in (40, 48, 49, 60):
        text = f"It is so (see {'a ' * size}). He left [{'Be. ' * size}]. End. Done"
        assert prose_sentences(text) == by_segmenter(text)
