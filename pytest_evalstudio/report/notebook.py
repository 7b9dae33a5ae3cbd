"""HTML of a report for notebooks: its verdict, its largest causes and findings, and a link to its page."""

from __future__ import annotations

from html import escape
from pathlib import Path

from pytest_evalstudio.analysis.summary.results import RunSummary
from pytest_evalstudio.text.figures import counted

SHOWN_CAUSES = 5
SHOWN_FINDINGS = 3
_COLOURS = {"passed": "#1b7f3b", "failed": "#b3261e", "error": "#b3261e"}


def report_html(summary: RunSummary, page: Path) -> str:
    """Return the HTML; all text in it is escaped."""
    verdict = summary.verdict
    colour = _COLOURS.get(verdict.outcome, "inherit")
    lines = [f"{cause.total:,} × {cause.title}" for cause in summary.causes[:SHOWN_CAUSES]]
    if (more := len(summary.causes) - SHOWN_CAUSES) > 0:
        lines.append(f"{counted(more, 'more cause')} on the page")
    lines += summary.ranking
    lines += [f"{finding.severity}: {finding.title}" for finding in summary.findings[:SHOWN_FINDINGS]]
    if (more := len(summary.findings) - SHOWN_FINDINGS) > 0:
        lines.append(f"{counted(more, 'more finding')} on the page")
    listed = "".join(f"<li>{escape(line)}</li>" for line in lines)
    address = escape(page.absolute().as_uri(), quote=True)
    return (
        f"<div><p><strong style='color:{colour}'>{escape(f'{verdict.sign} {verdict.headline}')}</strong></p>"
        f"<p>{escape(summary.coverage.sentence)}</p>"
        f"{f'<ul>{listed}</ul>' if listed else ''}"
        f"<p><a href='{address}' target='_blank'>{escape(page.as_posix())}</a></p></div>"
    )
