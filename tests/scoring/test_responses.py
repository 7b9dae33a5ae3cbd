"""Verdicts on empty answers and on refusals, alone and among repeats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.api.evaluate import verdict_word
from pytest_evalstudio.core.cases import Answer, EndOfConversation, Exchange
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.conversations import ConversationPlan, PlannedTurn
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.repeats import BY_MEAN
from pytest_evalstudio.core.tool_calls import ToolCall
from pytest_evalstudio.formats.config import configuration
from pytest_evalstudio.scoring.messages import explain, headline
from pytest_evalstudio.scoring.pipeline import Pipeline
from pytest_evalstudio.scoring.plan import Plan
from pytest_evalstudio.scoring.responses import (
    UNDECIDED,
    response_verdict,
    unexpected_refusal,
    with_responses,
)
from pytest_evalstudio.scoring.results import Result
from pytest_evalstudio.scoring.score import judges_content
from pytest_evalstudio.scoring.tasks import EvalTask, ModelInfo

REGISTRY = Registry()
MODEL = ModelInfo(key="m", label="m")
EMPTY_TEXTS = ["", "  \n\t", "\u200b", "\ufeff \u2060", "\u00ad", "\u3164", "\ufe0f"]


def result_of(
    *answers: str,
    evaluators: tuple[str, ...] = (),
    policy: str = "mean",
    tools: bool = False,
    phrases: Sequence[str] = (),
    **fields: Any,
) -> Result:
    """Return the result of one task with a repeat per answer."""
    config = configuration({"evaluators": list(evaluators)} if evaluators else {})
    case_fields: dict[str, Any] = {"question": "What is the fee?", "condition": '"5 USD"', **fields}
    cases = tuple(
        make_case(
            actual_output=answer,
            key="fee",
            model_key="",
            tool_calls=(ToolCall(name="search"),) if tools else (),
            run=run,
            **case_fields,
        )
        for run, answer in enumerate(answers, 1)
    )
    task = EvalTask(name="fee", model=MODEL, case=cases[0], answers=cases, policy=policy)
    [result] = Pipeline(Plan(REGISTRY, config), refusal_phrases=phrases).evaluate([task])
    return result


def test_a_perfect_answer_passes() -> None:
    result = result_of("The fee is 5 USD.")
    assert (verdict_word(result), result.response.code, headline(result)) == ("passed", ItemCode.NONE, "")


@pytest.mark.parametrize("answer", EMPTY_TEXTS)
def test_an_empty_answer_fails_the_case_once(answer: str) -> None:
    result = result_of(answer)
    assert verdict_word(result) == "failed"
    assert result.response.code == ItemCode.ANSWER_EMPTY
    assert headline(result) == "no answer: the model returned an empty text"
    assert explain(result).splitlines()[0] == headline(result)
    assert "answer:    (empty)" in explain(result)
    assert {verdict.code for verdict in result.verdicts.values()} == {OutcomeCode.ANSWER_EMPTY}
    assert all(verdict.passed is None for verdict in result.verdicts.values())
    assert not any(outcome.findings for outcome in result.outcomes[0].values())


@pytest.mark.parametrize("condition", ["", 'NOT "secret"'])
def test_an_empty_answer_passes_no_condition(condition: str) -> None:
    assert verdict_word(result_of("", condition=condition)) == "failed"


def test_an_answer_that_calls_a_tool_is_judged_by_its_condition_alone() -> None:
    result = result_of("", tools=True, condition='NOT "secret"')
    assert verdict_word(result) == "passed"
    scored = {selected.id for selected, verdict in result.verdicts.items() if verdict.status == "score"}
    assert scored == {"text_matching"}
    assert verdict_word(result_of("", tools=True)) == "failed"


def test_a_failed_host_is_an_error_and_no_empty_answer() -> None:
    result = result_of("", error="HTTP 500")
    assert (verdict_word(result), result.response.code) == ("error", ItemCode.NONE)


def test_evaluators_of_retrieval_alone_do_not_ask_for_an_answer() -> None:
    result = result_of(
        "", evaluators=("document_recall",), context=("5 USD",), expected_documents=("fees.md",), is_rag=True
    )
    assert "no answer" not in headline(result)
    assert result.response.code == ItemCode.NONE


@pytest.mark.parametrize(
    ("policy", "empty", "word"),
    [
        ("mean", 1, "failed"),
        ("all", 1, "failed"),
        ("any", 1, "passed"),
        ("any", 5, "failed"),
        ("3/5", 2, "passed"),
        ("4/5", 2, "failed"),
    ],
)
def test_an_empty_repeat_counts_as_one_that_does_not_pass(policy: str, empty: int, word: str) -> None:
    answers = ["5 USD"] * (5 - empty) + [""] * empty
    result = result_of(*answers, policy=policy)
    assert verdict_word(result) == word
    if word == "failed":
        assert headline(result) == f"no answer in {empty} of 5 repeats: the model returned an empty text"


def test_empty_and_wrong_repeats_are_counted_together() -> None:
    """2 of 10 wrong, 1 empty: 7 of 9 scored repeats pass, and 7 of all 10."""
    answers = ["5 USD"] * 7 + ["6 USD"] * 2 + [""]
    assert verdict_word(result_of(*answers[:9], policy="7/9")) == "passed"
    result = result_of(*answers, policy="3/4")
    assert headline(result) == "no answer in 1 of 10 repeats: the model returned an empty text"
    assert verdict_word(result_of(*answers, policy="7/10")) == "passed"


def test_an_empty_repeat_is_shown() -> None:
    text = explain(result_of("5 USD", "", "5 USD"))
    assert "(repeat 2 of 3 repeats is shown)" in text
    assert "answer:    (empty)" in text


def test_an_evaluator_that_does_not_apply_does_not_count_an_empty_repeat() -> None:
    result = result_of("5 USD", "5 USD", "5 USD", "5 USD", "", condition="", policy="4/5")
    assert verdict_word(result) == "passed"


SUPPORT = [id for id in REGISTRY.evaluators if REGISTRY.evaluators.spec(id).measures_support]


def test_every_evaluator_of_support_is_declared() -> None:
    ids = {
        id
        for id in REGISTRY.evaluators
        if any(word in id for word in ("groundedness", "faithfulness", "hallucination", "contradictions"))
        and {"context", "actual_output"} <= set(REGISTRY.evaluators.spec(id).needs)
    }
    assert ids == set(SUPPORT)


@pytest.mark.parametrize("answer", ["...", "—", "?!", "👍", "_"])
@pytest.mark.parametrize("id", SUPPORT)
def test_an_answer_without_words_has_the_worst_support_whoever_measures_it(id: str, answer: str) -> None:
    """Nothing is provided: neither models nor a judge are asked."""
    result = result_of(answer, evaluators=(id,), context=("The fee is 5 USD.",), is_rag=True)
    [verdict] = result.verdicts.values()
    assert (verdict.status, verdict.code) == ("score", OutcomeCode.ANSWER_WORDLESS)
    primary = REGISTRY.evaluators.spec(id).primary
    assert verdict.scores[primary.key] == primary.worst
    assert verdict_word(result) == "failed"


REFUSAL, ANSWER = "I'm sorry, but I don't know.", "The fee is 5 USD."
CONTENT = ("text_matching", "rouge", "lexical_groundedness", "pii_leakage", "looping_detection")
RAG: dict[str, Any] = {"context": ("The fee is 5 USD.",), "is_rag": True, "expected_output": "5 USD"}


def test_an_expected_refusal_passes_and_evaluators_of_content_do_not_apply() -> None:
    result = result_of(REFUSAL, evaluators=CONTENT, condition="", expects="refusal", **RAG)
    assert verdict_word(result) == "passed"
    assert result.response.passed is True
    by_id = {selected.id: verdict for selected, verdict in result.verdicts.items()}
    for id in ("rouge", "lexical_groundedness"):
        assert (by_id[id].status, by_id[id].code) == ("not_applicable", OutcomeCode.REFUSAL_EXPECTED)
    assert by_id["pii_leakage"].passed
    assert by_id["looping_detection"].passed


def test_a_refusal_alone_passes_a_case_to_which_no_evaluator_applies() -> None:
    result = result_of(REFUSAL, evaluators=("rouge",), condition="", expects="refusal", **RAG)
    assert (verdict_word(result), result.applicable) == ("passed", True)


@pytest.mark.parametrize("evaluators", [(), ("rouge",), ("document_recall",)])
def test_an_answer_in_place_of_a_refusal_fails(evaluators: tuple[str, ...]) -> None:
    result = result_of(ANSWER, evaluators=evaluators, expects="refusal", **RAG)
    assert verdict_word(result) == "failed"
    assert result.response.code == ItemCode.REFUSAL_MISSING
    assert headline(result).startswith("no refusal: the case expects one, and the model answered")
    assert "expects:   a refusal" in explain(result)


@pytest.mark.parametrize("evaluators", [(), ("rouge",), ("document_recall",)])
def test_an_empty_answer_is_no_refusal(evaluators: tuple[str, ...]) -> None:
    result = result_of("", evaluators=evaluators, expects="refusal", **RAG)
    assert (verdict_word(result), result.response.code) == ("failed", ItemCode.ANSWER_EMPTY)


def test_a_host_that_is_down_refuses_nothing() -> None:
    result = result_of("", error="HTTP 500", expects="refusal", **RAG)
    assert verdict_word(result) == "error"


def test_a_leak_in_an_expected_refusal_is_a_leak() -> None:
    result = result_of("I can't share the address jane@bank.com.", condition="", expects="refusal", **RAG)
    assert verdict_word(result) == "failed"
    assert headline(result).startswith("pii_leakage: ")


def test_a_condition_of_an_expected_refusal_is_checked_on_the_answer() -> None:
    fields = {"expects": "refusal", **RAG}
    assert verdict_word(result_of(REFUSAL, condition='"sorry"', **fields)) == "passed"
    assert verdict_word(result_of(REFUSAL, condition='"branch"', **fields)) == "failed"


def test_an_unexpected_refusal_is_named() -> None:
    result = result_of(REFUSAL, **RAG)
    assert verdict_word(result) == "failed"
    assert result.response.code == ItemCode.UNEXPECTED_REFUSAL
    assert headline(result).startswith("unexpected refusal: the model did not answer; ")
    assert '| text_matching: answer: lacks "5 USD"' in headline(result)


def test_a_refusal_that_fails_nothing_passes_as_before() -> None:
    result = result_of(REFUSAL, condition='NOT "secret"')
    assert (verdict_word(result), result.response.code) == ("passed", ItemCode.NONE)


def test_a_refusal_that_fails_for_a_leak_or_its_context_alone_is_not_called_unexpected() -> None:
    leak = result_of("I can't tell you more about jane@bank.com.", condition="")
    assert leak.response.code == ItemCode.NONE
    retrieval = result_of(REFUSAL, condition='"sorry"', **RAG)
    assert retrieval.response.code == ItemCode.NONE
    assert headline(retrieval) == 'retrieval: text_matching: context: lacks "sorry"'


def test_a_failure_of_answer_and_context_does_not_begin_with_retrieval() -> None:
    result = result_of("6 USD", context=("7 USD",), is_rag=True)
    assert headline(result).startswith("text_matching: ")


def test_repeats_that_fail_for_their_context_alone_begin_with_retrieval() -> None:
    fields = {"context": ("7 USD",), "is_rag": True}
    retrieval_result = result_of("5 USD", "5 USD", **fields)
    assert headline(retrieval_result).startswith("retrieval: text_matching: ")
    mixed = result_of("5 USD", "6 USD", **fields)
    assert headline(mixed).startswith("text_matching: ")


@pytest.mark.parametrize(
    ("policy", "answers", "word"),
    [
        ("mean", 0, "passed"),
        ("mean", 1, "failed"),
        ("any", 4, "passed"),
        ("4/5", 1, "passed"),
        ("4/5", 2, "failed"),
    ],
)
def test_repeats_of_an_expected_refusal_are_counted(policy: str, answers: int, word: str) -> None:
    texts = [REFUSAL] * (5 - answers) + [ANSWER] * answers
    result = result_of(*texts, policy=policy, condition="", expects="refusal")
    assert verdict_word(result) == word
    if word == "failed":
        assert headline(result).startswith(f"no refusal in {answers} of 5 repeats: ")


def test_phrases_of_the_configuration_are_refusals() -> None:
    fields: dict[str, Any] = {"condition": "", "expects": "refusal"}
    assert verdict_word(result_of("Bohužel nevím.", **fields)) == "failed"
    phrases = ["bohužel nevím"]
    assert verdict_word(result_of("Bohužel nevím.", phrases=phrases, **fields)) == "passed"


CONTENT_BLIND = {
    *("text_matching", "pii_leakage", "sensitive_data_leakage", "encoding_guardrail", "contact_information"),
    *("toxicity", "fairness_bias", "sexism", "stereotypes", "safety_judge", "counterfactual_bias"),
    *("looping_detection", "json_schema", "perplexity", "agent_sanity_check", "language_mismatch"),
    *("guideline_adherence_judge", "global_guideline_adherence_judge", "custom_judge", "byop"),
    "rubric_judge",
    *("document_recall", "labelled_retrieval", "tool_calls", "tool_arguments"),
    *("tool_rules", "effort", "final_state", "disturbed_tool_security", "disturbed_tool_utility"),
    "tool_consistency",
    *("fact_retention", "task_completion", "trajectory_judge", "conversation_judge"),
}


@pytest.mark.parametrize("id", list(REGISTRY.evaluators))
def test_which_evaluators_judge_content(id: str) -> None:
    """Those that do not are listed; every other one, present or future, does not apply to a refusal."""
    spec = REGISTRY.evaluators.spec(id)
    options = {name.removeprefix("option:") for name in spec.requires if name.startswith("option:")}
    texts: dict[str, Any] = {
        "prompt": "Is {actual_output} good?",
        "definition": "good",
        "criterion": "Politeness",
        "grades": {"1": "It insults.", "5": "It is polite."},
        "global_guidelines": ["Be kind."],
    }
    texts["rules"] = [{"tool": "*", "at_most": 2}]
    plan = Plan(REGISTRY, configuration({"evaluators": []}))
    selected = plan.get(id, {name: texts[name] for name in options})
    assert judges_content(selected) == (id not in CONTENT_BLIND), (
        f"{id}: an evaluator that judges the content of an answer does not apply to a refusal; add one that"
        " does not judge it to CONTENT_BLIND"
    )


def test_empty_repeats_and_answers_in_place_of_a_refusal_are_counted_apart() -> None:
    """Of 5 repeats, 1 refuses, 2 are empty and 2 answer."""
    result = result_of(REFUSAL, "", ANSWER, "", ANSWER, condition="", expects="refusal")
    assert result.response.code == ItemCode.ANSWER_EMPTY
    assert result.response.reason == (
        "no answer in 2 of 5 repeats: the model returned an empty text; no refusal in 2 of 5 repeats: the"
        " case expects one, and the model answered"
    )


def test_an_empty_text_of_a_conversation_names_its_first_empty_turn() -> None:
    silent = Answer(
        text="", turns=tuple(Exchange(prompt="q", answer=Answer(text=text)) for text in ("a", "", ""))
    )
    plan = ConversationPlan(turns=(PlannedTurn(prompt="q"),) * 3)
    result = result_of("", turns=silent.turns, plan=plan)
    assert result.response.reason == "no answer: the model returned an empty text in turn 2"


def test_a_turn_that_calls_a_tool_is_not_the_empty_one() -> None:
    calling = Answer(tool_calls=(ToolCall(name="search"),))
    turns = tuple(Exchange(prompt="q", answer=answer) for answer in (calling, Answer()))
    plan = ConversationPlan(turns=(PlannedTurn(prompt="q"),) * 2)
    assert result_of("", turns=turns, plan=plan).response.reason.endswith(" in turn 2")


@pytest.mark.parametrize(
    ("ends", "reason"),
    [
        (("max_turns",), "the conversation did not end: no answer meets stop_when within max_turns"),
        (
            ("no_reply", "no_reply"),
            (
                "the conversation did not end in 2 of 2 repeats: no answer meets stop_when, and the user has"
                " no reply to the last one"
            ),
        ),
        (
            ("max_turns", "no_reply", ""),
            "the conversation did not end in 2 of 3 repeats: no answer meets stop_when",
        ),
        (
            ("max_turns", "failed_turn", ""),
            "the conversation did not end in 1 of 3 repeats: no answer meets stop_when within max_turns",
        ),
    ],
)
def test_a_conversation_without_an_end_fails(ends: tuple[EndOfConversation, ...], reason: str) -> None:
    answers = [make_case("q", "a", ended_by=end) for end in ends]
    verdict = response_verdict(answers, [{}] * len(ends), [], BY_MEAN, None, None)
    assert (verdict.code, verdict.reason) == (ItemCode.CONVERSATION_NOT_ENDED, reason)
    assert verdict.fails


def test_an_empty_answer_without_an_end_is_no_answer_in_place_of_a_refusal() -> None:
    answers = [make_case("q", "", ended_by="max_turns"), make_case("q", REFUSAL)]
    is_refusal = lambda case: case.actual_output == REFUSAL  # noqa: E731
    verdict = response_verdict(answers, [{}, {}], [], BY_MEAN, None, is_refusal)
    assert verdict.reason == (
        "no answer in 1 of 2 repeats: the model returned an empty text; the conversation did not end in 1 of"
        " 2 repeats: no answer meets stop_when within max_turns"
    )


def test_a_conversation_in_error_has_no_missing_end() -> None:
    answers = [make_case("q", error="down", ended_by="max_turns")]
    assert response_verdict(answers, [{}], [], BY_MEAN, None, None) == UNDECIDED


def test_repeats_of_an_unexpected_refusal_are_counted_without_those_in_error() -> None:
    answers = [make_case("q", REFUSAL), make_case("q", error=REFUSAL), make_case("q", ANSWER)]
    is_refusal = REFUSAL.__eq__
    verdict = unexpected_refusal(answers, lambda case: is_refusal(case.actual_output or case.error))
    assert verdict.reason.startswith("unexpected refusal in 1 of 3 repeats: the model did not answer; ")
    assert (verdict.passed, verdict.fails) == (None, False)
    assert unexpected_refusal(answers[1:], lambda case: case.actual_output == REFUSAL) == UNDECIDED


@pytest.mark.parametrize(
    ("states", "responses", "combined"),
    [
        ((True, True, None), (True, False, False), [True, False, False]),
        ((True, None), (), (True, None)),
        ((None, None), (True, False), (None, None)),
        ((False, None), (True, True), [False, None]),
    ],
)
def test_a_repeat_without_the_expected_response_passes_no_evaluator_that_applies(
    states: tuple[bool | None, ...], responses: tuple[bool, ...], combined: Sequence[bool | None]
) -> None:
    assert with_responses(states, responses) == combined
