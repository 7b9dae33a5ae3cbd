"""Items that did not pass: failed, then errors, then those that did not end as expected, by cause."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.analysis.causes import KINDS, Kind
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section

_TITLES: Mapping[Kind, tuple[str, str]] = {
    "failed": ("Failed", "failed"),
    "error": ("Errors", "with an error"),
    "xfailed": ("Expected failures", "expected to fail"),
    "xpassed": ("Unexpected passes", "passed unexpectedly"),
}


@section("failures", title="Failures", order=10, tab="failures")
def failures(content: Content) -> Mapping[str, object]:
    """Show each failure with reason, expected and actual answer, and the command that runs it again."""
    total = content.failed.total
    return {
        "groups": content.groups,
        "totals": [(kind, _TITLES[kind][1], total[kind]) for kind in KINDS],
        "kinds": [
            (kind, _TITLES[kind][0], [group for group in content.groups if group.kind == kind])
            for kind in KINDS
            if total[kind]
        ],
    }
