"""The RAGAS family: its formulas by hand, what it asks and how often, and what it makes of nothing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from pytest_evalstudio.core.cases import Answer, Case, Prompt
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._ragas import together
from pytest_evalstudio.metrics.classification import harmonic_mean, statement_f1
from pytest_evalstudio.metrics.ranking import average_precision
from pytest_evalstudio.text.sentences import split_sentences
from support.embedders import WordEmbedder
from support.judging import SaidByTest, ScriptedJudge, outcome, outcomes, panel_of, verdicts

REGISTRY = Registry()
QUESTION, ANSWER, EXPECTED = (
    "What does it cost?",
    "It costs five euros. It is fast.",
    "Five euros. Paid monthly.",
)
ROW = {
    "input": QUESTION,
    "actual_output": ANSWER,
    "expected_output": EXPECTED,
    "context": ["Price: five euros. It is red.", "Hours: nine to five."],
}
CASE = Case(
    key="c",
    question=QUESTION,
    answer=Answer(text=ANSWER, context=tuple(ROW["context"])),
    expected_output=EXPECTED,
)
ANGLES = {QUESTION: 0.0, "How much?": 60.0, "How fast?": 90.0, "Why?": 120.0, ANSWER: 0.0, EXPECTED: 60.0}
"""Degrees of texts in a plane: cosines 0.5, 0 and -0.5 with the question, 0.5 of the answer with the expected
one.
"""

PRICE = {"sentence": 1, "reason": "the price"}
CLAIMS, SUPPORT, QUESTIONS, USEFUL, ATTRIBUTION = (
    "Break the answer down",
    "each claim",
    "fitting and complete answer",
    "Piece of text",
    "expected answer",
)
PARTS: Mapping[str, Any] = {
    CLAIMS: {"claims": ["It costs five euros.", "It is fast."]},
    SUPPORT: verdicts("claim", ["yes", "no"]),
    QUESTIONS: {"questions": ["How much?", "How fast?", "Why?"], "noncommittal": "no"},
    USEFUL: {"reason": "so", "verdict": "yes"},
    ATTRIBUTION: verdicts("sentence", ["yes", "no"]),
}


def scored(id: str, say: Any, case: Case = CASE, **options: Any) -> tuple[Outcome, SaidByTest]:
    """The outcome of a case, and the model that judged it, with texts that lie in a plane."""
    model = SaidByTest(
        lambda prompt: ScriptedJudge(say)(prompt.text) if isinstance(say, Mapping) else say(prompt)
    )
    vectors = {
        text: [math.cos(math.radians(angle)), math.sin(math.radians(angle))] for text, angle in ANGLES.items()
    }
    tools = Tools(split_sentences=split_sentences, embedder=WordEmbedder(vectors), judge=panel_of(model))
    return REGISTRY.evaluators.get(id)(**options).score([case], tools)[0], model


@pytest.mark.parametrize(
    ("words", "value"),
    [(["yes", "yes"], 1.0), (["yes", "no"], 0.5), (["no", "no"], 0.0)],
    ids=["all", "one of two", "none"],
)
def test_faithfulness_is_the_share_of_claims_that_the_context_bears_out(
    words: list[str], value: float
) -> None:
    result, _ = scored("faithfulness", {**PARTS, SUPPORT: verdicts("claim", words)})
    assert result.scores == {"faithfulness": value}


def test_an_answer_without_claims_is_not_applicable_to_faithfulness() -> None:
    result, model = scored("faithfulness", {CLAIMS: {"claims": ["  "]}})
    assert (result.status, result.reason) == ("not_applicable", "the answer makes no claims")
    assert len(model.asked) == 1


def test_the_claim_that_is_not_borne_out_is_named() -> None:
    result, _ = scored("faithfulness", PARTS)
    assert result.reason == "not supported by the context: It is fast."
    assert [claim["verdict"] for claim in result.details["claims"]] == ["yes", "no"]


def test_verdicts_in_another_order_are_put_in_theirs() -> None:
    shuffled = {
        "verdicts": [
            {"claim": 2, "reason": "", "verdict": "no"},
            {"claim": 1, "reason": "", "verdict": "yes"},
        ]
    }
    result, _ = scored("faithfulness", {**PARTS, SUPPORT: shuffled})
    assert result.reason == "not supported by the context: It is fast."


def test_a_verdict_too_few_is_a_reply_that_cannot_be_read() -> None:
    result, model = scored("faithfulness", {**PARTS, SUPPORT: verdicts("claim", ["yes"])})
    assert result.status == "error"
    assert "verdicts" in result.reason
    assert len(model.asked) == 3, "claims, verdicts, and their repair"


def test_answer_relevancy_is_the_mean_cosine_with_the_judges_questions() -> None:
    result, model = scored(
        "answer_relevancy",
        {QUESTIONS: {"questions": ["How much?", "How fast?", QUESTION], "noncommittal": "no"}},
    )
    assert result.scores["answer_relevancy"] == pytest.approx((0.5 + 0.0 + 1.0) / 3)
    assert len(model.asked) == 1


def test_a_noncommittal_answer_is_not_relevant_however_similar_its_questions_are() -> None:
    result, _ = scored("answer_relevancy", {QUESTIONS: {"questions": [QUESTION] * 3, "noncommittal": "yes"}})
    assert result.scores == {"answer_relevancy": 0.0}
    assert result.reason == "the answer is noncommittal"
    assert result.details["noncommittal"] is True


def test_answer_relevancy_below_zero_counts_zero() -> None:
    result, _ = scored(
        "answer_relevancy", {QUESTIONS: {"questions": ["Why?"], "noncommittal": "no"}}, strictness=1
    )
    assert result.scores == {"answer_relevancy": 0.0}


def test_answer_relevancy_needs_as_many_questions_as_its_strictness() -> None:
    result, _ = scored("answer_relevancy", {QUESTIONS: {"questions": ["How much?"]}})
    assert result.status == "error"
    with pytest.raises(ConfigurationError, match="strictness = 0"):
        scored("answer_relevancy", PARTS, strictness=0)


@pytest.mark.parametrize(
    ("useful", "value"),
    [
        pytest.param([True, True, True], 1.0, id="all useful"),
        pytest.param([True, False, True], (1 / 1 + 2 / 3) / 2, id="first and third"),
        pytest.param([False, False, True], 1 / 3, id="the last only"),
        pytest.param([False, False], 0.0, id="none"),
    ],
)
def test_context_precision_by_hand(useful: list[bool], value: float) -> None:
    assert average_precision(useful) == pytest.approx(value)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_context_precision_is_scikit_learns_average_precision(useful: list[bool]) -> None:
    if any(useful):
        ranked = list(range(len(useful), 0, -1))
        assert average_precision(useful) == pytest.approx(average_precision_score(useful, ranked))


def test_each_chunk_is_judged_by_itself_and_a_useless_one_on_top_costs_precision() -> None:
    def say(prompt: Prompt) -> Any:
        return {"reason": "so", "verdict": "yes" if "Hours" in prompt.text else "no"}

    result, model = scored("context_precision", say)
    assert result.scores == {"context_precision": 0.5}
    assert result.reason == "not useful: chunk 1 of 2"
    assert len(model.asked) == 2


def test_an_empty_chunk_is_useless_and_nobody_is_asked() -> None:
    case = Case(
        key="c", question="Q?", answer=Answer(text="A.", context=(" ", "Text.")), expected_output="E."
    )
    result, model = scored("context_precision", PARTS, case)
    assert result.scores == {"context_precision": 0.5}
    assert len(model.asked) == 1


def test_context_recall_is_the_share_of_expected_sentences_in_the_context() -> None:
    result, model = scored("context_recall", PARTS)
    assert result.scores == {"context_recall": 0.5}
    assert result.reason == "not in the context: Paid monthly."
    assert len(model.asked) == 1


def test_context_relevancy_is_the_share_of_relevant_sentences() -> None:
    result, _ = scored("context_relevancy", {"sentences": {"relevant": [PRICE, PRICE]}})
    assert result.scores["context_relevancy"] == pytest.approx(1 / 3)
    assert [fragment.scores["context_relevancy"] for fragment in result.fragments] == [1.0, 0.0, 0.0]
    assert [fragment.message for fragment in result.fragments] == ["the price", "", ""]


def test_a_sentence_that_is_not_there_cannot_be_relevant() -> None:
    result, _ = scored("context_relevancy", {"sentences": {"relevant": [{**PRICE, "sentence": 4}]}})
    assert result.status == "error"


@pytest.mark.parametrize(
    ("counts", "value"), [((2, 1, 1), 2 / 3), ((3, 0, 0), 1.0), ((0, 2, 1), 0.0), ((1, 0, 2), 0.5)]
)
def test_statement_f1_by_hand(counts: tuple[int, int, int], value: float) -> None:
    assert statement_f1(*counts) == pytest.approx(value)


def compared(answer: list[str], expected: list[str]) -> Callable[[Prompt], Any]:
    """A judge of answer correctness: as many statements as verdicts, for the answer and the expected one."""

    def say(prompt: Prompt) -> Any:
        if "Compare the statements" in prompt.text:
            return {
                "answer_verdicts": verdicts("statement", answer)["verdicts"],
                "expected_verdicts": verdicts("statement", expected)["verdicts"],
            }
        words, letter = (answer, "a") if ANSWER in prompt.text else (expected, "e")
        return {"claims": [f"{letter}{number}" for number in range(len(words))]}

    return say


def test_answer_correctness_weighs_statements_and_similarity() -> None:
    say = compared(["yes", "yes", "no"], ["yes", "yes", "no"])
    result, model = scored("answer_correctness", say)
    assert result.scores["answer_correctness"] == pytest.approx(0.75 * 2 / 3 + 0.25 * 0.5)
    assert len(model.asked) == 3, "the statements of both texts, and their comparison"
    result, _ = scored("answer_correctness", say, factuality_weight=1.0, similarity_weight=1.0)
    assert result.scores["answer_correctness"] == pytest.approx((2 / 3 + 0.5) / 2)


def test_answer_correctness_names_statements_and_reasons() -> None:
    result, _ = scored("answer_correctness", compared(["yes", "no"], ["yes", "no"]))
    assert {key: result.details[key] for key in ("both", "answer_only", "expected_only")} == {
        "both": ["a0"],
        "answer_only": ["a1"],
        "expected_only": ["e1"],
    }
    assert result.details["reasons"] == {"a0": "so", "a1": "so", "e0": "so", "e1": "so"}


@pytest.mark.parametrize(("answer", "expected"), [(["yes"], []), ([], ["yes"])], ids=["answer", "expected"])
def test_statements_of_one_side_alone_agree_with_nothing(answer: list[str], expected: list[str]) -> None:
    result, model = scored("answer_correctness", compared(answer, expected))
    assert result.details["factuality"] == 0.0
    assert len(model.asked) == 2


def test_texts_without_a_statement_are_not_applicable_to_answer_correctness() -> None:
    result, _ = scored("answer_correctness", compared([], []))
    assert result.status == "not_applicable"


def test_ragas_is_the_harmonic_mean_of_its_four_parts() -> None:
    result, model = scored(
        "ragas", {**PARTS, QUESTIONS: {"questions": ["How much?"] * 3, "noncommittal": "no"}}
    )
    assert result.scores == {
        "ragas": pytest.approx(4 / (1 / 0.5 + 1 / 0.5 + 1 / 1.0 + 1 / 0.5)),
        "faithfulness": 0.5,
        "answer_relevancy": pytest.approx(0.5),
        "context_precision": 1.0,
        "context_recall": 0.5,
    }
    assert len(model.asked) == 6, "claims, their support, questions, two chunks, sentences"


def test_a_part_of_zero_makes_ragas_zero() -> None:
    assert harmonic_mean([1.0, 0.0, 1.0]) == 0.0


def test_ragas_leaves_out_a_part_that_is_not_applicable_and_says_so() -> None:
    result, _ = scored(
        "ragas",
        {**PARTS, CLAIMS: {"claims": []}, QUESTIONS: {"questions": ["How much?"] * 3, "noncommittal": "no"}},
    )
    assert result.scores["faithfulness"] is None
    assert result.scores["ragas"] == pytest.approx(3 / (1 / 0.5 + 1 / 1.0 + 1 / 0.5))
    assert "faithfulness left out: the answer makes no claims" in result.reason


def test_ragas_and_its_parts_ask_no_more_than_the_parts_need() -> None:
    judge_ = ScriptedJudge(PARTS)
    for id in ("faithfulness", "context_precision", "context_recall"):
        outcome(id, judge_, ROW)
    separate_count = len(judge_.prompts)
    shared = ScriptedJudge(PARTS)
    model = SaidByTest(lambda prompt: shared(prompt.text))
    tools = Tools(split_sentences=split_sentences, embedder=WordEmbedder(), judge=panel_of(model))
    for id in ("ragas", "faithfulness", "answer_relevancy", "context_precision", "context_recall"):
        REGISTRY.evaluators.get(id)().score([CASE], tools)
    assert len(set(model.asked)) == separate_count + 1, "the three, and the questions of answer relevancy"
    assert len(model.asked) == len(set(model.asked)), "none of them twice"


def test_a_judge_that_is_down_is_an_error_never_a_score() -> None:
    for id in (
        "faithfulness",
        "answer_relevancy",
        "context_precision",
        "context_recall",
        "context_relevancy",
        "answer_correctness",
        "ragas",
    ):
        result, _ = scored(id, lambda prompt: Answer(error="out of order"))
        assert (result.status, dict(result.scores)) == ("error", {})


def test_flows_that_go_on_together_ask_together() -> None:
    def flow(*steps: int) -> Any:
        replies = []
        for count in steps:
            replies += yield [f"{count}-{place}" for place in range(count)]
        return replies

    both = together([flow(1, 2), flow(2), flow()])
    assert next(both) == ["1-0", "2-0", "2-1"]
    assert both.send(["a", "b", "c"]) == ["2-0", "2-1"]
    with pytest.raises(StopIteration) as end:
        both.send(["d", "e"])
    assert end.value.value == [["a", "d", "e"], ["b", "c"], []]


def test_cases_are_judged_at_the_same_time() -> None:
    result = outcomes(
        "context_recall", PARTS, *[{**ROW, "input": f"{QUESTION} {number}"} for number in range(20)]
    )
    assert [entry.scores["context_recall"] for entry in result] == [0.5] * 20
