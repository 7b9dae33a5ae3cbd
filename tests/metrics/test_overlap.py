"""Overlap metrics against their definitions, NLTK and by hand."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.porter import PorterStemmer
from nltk.translate.bleu_score import sentence_bleu

from pytest_evalstudio.metrics import porter
from pytest_evalstudio.metrics.overlap import (
    bleu_n,
    common_subsequence,
    exact_match,
    normalized_edit_similarity,
    rouge_l,
    rouge_n,
    token_jaccard,
)
from support.processor_time import assert_within


def naive_common_subsequence(first: str, second: str) -> int:
    if not first or not second:
        return 0
    if first[0] == second[0]:
        return 1 + naive_common_subsequence(first[1:], second[1:])
    return max(naive_common_subsequence(first[1:], second), naive_common_subsequence(first, second[1:]))


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_common_subsequence_is_that_of_the_definition(first: str, second: str) -> None:
    assert common_subsequence(first, second) == naive_common_subsequence(first, second)


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_a_score_that_is_a_threshold_by_hand_is_not_below_it(
    expected: int, answer: int, data: st.DataObject
) -> None:
    """Precision and recall of 1 and 3/5 are 3/4, and no less by the rounding of numbers."""
    shared = data.draw(st.integers(0, min(expected, answer)))
    words = [f"w{number}" for number in range(expected)]
    others = [*words[:shared], *(f"o{number}" for number in range(answer - shared))]
    assert rouge_l(words, others) == 2 * shared / (expected + answer)
    assert rouge_n(words, others, 1) == 2 * shared / (expected + answer)


def test_a_pair_of_long_texts_takes_no_seconds() -> None:
    def compare(turn: int) -> None:
        words = [str(place % 997) for place in range(20_000 + turn)]
        assert rouge_l(words, words[::-1]) < 1.0
        assert rouge_n(words, words, 2) == 1.0

    assert_within(5, compare)


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


SUFFIXES = """
    ational tional enci anci izer bli alli entli eli ousli ization ation ator alism iveness fulness
    ousness aliti iviti biliti fulli logi icate ative alize iciti ical ful ness al ance ence er ic
    able ible ant ement ment ent ion ou ism ate iti ous ive ize ed ing eed ied ies s ss sses y e ll
    at bl iz tt zz
""".split()  # noqa: SIM905
made_up_words = st.builds(
    lambda start, ends: start + "".join(ends),
    st.text("abcdeilosuwxyz", max_size=6),
    st.lists(st.sampled_from(SUFFIXES), max_size=3),
)


@given(st.lists(made_up_words, max_size=50))
def test_stems_are_those_of_nltk(words: list[str]) -> None:
    stemmer = PorterStemmer()

    assert [porter.stem(word) for word in words] == [stemmer.stem(word) for word in words]


@pytest.mark.parametrize(
    "word", ["sky", "skies", "dying", "ties", "tied", "news", "by", "a", "", "y", "innings"]
)
def test_irregular_and_short_words_have_the_stems_of_nltk(word: str) -> None:
    assert porter.stem(word) == PorterStemmer().stem(word)


def test_string_metrics_on_the_edges() -> None:
    assert normalized_edit_similarity("", "") == exact_match("", " ") == token_jaccard("", " ") == 1.0
    assert normalized_edit_similarity("", "abc") == token_jaccard("", "abc") == 0.0
