"""BLEU against NLTK and by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.translate.bleu_score import sentence_bleu

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.evaluators.bleu import Bleu, bleu_n, word_tokens

Make = Callable[..., Case]


@pytest.mark.parametrize(
    ("answer", "expected", "n", "value"),
    [
        pytest.param("the cat sat", "the cat sat", 1, 1.0, id="identical"),
        pytest.param(
            "the the the the",
            "the cat is here",
            1,
            1 / 4,
            id="a repeated word is matched as often as it is expected",
        ),
        pytest.param("the cat", "the cat is on the mat", 1, math.exp(1 - 6 / 2), id="brevity penalty"),
        pytest.param("the cat sat on the mat", "the cat is on the mat", 2, 3 / 5, id="bigrams"),
        pytest.param("a b", "c d", 1, 0.0, id="nothing in common is 0, not nearly 0"),
        pytest.param("a b c", "c b a", 2, 0.0, id="no smoothing"),
        pytest.param("a b c", "a b c", 4, None, id="too short for 4-grams"),
    ],
)
def test_bleu_by_hand(answer: str, expected: str, n: int, value: float | None) -> None:
    assert bleu_n(answer.split(), expected.split(), n) == (None if value is None else pytest.approx(value))


words = st.lists(st.sampled_from("abcd"), min_size=4, max_size=15)


@pytest.mark.filterwarnings("ignore")
@given(words, words, st.integers(1, 4))
def test_it_is_nltks_sentence_bleu_of_one_n(answer: list[str], expected: list[str], n: int) -> None:
    weights = tuple(float(place == n) for place in range(1, 5))
    reference = sentence_bleu([expected], answer, weights=weights)
    assert bleu_n(answer, expected, n) == pytest.approx(reference if reference > 1e-100 else 0.0)


def test_words_are_treebank_tokens_of_sentences(tools: Tools) -> None:
    words = word_tokens("Dr. Smith didn't pay. He left.", tools.split_sentences)
    assert words == ("Dr.", "Smith", "did", "n't", "pay", ".", "He", "left", ".")


def test_an_answer_shorter_than_n_words_has_no_bleu_n(case: Make, tools: Tools) -> None:
    (outcome,) = Bleu().score([case("yes", expected_output="yes")], tools)
    assert dict(outcome.scores) == {"bleu_1": 1.0, "bleu_2": None, "bleu_3": None, "bleu_4": None}
