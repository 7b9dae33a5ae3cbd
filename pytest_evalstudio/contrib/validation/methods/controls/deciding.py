"""Metrics that decide a conclusion: primary ones that were chosen, with thresholds that somebody set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pytest_evalstudio.core.codes import ItemCode
from pytest_evalstudio.core.outcomes import Better, Metric
from pytest_evalstudio.formats.config import Configuration
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator
from pytest_evalstudio.scoring.thresholds import by_evaluator, named_thresholds, thresholds_of
from pytest_evalstudio.text.figures import figure

Basis = Literal["yes_or_no", "set", "calibrated"]
BASES: Mapping[str, str] = {
    "yes_or_no": "yes or no",
    "set": "threshold set in workflow or configuration",
    "calibrated": "threshold calibrated by labels of people",
}
FAILED_RESPONSES = frozenset({ItemCode.ANSWER_EMPTY.value, ItemCode.REFUSAL_MISSING.value})
"""Codes of items that fail whatever their scores: no answer, or no refusal where one is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidingMetric:
    """A metric that decides.

    Attributes:
        metric: `evaluator.metric`.
        basis: reason why its threshold may decide.
    """

    metric: str
    better: Better
    threshold: float
    basis: Basis

    def passes(self, score: float) -> bool:
        """Report whether a score meets the threshold."""
        return Metric(self.metric, better=self.better).passes(score, self.threshold)

    @property
    def text(self) -> str:
        """Return metric, threshold and basis for people."""
        sign = "≥" if self.better == "higher" else "≤"
        limit = "" if self.basis == "yes_or_no" else f" {sign} {figure(self.threshold)}"
        return f"{self.metric}{limit} ({BASES[self.basis]})"


def deciding_metrics(
    selected: Sequence[ConfiguredEvaluator], config: Configuration, thresholds: Mapping[str, float]
) -> Iterator[DecidingMetric]:
    """Yield the primary metrics of yes and no, and those whose threshold the user set.

    Args:
        selected: evaluators of the evaluation.
        config: with the tables of the evaluators.
        thresholds: `evaluator` or `evaluator.metric` to threshold, of the workflow.
    """
    in_workflow = by_evaluator(thresholds)
    for each in selected:
        primary = each.spec.primary
        if not math.isfinite(each.thresholds[primary.key]):
            continue
        table = config.evaluator.get(each.id, {})
        user_set = {
            **thresholds_of(table, each.spec, each.id),
            **named_thresholds(in_workflow.get(each.id, {}), each.spec, each.id),
        }
        basis: Basis | None = None
        if each.spec.boolean or primary.boolean:
            basis = "yes_or_no"
        elif primary.key in user_set:
            basis = "set"
        elif each.attached is not None:
            basis = "calibrated"
        if basis is not None:
            yield DecidingMetric(
                metric=f"{each.id}.{primary.key}",
                better=primary.better,
                threshold=each.thresholds[primary.key],
                basis=basis,
            )


def undecided_metrics(
    selected: Sequence[ConfiguredEvaluator], deciding: Sequence[DecidingMetric]
) -> tuple[str, ...]:
    """Return the primary metrics with a threshold that nobody set: calibration may make them decide."""
    names = {each.metric for each in deciding}
    keys = (f"{each.id}.{each.spec.primary.key}" for each in selected if _has_threshold(each))
    return tuple(key for key in keys if key not in names)


def _has_threshold(selected: ConfiguredEvaluator) -> bool:
    return math.isfinite(selected.thresholds[selected.spec.primary.key])


def case_passes(
    response: bool | None, scores: Mapping[str, float | None], deciding: Sequence[DecidingMetric]
) -> bool | None:
    """Return the verdict on an answer by the deciding metrics alone; None where none applies.

    Args:
        response: False for an empty answer or a missing refusal, True for an expected refusal.
        scores: by `evaluator.metric`; a metric that does not apply is missing or None.
        deciding: the metrics that count; an answer fails if it misses one of them.
    """
    states = [metric.passes(score) for metric in deciding if (score := scores.get(metric.metric)) is not None]
    if response is False or False in states:
        return False
    return True if states or response else None
