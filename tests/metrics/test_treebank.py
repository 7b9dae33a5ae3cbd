"""Words and punctuation marks of sentences, compared with NLTK."""

from __future__ import annotations

import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer

from pytest_evalstudio.metrics.treebank import word_tokens
from pytest_evalstudio.text.sentences import split_sentences


def test_words_are_treebank_tokens_of_sentences() -> None:
    words = word_tokens("Dr. Smith didn't pay. He left.", split_sentences)
    assert words == ("Dr.", "Smith", "did", "n't", "pay", ".", "He", "left", ".")


_PIECES = (
    *(
        "a",
        "don't",
        "it's",
        "He'd",
        "we'LL",
        "they've",
        "N'T",
        "n't",
        "'s",
        "x'y",
        "cannot",
        "wanna",
        "more'n",
    ),
    *(
        "5",
        "1,000",
        "12:30",
        "U.S.",
        "e.g.",
        ",",
        ":",
        ";",
        ".",
        "...",
        "?",
        "!",
        "$",
        "%",
        "&",
        "@",
        "#",
        "-",
        "--",
    ),
    *(" ", "  ", "\n", "\t", "'", '"', "(", ")", "[", "/", "+", "=", "_", "é", "ü", "“"),
)


_SPACED_PIECES = (
    *_PIECES,
    *[" "] * 20,
    "'tis",
    ".' ",
    ".) ",
    "``",
    "''",
    "\x1c",
    *"”‘’„«»–—`*",
    "'tWas",
    "gonna",
    "d'ye",
    "\xa0",
)


@given(
    st.lists(st.sampled_from(_PIECES), max_size=12).map("".join)
    | st.lists(st.sampled_from(_SPACED_PIECES), max_size=30).map("".join)
    | st.text(max_size=30)
)
def test_words_are_those_of_the_whole_tokenizer(sentence: str) -> None:
    assert list(word_tokens(sentence, lambda text: [(0, len(text))])) == NLTKWordTokenizer().tokenize(
        sentence
    )


def test_dividing_sentences_with_rare_signs_does_not_import_nltk() -> None:
    code = """
import sys
from pytest_evalstudio.metrics.treebank import word_tokens
words = word_tokens("He said: “I wanna go” — 'now'.", lambda text: [(0, len(text))])
assert words == ("He", "said", ":", "“", "I", "wan", "na", "go", "”", "—", "'", "now", "'", "."), words
assert "nltk" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
