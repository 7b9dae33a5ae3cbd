"""Section of the page: gap between the open and the hidden half."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("holdout", title="Open and hidden half", order=4, tab="overview")
def holdout(content: Content) -> Mapping[str, object] | None:
    """Show counts, gap and verdict; nothing for a run without a hidden half."""
    entries = content.analysis.run.holdout
    return {"entries": entries} if entries else None
