"""Items that did not pass: failed, then errors, then expected failures, by evaluator and reason."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.failed_items import LIMITS
from pytest_evalstudio.report.failure_types import Kind
from pytest_evalstudio.report.sections import section

_TITLES: Mapping[Kind, tuple[str, str]] = {
    "failed": ("Failed", "failed"),
    "error": ("Errors", "with an error"),
    "xfailed": ("Expected failures", "expected to fail"),
}


@section("failures", title="Failures", order=10, tab="failures")
def failures(content: Content) -> Mapping[str, object]:
    """Show each failure with reason, expected and actual answer, and the command that runs it again."""
    failed = content.failed
    groups = failed.groups()
    return {
        "groups": groups,
        "totals": [(kind, _TITLES[kind][1], failed.total[kind]) for kind in LIMITS],
        "kinds": [
            (
                kind,
                _TITLES[kind][0],
                [group for group in groups if group.kind == kind],
                failed.left_out(kind),
            )
            for kind in LIMITS
            if failed.total[kind]
        ],
    }
