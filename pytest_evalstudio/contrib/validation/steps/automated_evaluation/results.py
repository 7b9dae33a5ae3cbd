"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric
from pytest_evalstudio.contrib.validation.methods.controls.results import ControlResults
from pytest_evalstudio.contrib.validation.steps.test_generation.results import Coverage

ID = "automated_evaluation"
LAB = "answers_lab.json"
ASKED = "asked_suite.json"
"""The valid test cases that no control contradicts."""
MIN_PASS_SHARE = 0.8
"""Default share of answers that must pass for the conclusion "fit"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResults:
    """Verdicts of the evaluation, and the evaluators that gave them.

    Attributes:
        cases: number of evaluated test cases.
        verdicts: number of test cases by verdict.
        evaluators: ids, in the order of the configuration.
        thresholds: `evaluator` or `evaluator.metric` to the threshold that replaced the configuration's.
        deciding: metrics that decide the conclusion, before a calibration.
        undecided: chosen primary metrics with a threshold that nobody set; a calibration may make them
            decide.
        controls: contradictions between controls and evaluators, by the thresholds of the evaluation.
        min_pass_share: share of answers that must pass for the conclusion "fit".
        coverage: of the documents by the test cases that were asked.
    """

    cases: int
    verdicts: Mapping[str, int]
    evaluators: tuple[str, ...]
    thresholds: Mapping[str, float]
    deciding: tuple[DecidingMetric, ...]
    undecided: tuple[str, ...]
    controls: ControlResults
    min_pass_share: float
    coverage: Coverage = field(default_factory=Coverage)
