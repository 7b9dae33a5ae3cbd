"""Comparison of the run with its baseline."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("comparison", title="Comparison with the baseline", order=10, tab="compare")
def comparison(content: Content) -> Mapping[str, object] | None:
    """Show summary, counts, regressed items with their changes, and metrics; nothing without a baseline."""
    if content.comparison is None:
        return None
    from pytest_evalstudio.report.comparison_view import comparison_view

    names = {id: info.name for id, info in content.analysis.evaluators.items()}
    return comparison_view(content.comparison, names)
