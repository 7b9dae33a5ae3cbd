"""The evaluators on sentence embeddings: formulas on vectors whose cosines are known, and how empty, short
and strange texts fare.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from pytest_evalstudio.core.cases import Answer, Case
from pytest_evalstudio.core.errors import ConfigurationError, EvaluationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.evaluator import ScoredRow
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.questions_drift import packed, unpacked
from pytest_evalstudio.evaluators.sentence_similarity import (
    AnswerAccuracy,
    AnswerSemanticSentenceSimilarity,
    AnswerSemanticSimilarity,
)
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.metrics.similarity import drift
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.judges_of_text import WordNli
from support.schema_judges import any_judge

REGISTRY = Registry()
EMBEDDING = [id for id in REGISTRY.evaluators if REGISTRY.evaluators.spec(id).requires == ("embedder",)]
FEES, RATES, CARDS, HOURS = (
    "Fees are five dollars.",
    "Rates rose this year.",
    "Cards are free for all.",
    "Branches open at nine.",
)
ANGLES = {FEES: 0, RATES: 60, CARDS: 90, HOURS: 120}
"""Degrees of four sentences in a plane: cosines 1, 0.5, 0, -0.5 with the first."""
ROOT = round(math.sqrt(3) / 2, 6)


def vector(degrees: float) -> list[float]:
    return [math.cos(math.radians(degrees)), math.sin(math.radians(degrees))]


def plane(**more: float) -> Tools:
    """Tools with an embedder that knows the four sentences, and those given with their degrees."""
    angles = {**ANGLES, "Fees?": 0, **more}
    return Tools(
        split_sentences=split_sentences,
        embedder=WordEmbedder({text: vector(degrees) for text, degrees in angles.items()}),
    )


def outcome(id: str, case: Case, tools: Tools | None = None, **options: Any) -> Outcome:
    return REGISTRY.evaluators.get(id)(**options).score([case], tools or plane())[0]


CASE = Case(
    key="c",
    question="Fees?",
    answer=Answer(text=f"{FEES} {RATES}", context=(f"{CARDS} {HOURS}", FEES)),
    expected_output=f"{RATES} {CARDS}",
)


@pytest.mark.parametrize(
    ("id", "expected"),
    [
        pytest.param(
            "groundedness", {"groundedness": 0.866025}, id="rates are grounded worst, by cards at 30 degrees"
        ),
        pytest.param(
            "answer_relevancy_sentence_similarity", {"answer_relevancy": 1.0}, id="fees are what was asked"
        ),
        pytest.param(
            "answer_semantic_sentence_similarity",
            {"mean_answer_similarity": 0.75, "min_answer_similarity": 0.5},
            id="0.5 and 1",
        ),
        pytest.param("answer_accuracy", {"answer_accuracy": 0.5}, id="the worse of 0.5 and 1"),
        pytest.param(
            "context_relevancy_soft",
            {"precision_relevancy": 0.5, "recall_relevancy": 1.0},
            id="chunks 0 and 1",
        ),
        pytest.param(
            "context_mean_reciprocal_rank", {"mean_reciprocal_rank": 0.5}, id="the second chunk is relevant"
        ),
        pytest.param(
            "hcat_context_relevancy",
            {"context_relevancy": 1.0, "min_context_relevancy": 1.0},
            id="one sentence asked, found",
        ),
        pytest.param(
            "hcat_groundedness", {"groundedness": (1 + ROOT) / 2, "min_groundedness": ROOT}, id="1 and cos 30"
        ),
        pytest.param(
            "hcat_answer_relevancy",
            {"answer_relevancy": 0.75, "min_answer_relevancy": 0.5},
            id="1 and cos 60",
        ),
    ],
)
def test_scores_are_those_of_a_hand_calculation(id: str, expected: dict[str, float]) -> None:
    assert outcome(id, CASE).scores == pytest.approx(expected, abs=1e-6)


def test_completeness_is_that_of_a_hand_calculation() -> None:
    pytest.importorskip("ot")
    result = outcome("hcat_completeness", CASE)
    # context: cards, hours, fees; answer: fees, rates. Best cosines: cos 30, cos 60, 1.
    assert result.scores["completeness"] == pytest.approx((ROOT + 0.5 + 1) / 3, abs=1e-6)
    distances = np.array([[1 - 0, 1 - ROOT], [1 + 0.5, 1 - 0.5], [0, 0.5]])
    assert result.scores["mean_transport_distance"] == pytest.approx(distances.mean(), abs=1e-6)
    # A third of the mass each: fees to fees whole; of cards and hours, a sixth must go to fees, cheaper from
    # cards (1 - (1 - ROOT) < 1).
    cheapest = (0 + (1 - ROOT) / 2 + 1 / 2 + 0.5) / 3
    assert result.scores["wasserstein_distance"] == pytest.approx(cheapest, abs=1e-6)
    assert result.reason.startswith("least covered sentence of the context (0.5): Branches open at nine.")


def test_weights_by_length_count_long_sentences_more() -> None:
    lengths = len(FEES), len(RATES)
    result = outcome("hcat_answer_relevancy", CASE, weights="length")
    assert result.scores["answer_relevancy"] == pytest.approx(
        (lengths[0] + 0.5 * lengths[1]) / sum(lengths), abs=1e-6
    )


def test_whole_texts_are_compared_by_cosine() -> None:
    case = Case(key="c", question="?", answer=Answer(text=FEES), expected_output=RATES)
    assert outcome("answer_semantic_similarity", case).scores == {
        "answer_similarity": pytest.approx(0.5, abs=1e-6)
    }


def test_a_cross_encoder_reads_each_distinct_pair_once() -> None:
    batches: list[list[tuple[str, str]]] = []

    class Pairs:
        name = "pairs"

        def score(self, pairs: list[tuple[str, str]]) -> list[float]:
            batches.append(pairs)
            return [0.25 for _ in pairs]

    tools = Tools(split_sentences=split_sentences, cross_encoder=Pairs())  # type: ignore[arg-type]
    cls = REGISTRY.evaluators.get("answer_semantic_similarity")
    cases = [
        Case(key=key, question="?", answer=Answer(text=answer), expected_output="yes")
        for key, answer in (("a", "Yes."), ("b", "Yes."))
    ]
    result = cls(similarity="cross-encoder").score(cases, tools)
    assert batches == [[("Yes.", "yes")]]
    assert [entry.scores["answer_similarity"] for entry in result] == [0.25, 0.25]


@pytest.mark.parametrize(
    "id",
    sorted(
        id
        for id in REGISTRY.evaluators
        if "embedder" in REGISTRY.evaluators.spec(id).requires and id != "hcat_completeness"
    ),
)
def test_a_batch_is_one_call_of_the_embedder_with_each_text_once(id: str) -> None:
    embedder = WordEmbedder()
    cases = [
        CASE,
        CASE,
        Case(key="d", question="Else?", answer=Answer(text=HOURS, context=(FEES,)), expected_output=FEES),
    ]
    cases = [replace(case, counterpart=case) for case in cases]
    with any_judge() as judge:
        REGISTRY.evaluators.get(id)().score(
            cases, Tools(split_sentences=split_sentences, embedder=embedder, nli=WordNli(), judge=judge)
        )
    assert len(embedder.calls) == 1
    assert len(set(embedder.calls[0])) == len(embedder.calls[0])


def test_without_an_embedder_it_says_so() -> None:
    with pytest.raises(EvaluationError, match="no embedder"):
        REGISTRY.evaluators.get("groundedness")().score([CASE], Tools(split_sentences=split_sentences))


def test_the_least_grounded_sentence_is_named_and_every_sentence_has_its_score() -> None:
    result = outcome("groundedness", CASE)
    assert result.reason == f"least grounded sentence (0.866): {RATES}"
    assert [
        (CASE.actual_output[part.start : part.end], part.scores["groundedness"]) for part in result.fragments
    ] == [(FEES, 1.0), (RATES, ROOT)]


@pytest.mark.parametrize("answer", ["...", "— !", "👍"])
def test_an_answer_without_words_is_the_worst_and_a_problem(answer: str) -> None:
    result = outcome("groundedness", Case(key="c", question="?", answer=Answer(text=answer, context=(FEES,))))
    assert result.scores == {"groundedness": 0.0}
    assert result.findings[0].problem_type == "data_quality"
    assert "too short to embed" in result.findings[0].description


def test_a_one_word_answer_is_judged_and_a_short_sentence_joins_its_neighbour() -> None:
    tools = plane(**{"Five": 30, f"Yes. {FEES}": 0})
    assert (
        outcome(
            "groundedness", Case(key="c", question="?", answer=Answer(text="Five", context=(FEES,))), tools
        ).scores["groundedness"]
        == ROOT
    )
    assert (
        outcome(
            "groundedness",
            Case(key="c", question="?", answer=Answer(text=f"Yes. {FEES}", context=(FEES,))),
            tools,
        ).scores["groundedness"]
        == 1.0
    )


def test_a_short_sentence_with_a_number_or_without_spaces_counts() -> None:
    for fact in ("Fee: $99.", "你必须卖掉房子。", "No."):
        case = Case(key="c", question="?", answer=Answer(text=f"{FEES} {fact}", context=(FEES,)))
        assert outcome("groundedness", case, plane(**{fact: 90})).scores["groundedness"] == 0.0


def test_a_context_without_words_supports_nothing() -> None:
    result = outcome("groundedness", Case(key="c", question="?", answer=Answer(text=FEES, context=("---",))))
    assert (result.scores["groundedness"], result.reason) == (0.0, "the context has no words")


def test_blank_chunks_keep_their_rank_and_count_nothing() -> None:
    case = Case(key="c", question="Fees?", answer=Answer(context=("", "--", FEES, FEES)))
    assert outcome("context_mean_reciprocal_rank", case).scores["mean_reciprocal_rank"] == pytest.approx(
        1 / 3
    )
    soft = outcome("context_relevancy_soft", case)
    assert soft.scores == {"precision_relevancy": 0.5, "recall_relevancy": 1.0}
    assert soft.reason.startswith("least relevant of ")
    assert soft.reason.endswith(" (0)")


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 0.5), ({"mrr_relevant_chunk_threshold": 0.4}, 0.5), ({"mrr_relevant_chunk_oor_idx": 1}, 0.0)],
)
def test_the_rank_that_counts_is_an_option(options: dict[str, Any], expected: float) -> None:
    assert outcome("context_mean_reciprocal_rank", CASE, **options).scores["mean_reciprocal_rank"] == expected


@pytest.mark.parametrize(
    ("id", "options"),
    [
        ("context_mean_reciprocal_rank", {"mrr_relevant_chunk_threshold": 0.0}),
        ("context_mean_reciprocal_rank", {"mrr_relevant_chunk_oor_idx": 0}),
        ("questions_drift", {"split_ratio": 0.95}),
        ("questions_drift", {"min_test_cases": 2}),
    ],
)
def test_options_out_of_range_are_refused(id: str, options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=next(iter(options))):
        REGISTRY.evaluators.get(id)(**options)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [("normalized_edit_distance", 1 - 1 / 5), ("exact_match", 0.0), ("token_jaccard", 0.0)],
)
def test_short_texts_are_compared_as_strings(metric: str, expected: float) -> None:
    case = Case(key="c", question="?", answer=Answer(text="pares"), expected_output=" Paris")
    assert outcome("answer_accuracy", case, short_string_metric=metric).scores == {
        "answer_accuracy": pytest.approx(expected)
    }


def rows(degrees: list[float]) -> list[ScoredRow]:
    sketches = [packed(np.array(vector(angle))) for angle in degrees]
    return [
        ScoredRow(key=str(place), expected_output="", actual_output="", scores={}, sketch=sketch)
        for place, sketch in enumerate(sketches)
    ]


def test_drift_is_the_cosine_distance_of_the_halves() -> None:
    evaluator = REGISTRY.evaluators.get("questions_drift")()
    assert evaluator.aggregate(rows([0] * 6 + [60] * 6)).scores["questions_drift"] == pytest.approx(
        0.5, abs=1e-3
    )
    assert evaluator.aggregate(rows([10, 80] * 8)).scores["questions_drift"] == pytest.approx(0.0, abs=1e-3)
    assert drift(np.array([[1.0, 0.0]]), np.array([[-1.0, 0.0]])) == 2.0


def test_too_few_questions_have_no_drift() -> None:
    with pytest.raises(EvaluationError, match="there are 9"):
        REGISTRY.evaluators.get("questions_drift")().aggregate(rows([0] * 9))


def test_a_question_travels_as_its_vector_and_has_no_verdict(case: Callable[..., Case]) -> None:
    embedder = WordEmbedder()
    result = REGISTRY.evaluators.get("questions_drift")().score(
        [case("yes")], Tools(split_sentences=split_sentences, embedder=embedder)
    )[0]
    assert result.scores == {"questions_drift": None}
    np.testing.assert_allclose(unpacked(result.sketch), embedder.encode(["Why?"])[0], atol=1e-3)


@pytest.mark.parametrize(("options", "expected"), [({}, 0.0), ({"negative_cosines": True}, -0.5)])
def test_a_negative_cosine_is_kept_by_option(options: dict[str, bool], expected: float) -> None:
    case = Case(key="c", question="Fees?", answer=Answer(text=HOURS, context=(FEES,)))
    evaluator = REGISTRY.evaluators.get("groundedness")(**options)
    (outcome,) = evaluator.score([case], plane())
    assert outcome.scores["groundedness"] == pytest.approx(expected)


def test_weights_of_the_sentences_can_be_given() -> None:
    case = Case(key="c", question="Fees?", answer=Answer(text=f"{FEES} {RATES}", context=(FEES,)))
    (choice,) = Plan(
        REGISTRY,
        configuration(
            {"evaluators": ["hcat_groundedness"], "evaluator": {"hcat_groundedness": {"weights": [3, 1]}}}
        ),
    ).selected
    (outcome,) = choice.evaluator.score([case], plane())
    assert outcome.scores["groundedness"] == pytest.approx(0.75 * 1 + 0.25 * 0.5)


@pytest.mark.parametrize("id", ["hcat_groundedness", "hcat_context_relevancy", "hcat_nli_groundedness"])
@pytest.mark.parametrize("weights", [(), (1.0, 0.0)])
def test_given_weights_must_be_positive(id: str, weights: tuple[float, ...]) -> None:
    with pytest.raises(ConfigurationError, match="expected 'uniform', 'length' or positive numbers"):
        REGISTRY.evaluators.get(id)(weights=weights)


SIMILARITIES = [
    AnswerSemanticSimilarity(),
    AnswerSemanticSentenceSimilarity(),
    AnswerAccuracy(),
    AnswerAccuracy(short_string_metric="embeddings"),
]


@pytest.mark.parametrize("evaluator", SIMILARITIES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    "text", ["👍", "👍❤️🚀" * 5, "?!", "…" * 12, "你必须卖掉房子。", "شكرا لك", "Yes 👍", "क़लम"]
)
def test_identical_answers_have_the_highest_similarity_in_every_script(
    evaluator: Any, text: str, case: Callable[..., Case], tools: Tools
) -> None:
    (outcome,) = evaluator.score([case(text, expected_output=text)], tools)
    assert set(outcome.scores.values()) == {1.0}


@pytest.mark.parametrize("evaluator", SIMILARITIES, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(
    ("answer", "expected"),
    [("👍" * 11, "👎" * 11), ("I would rather not say.", "👍" * 11), ("?!" * 6, "!?" * 6)],
)
def test_other_answers_than_emoji_and_signs_have_no_similarity(
    evaluator: Any, answer: str, expected: str, case: Callable[..., Case], tools: Tools
) -> None:
    (outcome,) = evaluator.score([case(answer, expected_output=expected)], tools)
    assert outcome.status == "not_applicable"


@pytest.mark.parametrize("evaluator", SIMILARITIES, ids=lambda each: type(each).__name__)
def test_an_emoji_in_place_of_words_fails(evaluator: Any, case: Callable[..., Case], tools: Tools) -> None:
    (outcome,) = evaluator.score([case("👍" * 11, expected_output="The fee is 5 USD.")], tools)
    assert set(outcome.scores.values()) == {0.0}
