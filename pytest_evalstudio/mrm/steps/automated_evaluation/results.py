"""Id, artifacts and results of the step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ID = "automated_evaluation"
LAB = "answers_lab.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResults:
    """Verdicts of the evaluation, and the evaluators that gave them.

    Attributes:
        cases: number of evaluated test cases.
        verdicts: number of test cases by verdict.
        evaluators: ids, in the order of the configuration.
        thresholds: `evaluator` or `evaluator.metric` to the threshold that replaced the configuration's.
    """

    cases: int
    verdicts: Mapping[str, int]
    evaluators: tuple[str, ...]
    thresholds: Mapping[str, float]
