"""History of the runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.history import pictures
from pytest_evalstudio.report.sections import section


@section("history", title="History", order=20, tab="compare")
def history(content: Content) -> Mapping[str, Any] | None:
    """Show each metric over the runs of the history; nothing for fewer than two runs."""
    if content.history is None or len(content.history.runs) < 2:
        return None
    return {"history": content.history, "pictures": list(pictures(content.history).values())}
