"""Geometry of radar charts: one spoke per metric, the best value outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.engine.analysis.leaderboards import Leaderboard

FEWEST_METRICS = 4
MOST_MODELS = 6
RADIUS = 120.0
"""Of the outermost ring, in the chart's own units."""


@dataclass(frozen=True, slots=True)
class Spoke:
    """One metric: the end of its line, where its name stands, and where its threshold is."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str
    threshold: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Shape:
    """One model: its corners, None where a metric has no value."""

    name: str
    corners: tuple[tuple[float, float] | None, ...]

    @property
    def path(self) -> str:
        """Its outline for SVG; metrics without a value are left out."""
        known = [f"{x},{y}" for x, y in filter(None, self.corners)]
        return f"M{'L'.join(known)}Z" if known else ""


@dataclass(frozen=True, slots=True)
class Radar:
    """A leaderboard with all its metrics at once.

    Attributes:
        left_out: models that are not shown.
    """

    spokes: tuple[Spoke, ...]
    shapes: tuple[Shape, ...]
    left_out: int


def radar(board: Leaderboard) -> Radar | None:
    """The radar chart of a leaderboard with at least four metrics of a known scale; None for others."""
    metrics = [metric for metric in board.evaluator.metrics if scale(metric) is not None]
    shown = board.standings[:MOST_MODELS]
    if len(metrics) < FEWEST_METRICS or not shown:
        return None
    angles = [2 * math.pi * place / len(metrics) for place in range(len(metrics))]
    return Radar(
        spokes=tuple(_spoke(metric, angle) for metric, angle in zip(metrics, angles, strict=True)),
        shapes=tuple(
            Shape(
                line.name,
                tuple(
                    _corner(metric, line.cells[metric.key].value, angle)
                    for metric, angle in zip(metrics, angles, strict=True)
                ),
            )
            for line in shown
        ),
        left_out=len(board.standings) - len(shown),
    )


def scale(metric: Metric) -> tuple[float, float] | None:
    """The worst and the best value of a metric, None where its range has no such end.

    Where the range has no worst end, the threshold is the middle of the scale.
    """
    best = metric.range[1] if metric.better == "higher" else metric.range[0]
    worst = metric.worst if math.isfinite(metric.worst) else 2 * metric.threshold - best
    return (worst, best) if math.isfinite(best) and math.isfinite(worst) and best != worst else None


def goodness(metric: Metric, value: float | None) -> float | None:
    """Where a value lies between a metric's worst (0.0) and best (1.0); None where no scale can be given."""
    ends = scale(metric)
    if ends is None or value is None or not math.isfinite(value):
        return None
    worst, best = ends
    return min(1.0, max(0.0, (value - worst) / (best - worst)))


def _spoke(metric: Metric, angle: float) -> Spoke:
    x, y = _point(1.0, angle)
    label_x, label_y = _point(1.1, angle)
    anchor = "middle" if abs(x) < 1 else "start" if x > 0 else "end"
    return Spoke(metric.name, x, y, label_x, label_y, anchor, _corner(metric, metric.threshold, angle))


def _corner(metric: Metric, value: float | None, angle: float) -> tuple[float, float] | None:
    share = goodness(metric, value)
    return None if share is None else _point(share, angle)


def _point(share: float, angle: float) -> tuple[float, float]:
    return round(RADIUS * share * math.sin(angle), 1), round(-RADIUS * share * math.cos(angle), 1)
