"""Calibrations that do not fit the run, and answers that they cannot judge."""

from __future__ import annotations

from typing import Any

import pytest

from support.calibrated_runs import (
    ANSWERS,
    CONTEXT,
    CURVE,
    WORDS,
    calibrated_project,
    calibration,
    configure,
    verdict,
)
from support.project import Project


@pytest.fixture
def project(pytester: pytest.Pytester) -> Project:
    return calibrated_project(pytester)


def test_an_answer_without_a_score_that_is_taken_is_not_judged(project: Project) -> None:
    calibration(project, {"evaluator": "lexical_groundedness", "metric": "supported_numbers"})
    configure(project)
    result = project.run("answers_lab.json", "-rs")
    assert result.parseoutcomes() == {"skipped": 4}
    assert (
        "its calibration takes lexical_groundedness.supported_numbers, which has no finite value here"
        in result.stdout.str()
    )


def test_an_error_of_another_evaluator_is_one_of_the_verdict(project: Project) -> None:
    project.lab({"key": "k", "input": "Letters?", "actual_output": ANSWERS["certain"], "context": CONTEXT})
    project.write(
        "conftest.py",
        """
from dataclasses import dataclass
from pytest_evalstudio import Metric, Outcome, evaluator

@evaluator("broken", name="Broken", domain="generation", needs=("actual_output",))
@dataclass(frozen=True)
class Broken:
    \"\"\"Never works.\"\"\"
    metrics = (Metric("score", primary=True),)
    def score(self, cases, tools):
        return [Outcome.error("it broke") for _ in cases]

def pytest_evalstudio_register(registry):
    registry.add_evaluator(Broken)
""",
    )
    two = {**CURVE, "weights": [4.0, 1.0], "means": [0.6, 0.0], "scales": [0.2, 1.0], "logs": [False, False]}
    calibration(project, WORDS, {"evaluator": "broken", "metric": "score"}, curve=two)
    configure(project, evaluators='["lexical_groundedness", "broken"]')
    assert project.run("answers_lab.json").parseoutcomes() == {"errors": 1}
    assert verdict(project, "k")["reason"] == "its calibration takes broken.score: it broke"


@pytest.mark.parametrize(
    ("metrics", "more", "message"),
    [
        pytest.param(
            [{"evaluator": "rouge", "metric": "rouge_l"}],
            [],
            "calibrates rouge.rouge_l, but no metric of lexical",
            id="other",
        ),
        pytest.param(
            [{**WORDS, "metric": "words"}],
            [],
            "needs the metric 'words' of lexical_groundedness, which only has supported_words",
            id="metric",
        ),
        pytest.param(
            [{**WORDS, "better": "lower"}],
            [],
            "were better; now higher values are better. Calibrate again",
            id="direction",
        ),
        pytest.param(
            [{**WORDS, "embedder": "another"}],
            [],
            "made with scores of the embedder 'another', and this run has",
            id="embedder",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.text_matching]", 'calibration = "calibration.json"'],
            "cannot have a calibration: it says passed or",
            id="bool",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.classification]", 'calibration = "calibration.json"'],
            "its figures are of a whole model",
            id="model-wide",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.rouge]", "calibration = 1"],
            "expected the name of a file that `evalstudio calibrate",
            id="no name",
        ),
        pytest.param(
            [WORDS],
            ["[evaluator.rouge]", 'calibration = "none.json"'],
            "none.json: cannot be read: No such file",
            id="no file",
        ),
    ],
)
def test_what_does_not_go_together_is_a_usage_error(
    project: Project, metrics: list[dict[str, Any]], more: list[str], message: str
) -> None:
    calibration(project, *metrics)
    configure(
        project, *more, evaluators='["lexical_groundedness", "text_matching", "classification", "rouge"]'
    )
    result = project.run("answers_lab.json")
    assert result.ret == 4
    assert message in result.stderr.str()


def test_scores_that_are_taken_must_be_made_in_the_same_run(project: Project) -> None:
    two = {**CURVE, "weights": [4.0, 1.0], "means": [0.6, 0.0], "scales": [0.2, 1.0], "logs": [False, False]}
    calibration(project, WORDS, {"evaluator": "looping_detection", "metric": "unique_sentences"}, curve=two)
    configure(project)
    result = project.run("answers_lab.json")
    assert result.ret == 4
    assert (
        "needs looping_detection.unique_sentences, but evaluator 'looping_detection' is not selected"
        in result.stderr.str()
    )


def test_a_case_cannot_choose_a_calibration(project: Project) -> None:
    configure(project, "[[model]]", 'name = "m"', 'host = "extractive"')
    calibration(project)
    project.suite(
        {
            "key": "k",
            "prompt": "2+2?",
            "evaluators": {"lexical_groundedness": {"calibration": "calibration.json"}},
        }
    )
    result = project.run("sums_suite.json")
    assert (
        "a case cannot choose a calibration; give it to the evaluator in the configuration"
        in result.stderr.str() + result.stdout.str()
    )
