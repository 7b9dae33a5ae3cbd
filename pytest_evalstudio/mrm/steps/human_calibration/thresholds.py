"""Calibrated thresholds for the steps after the calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.mrm.steps.human_calibration.results import ID, CalibrationOutcome
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.results import read_results


def calibrated_thresholds(figures: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Return the calibrated thresholds by `evaluator.metric`; none without a completed calibration.

    Args:
        figures: results of completed steps by id, as their state files hold them.
    """
    thresholds = calibration_outcome(figures).thresholds
    return {key: value for key, value in thresholds.items() if value is not None}


def calibration_outcome(figures: Mapping[str, Mapping[str, Any]]) -> CalibrationOutcome:
    """Return the results of the calibration that later steps use; empty ones without a completed calibration.

    Args:
        figures: results of completed steps by id, as their state files hold them.
    """
    return read_results(ID, figures.get(ID, {}), CalibrationOutcome)


def evaluators_and_thresholds(
    context: StepContext, evaluators: Sequence[str]
) -> tuple[list[str], dict[str, float], list[str]]:
    """Return the evaluators and thresholds of the automated evaluation for a later step.

    Calibrated thresholds replace others, if the calibration is completed.

    Args:
        evaluators: ids; if empty, those of the automated evaluation.

    Returns:
        Ids and thresholds, as `ask_and_evaluate` takes them, and notes for people.
    """
    evaluation = context.results(EVALUATION, EvaluationResults)
    chosen = list(evaluators) or list(evaluation.evaluators)
    calibrated = {
        name: value
        for name, value in calibrated_thresholds(context.figures).items()
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
