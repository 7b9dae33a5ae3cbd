"""Section of the page: causes of the regressions."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

CASES_SHOWN = 100


@section("causes", title="Causes of regressions", order=5, tab="compare")
def causes(content: Content) -> Mapping[str, object] | None:
    """Show the causes with counts, what to fix first, and each case; nothing where none was looked for."""
    if not content.analysis.run.causes:
        return None
    from pytest_evalstudio.contrib.cause.run_extra import CauseExtra
    from pytest_evalstudio.contrib.cause.wording import trial_text

    extra = content.part(CauseExtra)
    if extra is None:
        return None
    case_rows = [
        (nodeid, entry, [trial_text(trial) for trial in entry.trials])
        for row in extra.rows
        for nodeid, entry in row.entries
    ]
    return {
        "extra": extra,
        "shown": case_rows[:CASES_SHOWN],
        "left_out": max(0, len(case_rows) - CASES_SHOWN),
    }
