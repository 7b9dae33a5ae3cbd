"""Contract of every evaluator in the registry."""

from __future__ import annotations

import dataclasses
import inspect
import math
import pickle
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from msgspec import structs

from pytest_evalstudio.api.builders import make_case
from pytest_evalstudio.core.cases import Answer, Case, Relationship, Turn
from pytest_evalstudio.core.codes import ItemCode, OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.declaring import SPEC
from pytest_evalstudio.core.plugins.evaluator import BOOLEAN_KEYS, EvaluatorSpec
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.core.problems import AVID, PROBLEM_TYPES
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.text.sentences import split_sentences
from support.scored_cases import outcomes_of, results_of

REGISTRY = Registry()
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


def evaluator_params() -> Iterator[Any]:
    for id in REGISTRY.evaluators:
        modules = [name for name in REGISTRY.evaluators.spec(id).requires if name.startswith("module:")]
        lacking = [name for name in modules if find_spec(name.removeprefix("module:")) is None]
        yield pytest.param(
            id, marks=pytest.mark.skipif(bool(lacking), reason=f"not installed: {', '.join(lacking)}")
        )


@pytest.fixture(params=evaluator_params())
def every_evaluator(request: pytest.FixtureRequest) -> Any:
    return REGISTRY.evaluators.get(request.param)


def configured(cls: Any) -> Any:
    """Return an evaluator with a value for each required option."""
    required = {name.removeprefix("option:") for name in cls_spec(cls).requires if name.startswith("option:")}
    fields = {field.name: field for field in dataclasses.fields(cls)}
    text = "Is the answer right? {question} {expected_output} {context} {actual_output}"
    values = {name: text if isinstance(fields[name].default, str) else (text,) for name in required}
    forms: dict[str, Any] = {
        "rules": ({"tool": "*", "at_most": 2},),
        "grades": {"1": "It insults.", "5": "It is polite."},
    }
    return cls(**values | {name: value for name, value in forms.items() if name in required})


def cls_spec(cls: Any) -> EvaluatorSpec:
    spec: EvaluatorSpec = getattr(cls, SPEC)
    return spec


def rich_case(answer: str, key: str = "c", **fields: Any) -> Case:
    """A case with every input, so that no evaluator has a reason to pass it over."""
    defaults: dict[str, Any] = {
        "question": "How high is the rate?",
        "expected_output": "The rate rose to 5.25 percent.",
        "context": (
            "In 2023 the rate rose to 5.25 percent.",
            "Banks charge fees.\n1. Open the app.\n2. Pay them.",
        ),
        "context_sources": ("docs/rates.pdf", "docs/fees.pdf"),
        "expected_documents": ("rates.pdf", "other.pdf"),
        "expected_chunks": ("In 2023 the rate rose to 5.25 percent.", "Something else."),
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
        "counterpart": Case(
            key="o", question="How high was the rate?", answer=Answer(text=ANSWER), model_key="m"
        ),
        "extra": {"expected_artifacts": ["report.pdf"]},
    }
    return make_case(actual_output=answer, key=key, **{**defaults, **fields})


def plain_outcomes(outcomes: list[Outcome]) -> list[tuple[str, dict[str, float | None], str, int]]:
    return [
        (outcome.status, dict(outcome.scores), outcome.reason, len(outcome.fragments)) for outcome in outcomes
    ]


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
    outcomes = outcomes_of(configured(every_evaluator), cases, tools)
    backwards = outcomes_of(configured(every_evaluator), cases[::-1], tools)
    assert len(outcomes) == len(cases)
    assert plain_outcomes(outcomes) == plain_outcomes(backwards[::-1])
    keys = {metric.key for metric in getattr(every_evaluator, SPEC).metrics}
    assert all(set(outcome.scores) == keys for outcome in outcomes if outcome.status == "score")


def test_values_lie_in_their_range(every_evaluator: Any, tools: Tools) -> None:
    spec: EvaluatorSpec = getattr(every_evaluator, SPEC)
    for text in (ANSWER, *HOSTILE.values()):
        for outcome in outcomes_of(configured(every_evaluator), [rich_case(text)], tools):
            for key, value in outcome.scores.items():
                metric = spec.metric(key)
                assert metric
                assert value is None or metric.range[0] <= value <= metric.range[1]


@pytest.mark.parametrize("name", HOSTILE)
def test_its_outcomes_are_valid(every_evaluator: Any, tools: Tools, name: str) -> None:
    cases = [rich_case(HOSTILE[name]), rich_case(ANSWER, context=(HOSTILE[name],), key="b")]
    assert len(outcomes_of(configured(every_evaluator), cases, tools)) == 2


@pytest.mark.parametrize("answer", ["", "  \n\t"])
@pytest.mark.parametrize("condition", ["", 'NOT "x"'])
def test_an_empty_answer_is_not_scored_and_fails_its_case(
    every_evaluator: Any, answer: str, condition: str
) -> None:
    evaluator = configured(every_evaluator)
    if "actual_output" not in cls_spec(every_evaluator).needs_of(evaluator):
        pytest.skip("does not read the answer")
    models = Tools(split_sentences=split_sentences)  # no model and no judge: nothing can be asked
    cases = [rich_case(answer, condition=condition), rich_case(answer, condition=condition)]
    for result in results_of(evaluator, cases, models):
        (outcome,) = result.outcomes[0].values()
        assert (outcome.status, outcome.code) == ("not_applicable", OutcomeCode.ANSWER_EMPTY)
        assert (result.response.passed, result.response.code) == (False, ItemCode.ANSWER_EMPTY)


def test_a_batch_scores_as_its_cases_alone(every_evaluator: Any, tools: Tools) -> None:
    if getattr(every_evaluator, SPEC).scope == "group":
        pytest.skip("a group is scored as one")
    cases = [
        rich_case(text, key=str(place))
        for place, text in enumerate([ANSWER, "", "4111 1111 1111 1111", '{"rate": 5.25}', "The rate. " * 30])
    ]
    batch_outcomes = outcomes_of(configured(every_evaluator), cases, tools)
    single_outcomes = [outcomes_of(configured(every_evaluator), [case], tools)[0] for case in cases]
    assert batch_outcomes == single_outcomes


@pytest.mark.parametrize("name", HOSTILE)
def test_no_text_makes_it_raise(every_evaluator: Any, tools: Tools, name: str) -> None:
    text = HOSTILE[name]
    evaluator = configured(every_evaluator)
    plain = outcomes_of(evaluator, [rich_case(text)], tools)
    hostile_outcomes = outcomes_of(
        evaluator,
        [rich_case(text, question=text, expected_output=text, context=(text,), condition="")],
        tools,
    )
    for outcome in (*plain, *hostile_outcomes):
        assert all(
            0 <= fragment.start < fragment.end <= len(text)
            for fragment in outcome.fragments
            if fragment.part == "answer"
        )
        assert all(value is None or math.isfinite(value) for value in outcome.scores.values())


def test_the_same_input_gives_the_same_output(every_evaluator: Any, tools: Tools) -> None:
    cases = [rich_case(ANSWER), rich_case("a.b@corp.com " * 3)]
    first, second = (outcomes_of(configured(every_evaluator), cases, tools) for _ in range(2))
    assert first == second


def test_it_pickles_with_what_it_says(every_evaluator: Any, tools: Tools) -> None:
    evaluator = configured(every_evaluator)
    assert pickle.loads(pickle.dumps(evaluator)) == evaluator
    outcomes = outcomes_of(evaluator, [rich_case(ANSWER)], tools)
    plain = [
        structs.replace(outcome, scores=dict(outcome.scores), details=dict(outcome.details), fragments=())
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
    for outcome in outcomes_of(configured(every_evaluator), [case], tools):
        message = " ".join(
            [
                outcome.reason,
                *(part.message for part in outcome.fragments),
                *(finding.description for finding in outcome.findings),
            ]
        )
        assert not [secret for secret in secrets if secret in message]


def test_finding_all_evaluators_imports_no_third_party_module() -> None:
    code = """
import sys
from pytest_evalstudio.core.plugins.registry import Registry
list(Registry().evaluators)
heavy = {"nltk", "numpy", "rouge_score", "jsonschema", "pypdf", "regex", "syntok", "torch", "pydantic"} & set(sys.modules)
assert not heavy, heavy
"""  # noqa: E501
    subprocess.run([sys.executable, "-c", code], check=True)
