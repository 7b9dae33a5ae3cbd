"""Results of the human calibration that other steps, artifacts and reports use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_evalstudio.contrib.calibration.fit.results import ExpectedUse, MetricFigures
from pytest_evalstudio.contrib.validation.methods.typed_results import R, read_results

ID = "human_calibration"


@dataclass(frozen=True, kw_only=True)
class CalibrationOutcome:
    """Results of a completed calibration; all are empty if nothing was calibrated.

    Attributes:
        thresholds: `evaluator.metric` to the calibrated threshold, where later steps should use it.
        to_review: number of answers that people should read, by reason.
        accepted: keys of the test cases that fail although people call the answer good.
        by_metric: calibrations of all primary metrics by the same labels.
        guardrail: expected use of all calibrated thresholds together; an answer fails if it misses one of
            them. None without a threshold.
    """

    thresholds: Mapping[str, float | None] = field(default_factory=dict)
    to_review: Mapping[str, int] = field(default_factory=dict)
    accepted: tuple[str, ...] = ()
    by_metric: tuple[MetricFigures, ...] = ()
    guardrail: ExpectedUse | None = None


class HasResults(Protocol):
    """A workflow, or the context of a step, with results of completed steps."""

    def completed_results(self, id: str, kind: type[R]) -> R | None:
        """Return the results of a step; None if it is not completed."""


@dataclass(frozen=True, kw_only=True)
class _Labelled:
    labelled: int = 0


class HasStatus(Protocol):
    """A workflow with the status of its steps."""

    def is_current(self, id: str) -> bool:
        """Report whether a step has run on what there is now, completed or waiting."""

    def figures_of(self, id: str) -> Mapping[str, Any]:
        """Return the results of a step's last run."""


def labelled_answers(run: HasStatus) -> int:
    """Return the number of answers that people have labelled, also of a sample that is not complete."""
    return read_results(ID, run.figures_of(ID), _Labelled).labelled if run.is_current(ID) else 0


def calibrated_thresholds(source: HasResults) -> dict[str, float]:
    """Return the calibrated thresholds by `evaluator.metric`; none without a completed calibration."""
    thresholds = calibration_outcome(source).thresholds
    return {key: value for key, value in thresholds.items() if value is not None}


def calibration_outcome(source: HasResults) -> CalibrationOutcome:
    """Return the results of the calibration for later steps; empty ones without a completed calibration."""
    return source.completed_results(ID, CalibrationOutcome) or CalibrationOutcome()
