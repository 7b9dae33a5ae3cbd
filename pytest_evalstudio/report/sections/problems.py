"""Problems of the run, grouped over models and metrics."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

AT_ONCE = 40


@section("problems", title="Findings", order=20, tab="overview")
def problems(content: Content) -> Mapping[str, object]:
    """Show each finding with its count, its cases and the next step, the most severe first."""
    return {"findings": content.summary.findings, "failed": content.summary.failures, "at_once": AT_ONCE}
