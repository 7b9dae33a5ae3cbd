"""Results of the step."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures
from pytest_evalstudio.contrib.calibration.labelling.state import LabellingResults
from pytest_evalstudio.contrib.validation.workflow.calibration import CalibrationOutcome


@dataclass(frozen=True, kw_only=True)
class CalibrationResults(CalibrationOutcome, LabellingResults, CalibrationFigures):
    """Results of a completed calibration, as one table of the state file and the record."""
