"""Metadata for the scripts before any case is loaded: names, metrics, means, problem counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_evalstudio.core.outcomes import SEVERITIES, Metric
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo
from pytest_evalstudio.record.schema import VERDICTS
from pytest_evalstudio.report.data.columns import STATES, Columns
from pytest_evalstudio.report.standards import methods_of, standards_of

ANY = -1
"""Place of a metric or model where a problem is about none in particular."""


def describe(analysis: Analysis, columns: Columns, *, shown: int) -> dict[str, object]:
    """Describe the run for the page's scripts.

    Args:
        shown: how many items the page holds.
    """
    keys = list(columns.models)
    return {
        "items": len(columns),
        "shown": shown,
        "files": list(columns.files),
        "models": [{"key": key, "name": analysis.run.model_name(key)} for key in keys],
        "verdicts": list(VERDICTS),
        "states": list(STATES),
        "severities": list(SEVERITIES),
        "evaluators": [
            _evaluator(board, number, keys, columns, analysis.problems)
            for number, board in enumerate(analysis.leaderboards.values(), 1)
        ],
    }


def _evaluator(
    board: Leaderboard, number: int, models: list[str], columns: Columns, problems: Iterable[Problem]
) -> dict[str, object]:
    info = board.evaluator
    lines = {line.model: line for line in board.standings}
    return {
        "id": info.id,
        "name": info.name,
        "anchor": f"evaluator-{number}",
        "domain": info.domain or "other",
        "standards": [{"standard": part.standard, "name": part.name} for part in standards_of(info.keywords)],
        "methods": methods_of(info.keywords, info.method),
        "boolean": info.boolean,
        "metrics": [
            {
                **_metric(
                    metric, colours=metric is info.sentence_metric, judged=metric in info.judged_metrics
                ),
                "models": [_cell(lines[key].cells[metric.key]) if key in lines else None for key in models],
            }
            for metric in info.metrics
        ],
        "limits": [list(limits) for limits in columns.judgements[info.id].limit_sets],
        "problems": _places(info, models, problems),
    }


def _metric(metric: Metric, *, colours: bool, judged: bool) -> dict[str, object]:
    return {
        "key": metric.key,
        "name": metric.name,
        "description": metric.description,
        "better": metric.better,
        "range": list(metric.range),
        "threshold": metric.threshold,
        "primary": metric.primary,
        "colours": colours,
        "judged": judged,
    }


def _cell(cell: Any) -> Mapping[str, object] | None:
    return (
        None
        if cell.value is None
        else {"value": cell.value, "threshold": cell.threshold, "n": cell.n, "passes": cell.passes}
    )


def _places(info: EvaluatorInfo, models: list[str], problems: Iterable[Problem]) -> list[list[int]]:
    """Count the problems per metric, model and severity: [metric, model, severity, count] by index."""
    metrics = {metric.key: place for place, metric in enumerate(info.metrics)}
    known = {key: place for place, key in enumerate(models)}
    counts: Counter[tuple[int, int, int]] = Counter()
    for problem in problems:
        about = problem.attributes
        if about.get("evaluator") == info.id:
            metric = metrics.get(str(about.get("metric")), ANY)
            counts[metric, known.get(str(about.get("model")), ANY), SEVERITIES.index(problem.severity)] += 1
    return [[*place, count] for place, count in sorted(counts.items())]
