"""ROUGE against the rouge-score package and by hand; BLEU of short answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.ngrams import Bleu, Rouge

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
            Case(key="c", question="q", expected_output=expected, answer=Answer(text=answer))
            for expected, answer in pairs
        ],
        tools,
    )
    for (expected, answer), outcome in zip(pairs, outcomes, strict=True):
        reference = SCORER.score(expected, answer)
        assert [outcome.scores[key] for key in ("rouge_1", "rouge_2", "rouge_l")] == pytest.approx(
            [reference[key].fmeasure for key in ("rouge1", "rouge2", "rougeL")], abs=1e-12
        )


def test_a_reference_in_another_script_is_not_applicable(case: Make, tools: Tools) -> None:
    (outcome,) = Rouge().score([case("東京", expected_output="東京")], tools)
    assert outcome.status == "not_applicable"


def test_an_answer_shorter_than_n_words_has_no_bleu_n(case: Make, tools: Tools) -> None:
    (outcome,) = Bleu().score([case("yes", expected_output="yes")], tools)
    assert dict(outcome.scores) == {"bleu_1": 1.0, "bleu_2": None, "bleu_3": None, "bleu_4": None}


def test_texts_too_long_for_rouge_l_are_an_error_and_no_wait(case: Callable[..., Case], tools: Tools) -> None:
    words = " ".join(str(number) for number in range(40_000))

    (outcome,) = Rouge().score([case(words, expected_output=words)], tools)

    assert (outcome.status, outcome.code) == ("error", "text_too_long")
    assert "40,000 and 40,000 words are too long" in outcome.reason
