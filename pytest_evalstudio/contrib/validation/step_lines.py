"""Results of a workflow's steps in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.contrib.validation.methods.controls.results import control_lines
from pytest_evalstudio.contrib.validation.methods.typed_results import read_results
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.record.schema import StepEntry


def control_lines_of(step: StepEntry) -> Iterator[str]:
    """Yield the results of the controls of a step that has any."""
    if "controls" in step.figures:
        yield from control_lines(read_results(step.step, step.figures, EvaluationResults).controls)
