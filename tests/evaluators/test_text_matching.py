"""Text matching over answers and contexts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators.text_matching import TextMatching
from support.scored_cases import outcomes_of

Make = Callable[..., Case]


def test_an_answer_that_meets_its_condition_passes(case: Make, tools: Tools) -> None:
    (outcome,) = outcomes_of(TextMatching(), [case("Paris, of course", condition='"Paris"')], tools)
    assert dict(outcome.scores) == {
        "model_passes": 1.0,
        "model_failures": 0.0,
        "model_retrieval_failures": 0.0,
        "model_generation_failures": 0.0,
        "model_parse_failures": 0.0,
    }
    assert outcome.reason == ""


@pytest.mark.parametrize(
    ("answer", "context", "is_rag", "scores", "reason"),
    [
        pytest.param("Rome", ("Paris",), True, (0, 1, 0, 1), 'answer: lacks "Paris"', id="generation failed"),
        pytest.param("Paris", ("Rome",), True, (0, 1, 1, 0), 'context: lacks "Paris"', id="retrieval failed"),
        pytest.param(
            "Rome",
            ("Rome",),
            True,
            (0, 1, 1, 1),
            'answer and context: lacks "Paris"',
            id="both failed",
        ),
        pytest.param("Paris", ("Rome",), False, (1, 0, 0, 0), "", id="no RAG, no context"),
        pytest.param("Paris", (), True, (0, 1, 1, 0), 'context: lacks "Paris"', id="nothing retrieved"),
    ],
)
def test_who_failed(
    case: Make,
    tools: Tools,
    answer: str,
    context: tuple[str, ...],
    is_rag: bool,
    scores: tuple[int, ...],
    reason: str,
) -> None:
    (outcome,) = outcomes_of(
        TextMatching(), [case(answer, context=context, is_rag=is_rag, condition='"Paris"')], tools
    )
    assert tuple(outcome.scores.values())[:4] == scores
    assert outcome.reason == reason


def test_the_context_can_be_left_out(case: Make, tools: Tools) -> None:
    (outcome,) = outcomes_of(
        TextMatching(evaluate_retrieved_context=False),
        [case("Paris", context=("Rome",), is_rag=True, condition='"Paris"')],
        tools,
    )
    assert outcome.scores["model_passes"] == 1.0


def test_chunks_are_read_as_one_text(case: Make, tools: Tools) -> None:
    (outcome,) = outcomes_of(
        TextMatching(), [case("a b", context=("x a", "b y"), is_rag=True, condition='"a b"')], tools
    )
    assert outcome.scores["model_passes"] == 1.0


def test_by_option_the_expected_output_is_a_substring_that_a_case_without_condition_needs(
    case: Make, tools: Tools
) -> None:
    cases = [
        case('It is "15,969" now', expected_output=' "15,969"\n'),
        case("15969", expected_output="15,969"),
    ]
    evaluator = TextMatching(expected_output_as_condition=True)
    assert [outcome.scores["model_passes"] for outcome in evaluator.score(cases, tools)] == [1.0, 0.0]


def test_with_neither_it_is_not_applicable(case: Make, tools: Tools) -> None:
    bare_case = case("x", condition=" ", expected_output=" ")
    assert outcomes_of(TextMatching(), [bare_case], tools)[0].status == "not_applicable"


def test_a_malformed_condition_is_an_error_of_its_case_alone(case: Make, tools: Tools) -> None:
    outcomes = outcomes_of(
        TextMatching(), [case("a", condition='"a" AND'), case("a", condition='"a"')], tools
    )
    assert [outcome.status for outcome in outcomes] == ["error", "score"]


def test_a_slow_pattern_is_an_error_and_no_verdict(case: Make, tools: Tools) -> None:
    (outcome,) = outcomes_of(TextMatching(), [case("a" * 5_000 + "b", condition="regexp((a+)+$)")], tools)
    assert outcome.status == "error"
    assert "took longer than" in outcome.reason


def test_a_case_without_condition_is_not_applicable(case: Make, tools: Tools) -> None:
    (outcome,) = outcomes_of(TextMatching(), [case("It is Paris", expected_output="Rome")], tools)
    assert outcome.status == "not_applicable"
    assert "expected_output_as_condition = true" in outcome.reason


YES, NO = "Paris", "Rome"


@pytest.mark.parametrize(
    ("condition_on", "answer", "context", "passes", "code"),
    [
        pytest.param("", YES, NO, 0, OutcomeCode.RETRIEVAL_FAILED, id="default: context fails"),
        pytest.param("answer", YES, NO, 1, OutcomeCode.NONE, id="answer: context is free"),
        pytest.param("answer", NO, YES, 0, OutcomeCode.NONE, id="answer: it fails"),
        pytest.param("context", NO, YES, 1, OutcomeCode.NONE, id="context: answer is free"),
        pytest.param("context", YES, NO, 0, OutcomeCode.RETRIEVAL_FAILED, id="context: it fails"),
        pytest.param("both", YES, YES, 1, OutcomeCode.NONE, id="both hold"),
        pytest.param("both", YES, NO, 0, OutcomeCode.RETRIEVAL_FAILED, id="both: context fails"),
        pytest.param("both", NO, NO, 0, OutcomeCode.NONE, id="both fail"),
    ],
)
@pytest.mark.parametrize("option", [True, False])
def test_a_case_says_where_its_condition_holds(
    case: Make,
    tools: Tools,
    condition_on: str,
    answer: str,
    context: str,
    passes: int,
    code: OutcomeCode,
    option: bool,
) -> None:
    if not condition_on and not option:
        pytest.skip("the option decides where the case says nothing")
    (outcome,) = outcomes_of(
        TextMatching(evaluate_retrieved_context=option),
        [case(answer, context=(context,), is_rag=True, condition='"Paris"', condition_on=condition_on)],
        tools,
    )
    assert (outcome.scores["model_passes"], outcome.code) == (passes, code)
    assert (outcome.scores["model_generation_failures"] is None) == (condition_on == "context")


def test_a_condition_on_both_holds_for_the_answer_of_a_model_that_does_not_retrieve(
    case: Make, tools: Tools
) -> None:
    (outcome,) = outcomes_of(TextMatching(), [case(YES, condition='"Paris"', condition_on="both")], tools)
    assert outcome.scores["model_passes"] == 1


def test_a_condition_on_the_context_fails_where_nothing_was_retrieved(case: Make, tools: Tools) -> None:
    plain = case(YES, condition='"Paris"', condition_on="context")
    rag = case(YES, condition='"Paris"', condition_on="context", is_rag=True)
    missing, failed = outcomes_of(TextMatching(), [plain, rag], tools)
    assert (missing.status, missing.reason) == (
        "not_applicable",
        "condition_on is the context, and there is none",
    )
    assert failed.code == OutcomeCode.NOT_RETRIEVED


def test_the_condition_of_an_expected_refusal_is_not_looked_for_in_the_context(
    case: Make, tools: Tools
) -> None:
    refusal = case("I don't know.", context=(YES,), is_rag=True, condition='"know"', expects="refusal")
    (outcome,) = outcomes_of(TextMatching(), [refusal], tools)
    assert outcome.scores["model_passes"] == 1


@pytest.mark.parametrize(
    ("condition", "marked"),
    [
        ('"Paris" AND NOT "London"', ["London"]),
        ('NOT ("London" OR "Rome")', ["London", "Rome"]),
        ('"Berlin" OR NOT "Paris"', ["Paris"]),
        ('"Berlin" AND NOT "Madrid"', []),
        ('NOT regexp("R.me") AND NOT regexp("x*")', ["Rome"]),
        ('"Paris"', []),
    ],
)
def test_words_that_the_condition_forbids_are_marked(
    condition: str, marked: list[str], case: Make, tools: Tools
) -> None:
    answer = "Paris, London and Rome"
    (outcome,) = outcomes_of(TextMatching(), [case(actual_output=answer, condition=condition)], tools)
    assert [answer[part.start : part.end] for part in outcome.fragments] == marked
    assert {part.part for part in outcome.fragments} <= {"answer"}


def test_forbidden_words_are_marked_in_their_chunk(case: Make, tools: Tools) -> None:
    question = case(
        actual_output="Paris",
        is_rag=True,
        condition='NOT "London"',
        context=("Paris is in France.", "So: London."),
    )
    (outcome,) = outcomes_of(TextMatching(), [question], tools)
    (fragment,) = outcome.fragments
    assert (fragment.part, question.context[1][fragment.start : fragment.end]) == ("context:1", "London")


def test_a_forbidden_text_is_masked_before_it_is_cut(case: Make, tools: Tools) -> None:
    secret = f"sk-proj-{'a1B2' * 10}"
    answer = case(f"{'the key is ' * 4}{secret}", condition='NOT regexp("the key.*")')
    (outcome,) = outcomes_of(TextMatching(), [answer], tools)
    assert 'found "the key is the key' in outcome.reason
    assert "a1B2" not in outcome.reason
    assert "sk-" not in outcome.reason
