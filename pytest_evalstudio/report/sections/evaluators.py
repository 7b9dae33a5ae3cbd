"""Part of each evaluator: definition, figures of the models, failures."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_evalstudio.analysis.leaderboards import Leaderboard
from pytest_evalstudio.analysis.summary.assessment import assess
from pytest_evalstudio.analysis.summary.results import RunSummary
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.plots.interval_chart import IntervalChart, Mean, interval_chart
from pytest_evalstudio.plots.radar import Radar, radar
from pytest_evalstudio.report.content import Content
from pytest_evalstudio.report.exports import log_lines, of_evaluator
from pytest_evalstudio.report.sections import section
from pytest_evalstudio.report.standards import by_standard, methods_of, standards_of
from pytest_evalstudio.report.weak_points import weak_points

PROBLEMS = 10
BARS = 3
"""Metrics of an evaluator that are shown as bars; of more only the primary one is."""


@section("evaluators", title="Evaluators", order=10, tab="evaluators")
def evaluators(content: Content) -> Mapping[str, object] | None:
    """Show all evaluators of the run, in order."""
    if not content.analysis.evaluators:
        return None
    return {"parts": [evaluator_part(content, id) for id in content.analysis.evaluators]}


def evaluator_part(content: Content, id: str) -> dict[str, object]:
    """Return the values for the template of one evaluator."""
    analysis = content.analysis
    board = analysis.leaderboards[id]
    info = board.evaluator
    problems = of_evaluator(analysis.problems, id)
    files = content.folders[id].files()
    return {
        "info": info,
        "standards": by_standard(standards_of(info.keywords)),
        "methods": methods_of(info.keywords, info.method),
        "board": board,
        "plots": leaderboard_charts(board, content.summary),
        "radar": leaderboard_radar(board, content.summary),
        "problems": problems[:PROBLEMS],
        "problem_count": len(problems),
        "insights": of_evaluator(analysis.insights, id),
        "weak_points": weak_points(content.columns, analysis.run, info),
        "failures": content.failures.worst(id),
        "rendered": content.rendered,
        "failed": content.failures.total[id],
        "left_out": content.failures.left_out(id),
        "hardest": analysis.hardest[id],
        "files": files,
        "results_file": files[0][1],
        "log": log_lines(analysis, board),
    }


def leaderboard_charts(board: Leaderboard, summary: RunSummary) -> list[IntervalChart]:
    """Return the chart of each of up to three metrics; of the primary one where there are more.

    Metrics without a finite value of any model have no chart.
    """
    metrics = board.evaluator.metrics
    shown = metrics if len(metrics) <= BARS else (board.evaluator.primary,)
    return [chart for metric in shown if (chart := _leaderboard_chart(board, summary, metric)) is not None]


def _leaderboard_chart(board: Leaderboard, summary: RunSummary, metric: Metric) -> IntervalChart | None:
    cells = [
        (summary.label(line.model), line.cells[metric.key], assess(board, line, metric))
        for line in board.standings
    ]
    return interval_chart(
        metric,
        [
            Mean(
                name=name,
                value=cell.value,
                interval=cell.interval,
                threshold=cell.threshold,
                passes={"meets": True, "misses": False}.get(assessment.state),
            )
            for name, cell, assessment in cells
        ],
    )


def leaderboard_radar(board: Leaderboard, summary: RunSummary) -> Radar | None:
    """Return the radar chart of a leaderboard with at least two metrics; None for others."""
    models = [
        (summary.label(line.model), {key: cell.value for key, cell in line.cells.items()})
        for line in board.standings
    ]
    return radar(board.evaluator.metrics, models)
