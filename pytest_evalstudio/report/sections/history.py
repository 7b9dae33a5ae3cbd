"""History of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section


@section("history", title="History", order=20, tab="compare")
def history(content: Content) -> Mapping[str, Any] | None:
    """Show pass rate, cost, seconds and metrics over the runs of the history; nothing for less than two."""
    if content.history is None or len(content.history.runs) < 2:
        return None
    from pytest_evalstudio.report.history import drawn_models, models_of, pictures

    drawn = pictures(content.history)
    operations = {series.name for series in content.history.operations}
    return {
        "history": content.history,
        "operations": [svg for name, svg in drawn.items() if name in operations],
        "metrics": [svg for name, svg in drawn.items() if name not in operations],
        "models": len(models_of(content.history)),
        "drawn": len(drawn_models(content.history)),
    }
