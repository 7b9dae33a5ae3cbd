"""The evaluation as a circle to drill into: domains, evaluators, metrics, models, test cases."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("eye", title="Evaluation eye", order=10, tab="explore")
def eye(content: Content) -> Mapping[str, object] | None:
    """Show the drawing, which a script makes; nothing if nothing was evaluated."""
    analysis = content.analysis
    return {} if analysis.evaluators and analysis.models else None
