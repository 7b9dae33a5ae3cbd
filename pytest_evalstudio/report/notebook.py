"""HTML of a report for notebooks: its verdict, its first findings, and a link to its page."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from pytest_evalstudio.report.findings import ReportFinding
from pytest_evalstudio.report.verdict import RunVerdict
from pytest_evalstudio.text.figures import counted

SHOWN_FINDINGS = 5
_COLOURS = {"passed": "#1b7f3b", "failed": "#b3261e", "error": "#b3261e"}


def report_html(verdict: RunVerdict, findings: Sequence[ReportFinding], page: Path) -> str:
    """Return the HTML; all text in it is escaped."""
    colour = _COLOURS.get(verdict.outcome, "inherit")
    listed = "".join(
        f"<li>{escape(finding.severity)}: {escape(finding.title)}</li>"
        for finding in findings[:SHOWN_FINDINGS]
    )
    hidden_count = len(findings) - SHOWN_FINDINGS
    more = f"<p>{counted(hidden_count, 'more finding')} on the page</p>" if hidden_count > 0 else ""
    address = escape(page.absolute().as_uri(), quote=True)
    return (
        f"<div><p><strong style='color:{colour}'>{escape(f'{verdict.sign} {verdict.headline}')}</strong></p>"
        f"{f'<ul>{listed}</ul>' if listed else ''}{more}"
        f"<p><a href='{address}' target='_blank'>{escape(page.as_posix())}</a></p></div>"
    )
