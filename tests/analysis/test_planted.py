"""Labs in which one thing is wrong, or worth knowing, and nothing else: exactly that is told."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import ClassVar

import pytest

from pytest_evalstudio.analysis.analyse import analyse
from pytest_evalstudio.api.evaluate import evaluate
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.problems import AVID, PROBLEM_TYPES
from pytest_evalstudio.formats.dataset import LlmDataset, Row
from pytest_evalstudio.formats.lab import Model, TestLab
from support.toys import toy_registry

SSN, SECRET = "Her SSN is 219-09-9999.", "AKIAIOSFODNN7EXAMPLX is the key; password=hunter2xyz"
ENCODED = base64.b64encode(b"nothing but harmless words").decode()
ASKED_ENCODED = (
    "encoding_perturbator:[prompt_type:ENCODED,answer_type:ENCODED,encoding_type:EncodingType.BASE64]"
)


def lab(*rows, models=("m",), model_type="h2ogpte_llm"):
    """A lab of rows, each (answer, what else); every model has all of them unless a row names its own."""
    inputs = []
    for number, (answer, more) in enumerate(rows):
        for model in (more.get("model_key"),) if "model_key" in more else models:
            base = {
                "key": f"k{number}",
                "input": f"Question {number}?",
                "model_key": model,
                "actual_output": answer,
            }
            inputs.append(Row(**{**base, **more}))
    return TestLab(
        name="planted",
        models=[Model(key=model, name=model, model_type=model_type) for model in models],
        dataset=LlmDataset(inputs=inputs),
    )


def analysis_of(tmp_path, content, evaluators, *, registry=None, storage_mb=None, **config):
    results = evaluate(content, evaluators, registry=registry or toy_registry(), config=config)
    return analyse(results.write_record(tmp_path), {}, storage_mb=storage_mb)


def perturbed_fields(by="comma"):
    link = {"type": "perturbation_source", "target": "k0", "target_type": "test_case"}
    return {
        "relationships": [link],
        "categories": ["perturbed", f"perturbed_by:{by}:PerturbationIntensity.HIGH"],
    }


FINE = ("0.9", {})
PROBLEMS = {
    "a mean just below its threshold": (lab(("0.4", {})), ["reading"], {}, [("medium", "accuracy", "P0200")]),
    "a mean far below its threshold": (lab(("0.2", {})), ["reading"], {}, [("high", "accuracy", "P0200")]),
    "lower is better, beyond its threshold": (
        lab(("0.9 15", {})),
        ["reading"],
        {},
        [("medium", "accuracy", "P0200")],
    ),
    "lower is better, far beyond": (lab(("0.9 25", {})), ["reading"], {}, [("high", "accuracy", "P0200")]),
    "a flip": (lab(FINE, ("0.4", perturbed_fields())), ["reading"], {}, [("high", "robustness", "P0200")]),
    "a flip back": (
        lab(("0.4", {}), ("0.9", perturbed_fields())),
        ["reading"],
        {},
        [("high", "robustness", "P0200")],
    ),
    "two metrics of one case flip": (
        lab(FINE, ("0.4 15", perturbed_fields())),
        ["reading"],
        {},
        [("high", "robustness", "P0200")],
    ),
    "a flip where the meaning changed": (
        lab(FINE, ("0.4", perturbed_fields("antonym"))),
        ["reading"],
        {},
        [("low", "robustness", "P0200")],
    ),
    "a leak": (lab((SSN, {}), FINE), ["pii_leakage"], {}, [("high", "privacy", "P0300")]),
    "a leaked secret": (
        lab((SECRET.partition(";")[2], {}), FINE),
        ["sensitive_data_leakage"],
        {},
        [("high", "security", "S0500")],
    ),
    "an encoded prompt is answered": (
        lab((ENCODED, {"categories": [ASKED_ENCODED]})),
        ["encoding_guardrail"],
        {},
        [("high", "security", "S0400")],
    ),
    "nothing was encoded": (lab(FINE), ["encoding_guardrail"], {}, [("low", "data_quality", "P0100")]),
    "no context of a model that retrieves": (
        lab(
            ("0.9", {"context": ["c"]}),
            ("0.9", {"context": ["c"]}),
            ("0.9", {"context": [" "]}),
            model_type="h2ogpte",
        ),
        ["reading"],
        {},
        [("medium", "retrieval", "P0100")],
    ),
    "a host that did not answer": (
        lab(FINE, FINE, ("", {"error": "503"})),
        ["reading"],
        {},
        [("medium", "runtime", "P0200")],
    ),
    "a negative cost": (lab(("0.9", {"cost": -1.0})), ["reading"], {}, [("low", "cost", "P0100")]),
    "a missing cost": (lab(("0.9", {"cost": 1.0}), FINE), ["reading"], {}, [("low", "cost", "P0100")]),
    "a cost beyond the limit": (
        lab(("0.9", {"cost": 2.0})),
        ["reading"],
        {"max_cost": 1.0},
        [("medium", "cost", "P0200")],
    ),
    "slow answers": (
        lab(("0.9", {"actual_duration": 3.0})),
        ["reading"],
        {"latency": {"max_s": 2.0}},
        [("medium", "efficiency", "P0200")],
    ),
    "very slow answers": (
        lab(("0.9", {"actual_duration": 5.0})),
        ["reading"],
        {"latency": {"max_s": 2.0}},
        [("high", "efficiency", "P0200")],
    ),
    "much on disk": (lab(FINE), ["reading"], {"storage": {"max_mb": 1.0}}, [("medium", "storage", "P0200")]),
    "no number": (lab(FINE, FINE, ("nan", {})), ["reading"], {}, [("medium", "robustness", "P0200")]),
    "an evaluator that broke": (
        lab(FINE, FINE, ("silent", {})),
        ["reading"],
        {},
        [("medium", "runtime", "P0200")],
    ),
    "too few cases": (lab(FINE), ["reading"], {"min_test_cases": 2}, [("medium", "data_quality", "P0100")]),
    "nothing at all": (lab(FINE), ["reading"], {}, []),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_planted_problem_is_told_and_no_other(tmp_path, name):
    content, evaluators, config, expected = PROBLEMS[name]
    result = analysis_of(tmp_path, content, evaluators, storage_mb=2.0, **config).problems
    assert [(problem.severity, problem.problem_type, problem.avid) for problem in result] == expected, [
        problem.description for problem in result
    ]
    for problem in result:
        assert problem.actions
        assert problem.attributes
        assert problem.avid in AVID


@pytest.mark.parametrize("kind", PROBLEM_TYPES)
def test_a_missed_mean_is_of_its_evaluators_type(tmp_path, kind):
    @evaluator(
        "planted",
        name="Planted",
        domain="generation",
        needs=("actual_output",),
        problem_type=kind,
        avid="E0100",
    )
    @dataclass(frozen=True)
    class Planted:
        """Says 0.4."""

        metrics: ClassVar[tuple[Metric, ...]] = (Metric("planted", threshold=0.5, primary=True),)

        def score(self, cases, tools):
            return [Outcome.score({"planted": 0.4}) for _ in cases]

    registry = toy_registry()
    registry.add_evaluator(Planted)
    (result,) = analysis_of(tmp_path, lab(FINE), ["planted"], registry=registry).problems
    assert (result.severity, result.problem_type, result.avid) == (
        "high" if kind in ("privacy", "security") else "medium",
        kind,
        "E0100",
    )


def test_a_judge_without_a_usable_word(tmp_path):
    @evaluator("asking", name="Asking", domain="generation", needs=("actual_output",), method=("judge",))
    @dataclass(frozen=True)
    class Asking:
        """Understands "0.9" only."""

        metrics: ClassVar[tuple[Metric, ...]] = (Metric("asking", threshold=0.5, primary=True),)

        def score(self, cases, tools):
            fine = Outcome.score({"asking": 1.0})
            return [
                fine
                if case.actual_output == "0.9"
                else Outcome.error("the judge's reply is not JSON", OutcomeCode.JUDGE_UNREADABLE)
                for case in cases
            ]

    registry = toy_registry()
    registry.add_evaluator(Asking)
    (result,) = analysis_of(tmp_path, lab(FINE, FINE, ("?", {})), ["asking"], registry=registry).problems
    assert (result.severity, result.problem_type) == ("medium", "runtime")
    assert "had no usable reply of its judge" in result.description


def test_problems_stand_in_the_order_of_their_severity_and_each_once(tmp_path):
    content = lab(
        ("0.2", {"cost": -1.0}),
        ("0.2", {"cost": -1.0, "run": 2, "key": "k0"}),
        ("0.9", perturbed_fields()),
        ("0.4", {}),
    )
    result = analysis_of(tmp_path, content, ["reading"], min_test_cases=9).problems
    severities = [problem.severity for problem in result]
    assert severities == sorted(severities, key=["high", "medium", "low"].index)
    assert set(severities) == {"high", "medium", "low"}
    assert len({problem.description for problem in result}) == len(result)


TWO = ("a", "b")


def lab_of_two(first, second, **more):
    """A row for each of two models: answer, or (answer, what else)."""
    pairs = []
    for number, (first_entry, second_entry) in enumerate(zip(first, second, strict=True)):
        for model, entry in zip(TWO, (first_entry, second_entry), strict=True):
            answer, extra = entry if isinstance(entry, tuple) else (entry, {})
            pairs.append(
                (
                    answer,
                    {
                        "key": f"k{number}",
                        "input": f"Question {number}?",
                        "model_key": model,
                        **more,
                        **extra,
                    },
                )
            )
    return lab(*pairs, models=TWO)


SAME = {"actual_duration": 0.0}
INSIGHTS = {
    "best and worst": (
        lab_of_two(["0.9", "0.8"], ["0.6", "0.7"]),
        ["reading"],
        ["the best model is 'a'", "the worst model is 'b'"],
    ),
    "most and least accurate": (
        lab_of_two(["yes"] * 6, ["no"] * 6),
        ["answered"],
        ["the most accurate model is 'a'", "the least accurate model is 'b'"],
    ),
    "fastest": (
        lab_of_two([("0.9", {"actual_duration": 2.0})] * 2, [("0.9", {"actual_duration": 1.0})] * 2),
        ["reading"],
        ["The fastest model is 'b' with 1 s per answer on average; the slowest is 'a' with 2 s"],
    ),
    "cheapest": (
        lab_of_two([("0.9", {"cost": 2.0})], [("0.9", {"cost": 1.0})]),
        ["reading"],
        ["The cheapest model is 'b' with 1 per answer"],
    ),
    "the hardest prompt, which no model answers": (
        lab_of_two(["0.1", "0.9"], ["0.1", "0.9"]),
        ["reading"],
        [
            "the most difficult prompt is 'Question 0?'; 2 of 2 models fail it",
            "no model passes 1 prompt ('Question 0?')",
        ],
    ),
    "retrieval failed and generation did not": (
        lab(
            ("Paris", {"context": ["London"], "output_condition": '"Paris"'}),
            ("Rome", {"context": ["Rome"], "output_condition": '"Rome"'}),
            model_type="h2ogpte",
        ),
        ["text_matching"],
        [
            "the hardest prompt is 'Question 0?' (Model passes 0); 1 of 2 prompts fail",
            "for 1 prompt the retrieval of model 'm' failed and its answer did not",
        ],
    ),
    "ties, no times, no costs": (lab_of_two(["0.9", "0.7"], ["0.7", "0.9"]), ["reading"], []),
    "one model": (lab(("0.9", {"cost": 1.0, "actual_duration": 1.0})), ["reading"], []),
    "all costs nothing": (lab_of_two([("0.9", {"cost": 0.0})], [("0.9", {"cost": 0.0})]), ["reading"], []),
}


@pytest.mark.parametrize("name", INSIGHTS)
def test_one_planted_insight_is_told_and_no_other(tmp_path, name):
    content, evaluators, expected = INSIGHTS[name]
    values = [insight.description for insight in analysis_of(tmp_path, content, evaluators).insights]
    assert len(values) == len(expected), values
    assert all(part in text for part, text in zip(expected, values, strict=True)), values


def test_each_stage_of_a_failing_rag_answer_is_a_problem_of_its_own(tmp_path):
    """One model answers rightly; the other misses the context, leaves it unused, and contradicts it."""
    base = {
        "expected_output": "It costs 5 USD.",
        "output_condition": '"5 USD" AND NOT "card"',
        "context": ["A transfer costs 5 USD."],
    }
    rows = [
        ("A transfer costs 5 USD.", {**base, "model_key": "perfect"}),
        ("A card costs 5 USD.", {**base, "model_key": "faulty", "context": ["Cards are free."]}),
        ("The documents do not say it.", {**base, "model_key": "faulty"}),
        ("A transfer costs 6 USD.", {**base, "model_key": "faulty"}),
        ("A transfer costs 7 USD.", {**base, "model_key": "faulty"}),
    ]
    content = lab(*rows, models=("perfect", "faulty"), model_type="h2ogpte")
    analysis = analysis_of(tmp_path, content, ["text_matching"])
    stages = {
        (problem.attributes["model"], problem.attributes["stage"]): problem.attributes["count"]
        for problem in analysis.problems
        if problem.code == "rag_stage"
    }
    assert stages == {
        ("faulty", "not_retrieved"): 1,
        ("faulty", "not_used"): 1,
        ("faulty", "contradicted"): 2,
    }
