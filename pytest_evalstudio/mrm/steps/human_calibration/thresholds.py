"""Calibrated thresholds for the steps after the calibration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.mrm.steps.human_calibration.results import ID, CalibrationOutcome
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.results import R


class HasResults(Protocol):
    """A workflow, or the context of a step, with results of completed steps."""

    def completed_results(self, id: str, kind: type[R]) -> R | None:
        """Return the results of a step; None if it is not completed."""


def calibrated_thresholds(source: HasResults) -> dict[str, float]:
    """Return the calibrated thresholds by `evaluator.metric`; none without a completed calibration."""
    thresholds = calibration_outcome(source).thresholds
    return {key: value for key, value in thresholds.items() if value is not None}


def calibration_outcome(source: HasResults) -> CalibrationOutcome:
    """Return the results of the calibration for later steps; empty ones without a completed calibration."""
    return source.completed_results(ID, CalibrationOutcome) or CalibrationOutcome()


def evaluators_and_thresholds(
    context: StepContext, evaluators: Sequence[str]
) -> tuple[list[str], dict[str, float], list[str]]:
    """Return the evaluators and thresholds of the automated evaluation for a later step.

    Calibrated thresholds replace others, if the calibration is completed.

    Args:
        context: of the step.
        evaluators: ids; if empty, those of the automated evaluation.

    Returns:
        Ids and thresholds, as `ask_and_evaluate` takes them, and notes for people.
    """
    evaluation = context.results(EVALUATION, EvaluationResults)
    chosen = list(evaluators) or list(evaluation.evaluators)
    calibrated = {
        name: value
        for name, value in calibrated_thresholds(context).items()
        if name.partition(".")[0] in chosen
    }
    replaced = {*calibrated, *(name.partition(".")[0] for name in calibrated)}
    kept = {
        name: value
        for name, value in evaluation.thresholds.items()
        if name.partition(".")[0] in chosen and name not in replaced
    }
    values = ", ".join(f"{name} {value:.3g}" for name, value in calibrated.items())
    notes = [f"thresholds of the human calibration: {values}"] if values else []
    return chosen, {**kept, **calibrated}, notes
