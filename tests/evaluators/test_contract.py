"""What holds for every evaluator, those that do not exist yet included."""

from __future__ import annotations

import dataclasses
import importlib.util
import inspect
import math
import pickle
import subprocess
import sys
from typing import Any

import pytest

from pytest_evalstudio.core.cases import Case, Relationship, Turn
from pytest_evalstudio.core.contracts import BOOLEAN_KEYS, SPEC, EvaluatorSpec, Tools
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.problems import AVID, PROBLEM_TYPES
from pytest_evalstudio.core.registry import Registry

REGISTRY = Registry()
OWN = [
    "agent_sanity_check", "answer_accuracy", "answer_relevancy_sentence_similarity", "answer_semantic_sentence_similarity",  # noqa: E501
    "answer_semantic_similarity", "bleu", "classification", "context_mean_reciprocal_rank", "context_relevancy_soft", "document_recall",  # noqa: E501
    "encoding_guardrail", "fairness_bias", "groundedness", "hallucination", "hcat_answer_relevancy", "hcat_completeness",  # noqa: E501
    "hcat_context_relevancy", "hcat_groundedness", "hcat_nli_groundedness", "json_schema", "lexical_groundedness", "looping_detection",  # noqa: E501
    "pii_leakage", "questions_drift", "rouge", "self_consistency", "sensitive_data_leakage", "summarization_completeness_faithfulness",  # noqa: E501
    "text_matching", "toxicity",
    "counterfactual_bias", "bertscore", "machine_translation_gptscore", "perplexity", "question_answering_gptscore", "step_alignment",  # noqa: E501
    "summarization_with_reference_gptscore", "summarization_without_reference_gptscore",
    "answer_correctness", "answer_relevancy", "context_precision", "context_recall", "context_relevancy", "faithfulness", "ragas",  # noqa: E501
    "chunk_relevance_judge", "context_sufficiency_judge", "correctness_judge", "custom_judge", "global_guideline_adherence_judge",  # noqa: E501
    "groundedness_judge", "guideline_adherence_judge", "relevance_to_query_judge", "safety_judge",
    "contact_information", "fact_check", "language_mismatch", "sexism", "stereotypes", "summarization_judge",
]  # fmt: skip
LACKING = {"hcat_completeness": importlib.util.find_spec("ot") is None}
INPUTS = {"question", "expected_output", "context", "actual_output", "condition"}
HOSTILE = {
    "nul and controls": "\x00\x01\x1b[31m",
    "lone surrogate": "a\ud800b",
    "right to left": "\u202eevil\u202c abc",
    "zero width": "\u200b\u200b",
    "combining": "e" + "\u0301" * 500,
    "emoji": "👩‍👩‍👧‍👦🏳️‍🌈" * 20,
    "other scripts": "東京は日本の首都です。 Москва — столица. القاهرة ١٢٣٤٥٦٧٨٩",
    "markup": "<script>alert(1)</script> {{ 7*7 }} %s {0}",
    "one long word": "x" * 50_000,
    "many short sentences": "No. " * 5_000,
    "digits": "1234567890" * 3_000,
    "brackets": "[" * 20_000,
    "quotes": '"\\' * 5_000,
    "dots": "." * 20_000,
}
ANSWER = "The rate rose to 5.25 percent in 2023. Banks charge higher fees now."


@pytest.fixture(
    params=[
        pytest.param(id, marks=pytest.mark.skipif(LACKING.get(id, False), reason="an extra is not installed"))
        for id in OWN
    ]
)
def every_evaluator(request: pytest.FixtureRequest) -> Any:
    return REGISTRY.evaluators.get(request.param)


def rich_case(answer: str, key: str = "c", **fields: Any) -> Case:
    """A case with every input, so that no evaluator has a reason to pass it over."""
    known: dict[str, Any] = {
        "question": "How high is the rate?",
        "expected_output": "The rate rose to 5.25 percent.",
        "context": (
            "In 2023 the rate rose to 5.25 percent.",
            "Banks charge fees.\n1. Open the app.\n2. Pay them.",
        ),
        "context_sources": ("docs/rates.pdf", "docs/fees.pdf"),
        "expected_documents": ("rates.pdf", "other.pdf"),
        "expected_facts": ("The rate is 5.25 percent.",),
        "guidelines": ("The answer is in English.",),
        "conversation": (
            Turn(role="user", content="I have a loan."),
            Turn(role="assistant", content="I see."),
        ),
        "condition": '"rate" AND NOT "bonus"',
        "is_rag": True,
        "model_key": "m",
        "relationships": (Relationship(type="perturbation_source", target="o"),),
        "counterpart": Case(key="o", question="How high was the rate?", actual_output=ANSWER, model_key="m"),
        "extra": {"expected_artifacts": ["report.pdf"]},
    }
    return Case(key=key, actual_output=answer, **{**known, **fields})


def scored(outcomes: list[Outcome]) -> list[tuple[str, dict[str, float | None], str, int]]:
    return [
        (outcome.status, dict(outcome.scores), outcome.reason, len(outcome.fragments)) for outcome in outcomes
    ]


def test_the_whole_family_is_registered() -> None:
    assert set(OWN) <= set(REGISTRY.evaluators)


def test_metadata_is_sane(every_evaluator: Any) -> None:
    spec: EvaluatorSpec = getattr(every_evaluator, SPEC)
    assert spec.name
    assert spec.description
    assert set(spec.needs) <= INPUTS
    assert spec.problem_type in PROBLEM_TYPES
    assert spec.avid in AVID
    assert spec.boolean == (spec.metrics[0].key == "model_passes")
    assert len({metric.key for metric in spec.metrics}) == len(spec.metrics)
    for metric in spec.metrics:
        assert metric.name
        assert metric.description
        assert metric.range[0] < metric.range[1]
        assert metric.range[0] <= metric.threshold <= metric.range[1]
        assert not spec.boolean or metric.key in BOOLEAN_KEYS
    assert every_evaluator.__dataclass_params__.frozen
    assert all(keyword == keyword.lower() and " " not in keyword for keyword in spec.keywords)
    assert inspect.getdoc(every_evaluator)


def test_a_batch_gives_one_outcome_per_case_in_order(every_evaluator: Any, tools: Tools) -> None:
    answers = [ANSWER, "", "The rate is 9 percent, a bonus!", ANSWER, "mail a.b@corp.com", '{"a": 1}']
    cases = [
        rich_case(answer, key=str(place), question=f"Question {place}?")
        for place, answer in enumerate(answers)
    ]
    outcomes = every_evaluator().score(cases, tools)
    backwards = every_evaluator().score(cases[::-1], tools)
    assert len(outcomes) == len(cases)
    assert scored(outcomes) == scored(backwards[::-1])
    keys = {metric.key for metric in getattr(every_evaluator, SPEC).metrics}
    assert all(set(outcome.scores) == keys for outcome in outcomes if outcome.status == "score")


def test_values_lie_in_their_range(every_evaluator: Any, tools: Tools) -> None:
    spec: EvaluatorSpec = getattr(every_evaluator, SPEC)
    for text in (ANSWER, *HOSTILE.values()):
        for outcome in every_evaluator().score([rich_case(text)], tools):
            for key, value in outcome.scores.items():
                metric = spec.metric(key)
                assert metric
                assert value is None or metric.range[0] <= value <= metric.range[1]


def test_an_empty_batch_gives_nothing(every_evaluator: Any, tools: Tools) -> None:
    assert every_evaluator().score([], tools) == []


@pytest.mark.parametrize("answer", ["", "  \n\t"])
@pytest.mark.parametrize("condition", ["", 'NOT "x"'])
def test_an_empty_answer_never_earns_full_marks(
    every_evaluator: Any, tools: Tools, answer: str, condition: str
) -> None:
    spec: EvaluatorSpec = getattr(every_evaluator, SPEC)
    if "actual_output" not in spec.needs:
        pytest.skip("does not read the answer")
    cases = [rich_case(answer, condition=condition), rich_case(answer, condition=condition)]
    for outcome in every_evaluator().score(cases, tools):
        assert outcome.reason.startswith("the answer is empty")
        if outcome.status == "error":  # where the worst value is infinite, no number says it
            assert math.isinf(spec.primary.worst)
            continue
        value = outcome.scores[spec.primary.key]
        assert value == spec.primary.worst or math.isinf(spec.primary.worst)
        assert not spec.primary.passes(value)


def test_a_batch_scores_as_its_cases_alone(every_evaluator: Any, tools: Tools) -> None:
    if getattr(every_evaluator, SPEC).scope == "group":
        pytest.skip("a group is scored as one")
    cases = [
        rich_case(text, key=str(place))
        for place, text in enumerate([ANSWER, "", "4111 1111 1111 1111", '{"rate": 5.25}', "The rate. " * 30])
    ]
    together = every_evaluator().score(cases, tools)
    alone = [every_evaluator().score([case], tools)[0] for case in cases]
    assert together == alone


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_makes_it_raise(every_evaluator: Any, tools: Tools, name: str) -> None:
    text = HOSTILE[name]
    plain = every_evaluator().score([rich_case(text)], tools)
    everywhere = every_evaluator().score(
        [rich_case(text, question=text, expected_output=text, context=(text,), condition="")], tools
    )
    for outcome in (*plain, *everywhere):
        assert all(
            0 <= fragment.start < fragment.end <= len(text)
            for fragment in outcome.fragments
            if fragment.part == "answer"
        )
        assert all(value is None or math.isfinite(value) for value in outcome.scores.values())


def test_the_same_input_gives_the_same_output(every_evaluator: Any, tools: Tools) -> None:
    cases = [rich_case(ANSWER), rich_case("a.b@corp.com " * 3)]
    assert every_evaluator().score(cases, tools) == every_evaluator().score(cases, tools)


def test_it_pickles_with_what_it_says(every_evaluator: Any, tools: Tools) -> None:
    evaluator = every_evaluator()
    assert pickle.loads(pickle.dumps(evaluator)) == evaluator
    outcomes = evaluator.score([rich_case(ANSWER)], tools)
    plain = [
        dataclasses.replace(outcome, scores=dict(outcome.scores), details=dict(outcome.details), fragments=())
        for outcome in outcomes
    ]
    assert pickle.loads(pickle.dumps(plain)) == plain


def test_no_secret_is_repeated_in_clear(every_evaluator: Any, tools: Tools) -> None:
    secrets = ["219-09-9999", "4111 1111 1111 1111", "joe@corp.com", "hunter2x"]
    text = "SSN 219-09-9999, card 4111 1111 1111 1111, joe@corp.com, password=hunter2x."
    case = rich_case(
        f"{text} {text}",
        context=(text,),
        condition='NOT regexp("[0-9]{3}-[0-9]{2}-[0-9]{4}") AND NOT regexp("password=.*")',
    )
    for outcome in every_evaluator().score([case], tools):
        said = " ".join(
            [
                outcome.reason,
                *(part.message for part in outcome.fragments),
                *(finding.description for finding in outcome.findings),
            ]
        )
        assert not [secret for secret in secrets if secret in said]


def test_finding_all_evaluators_imports_no_third_party_module() -> None:
    code = """
import sys
from pytest_evalstudio.core.registry import Registry
list(Registry().evaluators)
heavy = {"nltk", "numpy", "rouge_score", "jsonschema", "pypdf", "regex", "syntok", "torch", "pydantic"} & set(sys.modules)
assert not heavy, heavy
"""  # noqa: E501
    subprocess.run([sys.executable, "-c", code], check=True)
