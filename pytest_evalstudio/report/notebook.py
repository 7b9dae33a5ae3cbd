"""HTML of a report for notebooks: its verdict, its first findings, and a link to its page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from pytest_evalstudio.text.figures import counted

if TYPE_CHECKING:
    from pytest_evalstudio.report.build import Report

SHOWN_FINDINGS = 5
_COLOURS = {"passed": "#1b7f3b", "failed": "#b3261e", "error": "#b3261e"}


def report_html(report: Report) -> str:
    """Return the HTML; all text in it is escaped."""
    verdict = report.verdict
    colour = _COLOURS.get(verdict.outcome, "inherit")
    findings = "".join(
        f"<li>{escape(finding.severity)}: {escape(finding.title)}</li>"
        for finding in report.findings[:SHOWN_FINDINGS]
    )
    hidden_count = len(report.findings) - SHOWN_FINDINGS
    more = f"<p>{counted(hidden_count, 'more finding')} on the page</p>" if hidden_count > 0 else ""
    address = escape(report.page.absolute().as_uri(), quote=True)
    return (
        f"<div><p><strong style='color:{colour}'>{escape(f'{verdict.sign} {verdict.headline}')}</strong></p>"
        f"{f'<ul>{findings}</ul>' if findings else ''}{more}"
        f"<p><a href='{address}' target='_blank'>{escape(report.page.as_posix())}</a></p></div>"
    )
