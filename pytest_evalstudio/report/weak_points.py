"""Weak points of the models: the lowest scores on each metric, with their questions."""

from __future__ import annotations

from msgspec import Struct

from pytest_evalstudio.record.schema import EvaluatorEntry, Run
from pytest_evalstudio.report.data.columns import Columns

SHOWN = 5


class WeakPoint(Struct, frozen=True):
    """Answer with a low score."""

    question: str
    key: str
    nodeid: str
    model: str
    score: float
    passes: bool | None


def weak_points(columns: Columns, run: Run, info: EvaluatorEntry) -> list[tuple[str, list[WeakPoint]]]:
    """Return, for each metric with a threshold of its own, its name and the worst answers.

    The worst answer comes first; metrics with perfect scores only are left out.
    """
    keys = list(columns.models)
    by_metric = []
    for index, metric in enumerate(info.metrics):
        if metric not in info.judged_metrics and not metric.primary:
            continue
        best = metric.range[1] if metric.better == "higher" else metric.range[0]
        points = []
        for item, score, threshold in columns.lowest(info, index, SHOWN):
            if score == best:  # the worst come first: all further scores are perfect, too
                break
            case, model = columns.line(item)
            passes = metric.passes(score, threshold) if metric in info.judged_metrics else None
            points.append(
                WeakPoint(
                    case.question, case.key, columns.nodeid(item), run.model_name(keys[model]), score, passes
                )
            )
        if points:
            by_metric.append((metric.name, points))
    return by_metric
