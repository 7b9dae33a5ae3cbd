"""The first screen: verdict, causes of failures, which model, heatmap and main findings."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.analysis.causes import is_safety
from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.plots.labels import short_labels
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.sign_offs import sign_offs_of

CAUSES = 4
"""Causes that the first screen shows; the first of them with its texts."""
BESIDE = 4
"""Models, and evaluators, of a heatmap up to which it fits beside the causes."""
FINDINGS = 3
FURTHER_FINDINGS = 6
"""Findings that the brief has besides, a line each."""
LABEL_CHARS = 22
FEW_MODELS = 8
"""Models from which on the brief has two reasons for each, so that all of them fit on two pages."""


def _rank(board: Leaderboard) -> tuple[bool, bool]:
    """Return the sort key of a column: safety comes first, what was not scored last."""
    return not any(line.scored for line in board.standings), not is_safety(board.evaluator)


@section("summary", title="Summary", order=10, tab="overview")
def summary(content: Content) -> Mapping[str, object]:
    """Show the verdict, why tests failed, all models on all evaluators, and up to three findings."""
    analysis, summary = content.analysis, content.summary
    boards = list(analysis.leaderboards.values())
    causes = sorted(
        (group for group in content.groups if group.kind in ("failed", "error")),
        key=lambda group: (not group.has_regressed, -group.cause.total),
    )
    return {
        "summary": summary,
        "causes": causes[:CAUSES],
        "more_causes": len(causes) - CAUSES,
        "gates": analysis.gates,
        "sign_offs": sign_offs_of(analysis.run),
        "boards": boards,
        "places": sorted(range(len(boards)), key=lambda index: _rank(boards[index])),
        "worst_first": sorted(
            summary.models,
            key=lambda model: (
                model.conformity == "meets conditions",
                model.share if model.share is not None else 2,
            ),
        ),
        "reasons_shown": 2 if len(summary.models) > FEW_MODELS else 3,
        "labels": short_labels([board.evaluator.name for board in boards], LABEL_CHARS),
        "draws_eye": len(boards) > 1,
        "is_wide": len(summary.models) > BESIDE
        or len(boards) > BESIDE
        or (len(summary.models) == 1 and len(causes) > 1),
        "is_compact": len(summary.models) > BESIDE,
        "top": summary.findings[:FINDINGS],
        "further": summary.findings[FINDINGS : FINDINGS + FURTHER_FINDINGS],
        "more_findings": max(0, len(summary.findings) - FINDINGS),
    }
