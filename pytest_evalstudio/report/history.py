"""Pictures of a history."""

from __future__ import annotations

from pytest_evalstudio.comparison.history import History, Point, Series
from pytest_evalstudio.plots.lines import LinePoint, PlotLine, line_chart


def pictures(content: History) -> dict[str, str]:
    """Return an SVG picture per metric, with a line per model, by evaluator and metric."""
    by_metric: dict[str, list[Series]] = {}
    for series in content.series:
        by_metric.setdefault(f"{series.evaluator}.{series.metric}", []).append(series)
    runs = [f"{run.created[:10]} {run.commit[:7]}".strip() for run in content.runs]
    return {
        name: line_chart(
            name, runs, [PlotLine(each.model, list(map(_point, each.points))) for each in series]
        )
        for name, series in by_metric.items()
    }


def _point(point: Point | None) -> LinePoint | None:
    return LinePoint(point.mean, point.low, point.high) if point is not None else None
