"""Evaluators and thresholds of the automated evaluation, for later steps."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID, EvaluationResults
from pytest_evalstudio.contrib.validation.workflow.calibration import (
    calibrated_thresholds,
    calibration_outcome,
)
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.text.figures import figure


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
    evaluation = context.results(ID, EvaluationResults)
    ids = list(evaluators) or list(evaluation.evaluators)
    calibrated = {
        name: value for name, value in calibrated_thresholds(context).items() if name.partition(".")[0] in ids
    }
    # A threshold by the name of the evaluator alone is that of its primary metric.
    replaced = {*calibrated, *(name.partition(".")[0] for name in calibrated)}
    options = {
        name: value
        for name, value in evaluation.thresholds.items()
        if name.partition(".")[0] in ids and name not in replaced
    }
    values = ", ".join(f"{name} {figure(value)}" for name, value in calibrated.items())
    notes = [f"thresholds of the human calibration: {values}"] if values else []
    return ids, {**options, **calibrated}, notes


def deciding_names(context: StepContext) -> tuple[str, ...]:
    """Return the metrics that decide, as `evaluator.metric`: those of the evaluation and calibrated ones.

    A later step that counts failures counts theirs, so that no metric makes a finding whose threshold nobody
    set, or whose threshold the controls contradict.
    """
    evaluation = context.completed_results(ID, EvaluationResults)
    if evaluation is None:
        return ()
    set_metrics = [
        metric.metric for metric in evaluation.deciding if metric.metric not in evaluation.controls.thresholds
    ]
    calibrated = [figures.metric for figures in calibration_outcome(context).by_metric if figures.accepted]
    return tuple(dict.fromkeys([*set_metrics, *calibrated]))
