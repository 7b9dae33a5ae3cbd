"""ROUGE against the rouge-score package and by hand."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools
from pytest_evalstudio.evaluators._rouge import common_subsequence, rouge_l, rouge_n
from pytest_evalstudio.evaluators.rouge import Rouge

Make = Callable[..., Case]
SCORER = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True)

texts = st.lists(
    st.sampled_from(
        [
            "The",
            "cats",
            "cat",
            "running",
            "ran",
            "runs,",
            "quickly!",
            "Banks'",
            "bank-rate",
            "5.25%",
            "naïve",
            "東京",
            "a",
            ".",
            "\n",
        ]
    ),
    max_size=12,
).map(" ".join)


def test_rouge_by_hand(case: Make, tools: Tools) -> None:
    # "police killed the gunman" and "police kill the gunman": one stem; LCS of the second pair is "the
    # gunman" or "kill police", 2 of 4
    pairs = [
        ("police killed the gunman", "police kill the gunman"),
        ("police killed the gunman", "the gunman kill police"),
    ]
    first, second = Rouge().score(
        [case(answer, expected_output=expected) for expected, answer in pairs], tools
    )
    assert dict(first.scores) == {"rouge_1": 1.0, "rouge_2": 1.0, "rouge_l": 1.0}
    assert dict(second.scores) == {"rouge_1": 1.0, "rouge_2": pytest.approx(1 / 3), "rouge_l": 0.5}


@given(
    st.lists(
        st.tuples(
            texts.filter(lambda text: any(char.isascii() and char.isalnum() for char in text)),
            texts.filter(str.strip),
        ),
        max_size=5,
    )
)
def test_it_is_the_package_to_the_last_digit(pairs: list[tuple[str, str]]) -> None:
    tools = Tools(split_sentences=lambda text: [(0, len(text))])
    outcomes = Rouge().score(
        [
            Case(key="c", question="q", expected_output=expected, actual_output=answer)
            for expected, answer in pairs
        ],
        tools,
    )
    for (expected, answer), outcome in zip(pairs, outcomes, strict=True):
        reference = SCORER.score(expected, answer)
        assert [outcome.scores[key] for key in ("rouge_1", "rouge_2", "rouge_l")] == pytest.approx(
            [reference[key].fmeasure for key in ("rouge1", "rouge2", "rougeL")], abs=1e-12
        )


def naive_common_subsequence(first: str, second: str) -> int:
    if not first or not second:
        return 0
    if first[0] == second[0]:
        return 1 + naive_common_subsequence(first[1:], second[1:])
    return max(naive_common_subsequence(first[1:], second), naive_common_subsequence(first, second[1:]))


@given(st.text("abc", max_size=7), st.text("abc", max_size=7))
def test_the_common_subsequence_is_that_of_the_definition(first: str, second: str) -> None:
    assert common_subsequence(first, second) == naive_common_subsequence(first, second)


def test_a_pair_of_long_texts_takes_no_seconds() -> None:
    words = [str(place % 997) for place in range(20_000)]
    started = time.process_time()
    assert rouge_l(words, words[::-1]) < 1.0
    assert rouge_n(words, words, 2) == 1.0
    assert time.process_time() - started < 5


def test_a_reference_in_another_script_is_not_applicable(case: Make, tools: Tools) -> None:
    (outcome,) = Rouge().score([case("東京", expected_output="東京")], tools)
    assert outcome.status == "not_applicable"
