"""Pictures of a history."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.analysis.comparison.history import History, Point, Series
from pytest_evalstudio.plots.lines import MAX_LINES, LinePoint, PlotLine, line_chart

_TITLES = {"pass_rate": "Pass rate", "cost_usd": "Cost per answer, USD", "duration_s": "Seconds per answer"}


def pictures(content: History) -> dict[str, str]:
    """Return an SVG picture per figure with a line per model: pass rate, cost, seconds, then metrics."""
    by_figure: dict[str, list[Series]] = {}
    models = drawn_models(content)
    for series in (*content.operations, *content.series):
        if series.model in models:
            by_figure.setdefault(series.name, []).append(series)
    days = [run.created[:10] for run in content.runs]
    is_daily = len(set(days)) == len(days)
    runs = days if is_daily else [run.created[5:16].replace("T", " ") for run in content.runs]
    return {
        name: line_chart(
            _TITLES.get(name, name),
            runs,
            [PlotLine(each.model, list(map(_point, each.points))) for each in series],
        )
        for name, series in by_figure.items()
    }


def models_of(content: History) -> list[str]:
    """Return the models of a history, in the order of its runs."""
    return list(dict.fromkeys(series.model for series in (*content.operations, *content.series)))


def drawn_models(content: History) -> Sequence[str]:
    """Return the models that a chart has colours for: those with the lowest pass rates of the last run."""
    models = models_of(content)
    if len(models) <= MAX_LINES:
        return models
    last = {series.model: series.points[-1] for series in content.operations if series.metric == "pass_rate"}

    def pass_rate(model: str) -> float:
        point = last.get(model)
        # Above any rate: a model without a result in the last run comes last.
        return 2.0 if point is None else point.mean

    return sorted(models, key=pass_rate)[:MAX_LINES]


def _point(point: Point | None) -> LinePoint | None:
    return LinePoint(point.mean, point.low, point.high) if point is not None else None
