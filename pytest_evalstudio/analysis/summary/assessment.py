"""Assessment of a model on a metric: the one decision that table, heatmap, eye and summary share."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

import numpy as np
from msgspec import Struct

from pytest_evalstudio.analysis.causes import is_safety
from pytest_evalstudio.analysis.leaderboards import Leaderboard, Standing
from pytest_evalstudio.core.outcomes import Metric

State = Literal["meets", "misses", "not_scored", "no_threshold"]
RARE, FREQUENT = 0.02, 0.1
"""Shares of unsafe answers at which the colour of a safety metric deepens; 1 and 8 of 60 must differ."""
STEPS = 3


class Assessment(Struct, frozen=True, kw_only=True):
    """Assessment of a model on a metric.

    Attributes:
        state: "not_scored" without a value, never "meets".
        value: the mean, or the worst case of a safety metric; None where nothing was scored.
        failing, judged: answers that miss the threshold, of all judged ones; also where the mean meets it.
        worst_case: whether the worst case decides instead of the mean.
        distance: from -1 (the worst value) over 0 (the threshold) to 1 (the best value); None without a
            threshold or a value.
    """

    state: State
    value: float | None
    threshold: float
    failing: int = 0
    judged: int = 0
    worst_case: bool = False
    distance: float | None = None

    @property
    def heat(self) -> str:
        """Return the class of a cell's colour: h0 to h2 below the threshold, h4 to h6 above it."""
        if self.distance is None:
            return ""
        depth = max(1, math.ceil(STEPS * abs(self.distance)))
        step = STEPS - depth if self.state == "misses" else STEPS + depth
        return f"h{step}"

    @property
    def is_partial(self) -> bool:
        """Return True if answers miss the threshold although the mean meets it."""
        return self.state == "meets" and self.failing > 0


def assess(board: Leaderboard, line: Standing | None, metric: Metric) -> Assessment:
    """Assess a model on a metric.

    Args:
        board: of the evaluator.
        line: of the model, None where the evaluator judged none of its answers.
        metric: of the evaluator.
    """
    cell = line.cells.get(metric.key) if line is not None else None
    if line is None or cell is None or cell.value is None:
        return Assessment(state="not_scored", value=None, threshold=metric.threshold)
    info = board.evaluator
    if metric not in info.judged_metrics or not math.isfinite(cell.threshold):
        return Assessment(state="no_threshold", value=cell.value, threshold=cell.threshold)
    if is_safety(info) and metric.primary:
        return _worst_case(board, line, metric, cell.threshold)
    passes = metric.passes(cell.value, cell.threshold)
    return Assessment(
        state="meets" if passes else "misses",
        value=cell.value,
        threshold=cell.threshold,
        failing=line.judged - line.passed if metric.primary else 0,
        judged=line.judged if metric.primary else 0,
        distance=distance(metric, cell.value, cell.threshold),
    )


def assessments(board: Leaderboard) -> Iterator[tuple[Standing, Assessment]]:
    """Yield the assessment of each model on the primary metric, in the order of the leaderboard."""
    for line in board.standings:
        yield line, assess(board, line, board.evaluator.primary)


def distance(metric: Metric, value: float, threshold: float) -> float:
    """Return the signed distance to the threshold, as a share of the way to the end of the range.

    Where the range has no end on that side, the threshold's own size is the way.

    >>> distance(Metric("m", threshold=0.75), 0.375, 0.75)
    -0.5
    >>> distance(Metric("m", better="lower", range=(0, math.inf), threshold=4.0), 5.0, 4.0)
    -0.25
    """
    sign = 1 if metric.better == "higher" else -1
    gap = sign * (value - threshold)
    passes = gap >= 0
    end = metric.range[1] if (metric.better == "higher") == passes else metric.range[0]
    way = abs(end - threshold) if math.isfinite(end) else abs(threshold)
    if not math.isfinite(gap) or way == 0:
        return 1.0 if passes else -1.0
    return max(-1.0, min(1.0, gap / way))


def _rate_distance(rate: float) -> float:
    """Return the distance of a share of unsafe answers, in the steps of the colours."""
    return -(1 + (rate > RARE) + (rate > FREQUENT)) / STEPS


def _worst_case(board: Leaderboard, line: Standing, metric: Metric, threshold: float) -> Assessment:
    values = board.values[line.model][metric.key]
    worst = float(np.min(values) if metric.better == "higher" else np.max(values))
    if line.judged:
        failing, judged = line.judged - line.passed, line.judged
    else:
        missed = values < threshold if metric.better == "higher" else values > threshold
        failing, judged = int(np.count_nonzero(missed)), int(values.size)
    return Assessment(
        state="misses" if failing else "meets",
        value=worst,
        threshold=threshold,
        failing=failing,
        judged=judged,
        worst_case=True,
        distance=_rate_distance(failing / judged) if failing else distance(metric, worst, threshold),
    )
