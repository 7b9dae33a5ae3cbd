"""Geometry of radar charts: one spoke per metric, the best value outside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Metric

MIN_METRICS = 2
MAX_MODELS = 6
RADIUS = 120.0
"""Radius of the outermost ring, in the chart's own units."""


class Spoke(Struct, frozen=True):
    """A metric: the end of its line, the position of its name, and the position of its threshold."""

    name: str
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str
    threshold: tuple[float, float] | None


class Shape(Struct, frozen=True):
    """A model: its corners, None where a metric has no value."""

    name: str
    corners: tuple[tuple[float, float] | None, ...]

    @property
    def path(self) -> str:
        """Return the outline for SVG; metrics without a value are left out."""
        points = [f"{x},{y}" for x, y in filter(None, self.corners)]
        return f"M{'L'.join(points)}Z" if points else ""


class Radar(Struct, frozen=True):
    """Several models over several metrics.

    Attributes:
        left_out: number of models that are not shown.
    """

    spokes: tuple[Spoke, ...]
    shapes: tuple[Shape, ...]
    left_out: int


def radar(
    metrics: Sequence[Metric], models: Sequence[tuple[str, Mapping[str, float | None]]]
) -> Radar | None:
    """Return the radar chart of models over at least two metrics with a scale; None for fewer.

    Args:
        metrics: one spoke each, in order; those without a scale are left out.
        models: name, and value by metric key; the first six are shown.
    """
    spokes = [metric for metric in metrics if scale(metric) is not None]
    shown = models[:MAX_MODELS]
    if len(spokes) < MIN_METRICS or not shown:
        return None
    angles = [2 * math.pi * position / len(spokes) for position in range(len(spokes))]
    placed = list(zip(spokes, angles, strict=True))
    return Radar(
        spokes=tuple(_spoke(metric, angle) for metric, angle in placed),
        shapes=tuple(
            Shape(name, tuple(_corner(metric, values.get(metric.key), angle) for metric, angle in placed))
            for name, values in shown
        ),
        left_out=len(models) - len(shown),
    )


def scale(metric: Metric) -> tuple[float, float] | None:
    """Return the worst and the best value of a metric; None where its range has no such end.

    Where the range has no worst end, the threshold is the middle of the scale.
    """
    best = metric.range[1] if metric.better == "higher" else metric.range[0]
    worst = metric.worst if math.isfinite(metric.worst) else 2 * metric.threshold - best
    return (worst, best) if math.isfinite(best) and math.isfinite(worst) and best != worst else None


def goodness(metric: Metric, value: float | None) -> float | None:
    """Return the position of a value between a metric's worst (0.0) and best (1.0); None without a scale."""
    ends = scale(metric)
    if ends is None or value is None or not math.isfinite(value):
        return None
    worst, best = ends
    return min(1.0, max(0.0, (value - worst) / (best - worst)))


def _spoke(metric: Metric, angle: float) -> Spoke:
    x, y = _point(1.0, angle)
    label_x, label_y = _point(1.1, angle)
    # Not x == 0: the sine of π is not exactly 0.
    anchor = "start" if x > 0 else "end"
    if abs(x) < 1:
        anchor = "middle"
    return Spoke(metric.name, x, y, label_x, label_y, anchor, _corner(metric, metric.threshold, angle))


def _corner(metric: Metric, value: float | None, angle: float) -> tuple[float, float] | None:
    share = goodness(metric, value)
    return None if share is None else _point(share, angle)


def _point(share: float, angle: float) -> tuple[float, float]:
    return round(RADIUS * share * math.sin(angle), 1), round(-RADIUS * share * math.cos(angle), 1)
