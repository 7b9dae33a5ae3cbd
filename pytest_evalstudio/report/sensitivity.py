"""Geometry of the sensitivity curves: each model's flips by the intensity of a perturbator."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct

from pytest_evalstudio.analysis.flip_rates import Sensitivity
from pytest_evalstudio.core.plugins.perturbator import INTENSITIES

WIDTH, HEIGHT = 420.0, 200.0
"""Size of the plotting area in the chart's own units."""
MODELS = 6
"""Curves of one chart; the table has those of all models."""
_STEPS = (0.1, 0.2, 0.5, 1.0)


class CurvePoint(Struct, frozen=True):
    """Point of a curve: the coordinates of one intensity, and the ends of its interval."""

    x: float
    y: float
    low: float
    high: float
    title: str


class Curve(Struct, frozen=True):
    """Curve of one model.

    Attributes:
        path: the points as an SVG path.
    """

    name: str
    path: str
    marks: tuple[CurvePoint, ...]


class Chart(Struct, frozen=True):
    """Chart of one perturbator with the curves of all models.

    Attributes:
        levels: positions of the intensities on the axis, with their names.
        ticks: positions of shares on the other axis, with the shares.
        noise: the height of the highest flip rate of unchanged copies, None without copies.
        left_out: models beyond the first.
    """

    title: str
    levels: tuple[tuple[float, str], ...]
    ticks: tuple[tuple[float, float], ...]
    curves: tuple[Curve, ...]
    noise: float | None
    left_out: int
    meaning_kept: bool


def charts(sensitivities: Sequence[Sensitivity]) -> list[Chart]:
    """Return a chart per perturbator that was run at two or more intensities."""
    # The analysis sorts them by perturbator, as groupby needs it.
    grouped = [list(curves) for _, curves in groupby(sensitivities, key=lambda curve: curve.perturbator)]
    return [_chart(curves) for curves in grouped if any(len(curve.points) > 1 for curve in curves)]


def _chart(sensitivities: Sequence[Sensitivity]) -> Chart:
    values = [
        level
        for level in INTENSITIES
        if any(point.intensity == level for curve in sensitivities for point in curve.points)
    ]
    x_of: dict[str, float] = {
        level: round(WIDTH * (number + 0.5) / len(values), 2) for number, level in enumerate(values)
    }
    shown = sensitivities[:MODELS]
    top = max(point.interval[1] for curve in shown for point in curve.points)
    top = next((step for step in _STEPS if step >= top), 1.0)
    noises = [curve.noise for curve in shown if curve.noise is not None]
    return Chart(
        title=sensitivities[0].perturbator,
        levels=tuple((x, level.lower().replace("_", " ")) for level, x in x_of.items()),
        ticks=tuple((_height(top * part / 4, top), top * part / 4) for part in range(5)),
        curves=tuple(_curve(curve, x_of, top, number, len(shown)) for number, curve in enumerate(shown)),
        noise=_height(min(top, max(noises)), top) if noises else None,
        left_out=len(sensitivities) - len(shown),
        meaning_kept=sensitivities[0].meaning_kept,
    )


def _curve(sensitivity: Sensitivity, x_of: dict[str, float], top: float, number: int, of: int) -> Curve:
    aside = 6.0 * (number - (of - 1) / 2)  # models are drawn side by side, so that no interval covers another
    marks = tuple(
        CurvePoint(
            x=round(x_of[point.intensity] + aside, 2),
            y=_height(point.rate, top),
            low=_height(point.interval[0], top),
            high=_height(point.interval[1], top),
            title=f"{sensitivity.model_name}, {point.intensity.lower()}: {point.flips} of"
            f" {point.compared} flipped",
        )
        for point in sensitivity.points
    )
    return Curve(sensitivity.model_name, " ".join(f"{mark.x},{mark.y}" for mark in marks), marks)


def _height(share: float, top: float) -> float:
    return round(HEIGHT * (1 - share / top), 2)
