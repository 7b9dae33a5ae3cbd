"""Status of the workflows of model risk management, step by step."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.record.schema import StepEntry
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("workflows", title="Model risk management", order=10, tab="workflow")
def workflows(content: Content) -> Mapping[str, object] | None:
    """Show the steps of each workflow file of the run in order; nothing without workflows."""
    by_file: dict[str, list[StepEntry]] = {}
    for step in content.analysis.run.steps.values():
        by_file.setdefault(step.file, []).append(step)
    if not by_file:
        return None
    return {
        "workflows": [
            (file, sorted(steps, key=lambda step: step.number)) for file, steps in sorted(by_file.items())
        ]
    }
