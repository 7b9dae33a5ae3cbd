"""Problems of the run, the most severe first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

SHOWN = 300
AT_ONCE = 20


@section("problems", title="Problems", order=20)
def problems(content: Content) -> Mapping[str, Any]:
    """Show the most severe problems, how many are left out, and where they are."""
    all_problems = content.analysis.problems
    return {
        "problems": all_problems[:SHOWN],
        "at_once": AT_ONCE,
        "left_out": max(0, len(all_problems) - SHOWN),
    }
