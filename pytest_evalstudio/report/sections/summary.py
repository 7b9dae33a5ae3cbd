"""The run at a glance."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.core.outcomes import SEVERITIES
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("summary", title="Summary", order=10)
def summary(content: Content) -> Mapping[str, object]:
    """Show severities, verdicts, gates, and the primary metrics of all models side by side."""
    analysis = content.analysis
    return {
        "severities": [
            (severity, sum(problem.severity == severity for problem in analysis.problems))
            for severity in SEVERITIES
        ],
        "verdicts": [(verdict, count) for verdict, count in analysis.verdicts.items() if count],
        "gates": analysis.gates,
        "boards": list(analysis.leaderboards.values()),
    }
