"""Insights of the run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

SHOWN = 300
AT_ONCE = 20


@section("insights", title="Insights", order=30, tab="overview")
def insights(content: Content) -> Mapping[str, Any]:
    """Show the insights of the analysis."""
    all_insights = content.analysis.insights
    return {
        "insights": all_insights[:SHOWN],
        "at_once": AT_ONCE,
        "left_out": max(0, len(all_insights) - SHOWN),
    }
