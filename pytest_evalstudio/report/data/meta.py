"""Metadata for the scripts before any case is loaded: names, metrics, means, problem counts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.causes import is_safety
from pytest_evalstudio.analysis.leaderboards import Leaderboard, Standing
from pytest_evalstudio.analysis.summary.assessment import assess
from pytest_evalstudio.analysis.summary.results import RunSummary
from pytest_evalstudio.core.outcomes import SEVERITIES, Metric
from pytest_evalstudio.record.schema import VERDICTS
from pytest_evalstudio.report.data.columns import STATES, Columns, Integers
from pytest_evalstudio.report.standards import methods_of, standards_of


def describe(
    analysis: Analysis, summary: RunSummary, columns: Columns, selected_rows: Integers
) -> dict[str, object]:
    """Describe the run for the page's scripts.

    Args:
        selected_rows: the items that the page holds, in their order.
    """
    keys = list(columns.models)
    return {
        "items": len(columns),
        "shown": len(selected_rows),
        "files": list(columns.files),
        "models": [
            {"key": key, "name": analysis.run.model_name(key), "label": summary.label(key)} for key in keys
        ],
        "verdicts": list(VERDICTS),
        "states": list(STATES),
        "severities": list(SEVERITIES),
        "evaluators": [
            _evaluator(board, number, keys, columns, selected_rows)
            for number, board in enumerate(analysis.leaderboards.values(), 1)
        ],
    }


def _evaluator(
    board: Leaderboard, number: int, models: list[str], columns: Columns, selected_rows: Integers
) -> dict[str, object]:
    info = board.evaluator
    flipped = np.isin(selected_rows, np.array(columns.judgements[info.id].flipped, dtype=np.int64))
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
                "models": [_cell(board, lines.get(key), metric) for key in models],
            }
            for metric in info.metrics
        ],
        "limits": [list(limits) for limits in columns.judgements[info.id].limit_sets],
        "flipped": np.flatnonzero(flipped).tolist(),
        "safety": is_safety(info),
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


def _cell(board: Leaderboard, line: Standing | None, metric: Metric) -> Mapping[str, object] | None:
    """Return a model's figure, None where nothing was scored."""
    verdict = assess(board, line, metric)
    if line is None or verdict.state == "not_scored":
        return None
    cell = line.cells[metric.key]
    return {
        "value": verdict.value if verdict.worst_case else cell.value,
        "mean": cell.value,
        "interval": None if verdict.worst_case else cell.interval,
        "threshold": verdict.threshold,
        "n": cell.n,
        "state": verdict.state,
        "failing": verdict.failing,
        "judged": verdict.judged,
    }
