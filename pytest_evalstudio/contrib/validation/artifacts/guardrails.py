"""The guardrail configuration of a workflow: evaluators of single answers, with their thresholds."""

from __future__ import annotations

import math
from collections.abc import Mapping

from pytest_evalstudio.contrib.calibration.fit.results import ExpectedUse
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready
from pytest_evalstudio.formats.guardrails import Guardrails
from pytest_evalstudio.record.schema import EvaluatorEntry

AT_HAND = frozenset({"question", "context", "actual_output"})
"""Inputs of a guardrail; there is no expected answer."""


def guardrails(
    evaluators: Mapping[str, EvaluatorEntry],
    calibrated: Mapping[str, float],
    expected: ExpectedUse | None = None,
) -> Guardrails:
    """Return the evaluators of a record that need only question, context and answer, with their thresholds.

    Evaluators that only a configuration knows, instances with options of their own, are left out.

    Args:
        evaluators: evaluators of the record by id.
        calibrated: `evaluator.metric` to the threshold that people's labels gave; the record's own holds for
            the others, which are marked.
        expected: use of the calibrated thresholds on new answers.
    """
    thresholds = {}
    for id, info in evaluators.items():
        if not set(info.needs) <= AT_HAND or info.scope != "row" or info.type != id:
            continue
        deciding = [
            metric
            for metric in info.metrics
            if metric.key in _deciding(info) or f"{id}.{metric.key}" in calibrated
        ]
        limits = {metric.key: calibrated.get(f"{id}.{metric.key}", metric.threshold) for metric in deciding}
        # An infinite threshold decides nothing.
        thresholds[id] = {key: value for key, value in limits.items() if math.isfinite(value)}
    marked = {
        id: [key for key in limits if f"{id}.{key}" not in calibrated] for id, limits in thresholds.items()
    }
    return Guardrails(
        calibrated_thresholds={id: limits for id, limits in thresholds.items() if limits},
        evaluator_ids=list(thresholds),
        not_calibrated={id: keys for id, keys in marked.items() if keys},
        expected=None if expected is None else json_ready(expected),
    )


def _deciding(info: EvaluatorEntry) -> frozenset[str]:
    """Return the keys of the deciding metrics; for a calibrated probability, the metric it is made of."""
    if not info.calibration:
        return info.asserted
    return (info.asserted - {info.primary.key}) | {str(info.calibration.get("of"))}
