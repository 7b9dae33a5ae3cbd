"""Scores under attack beside those of ordinary questions: a panel of cumulative shares for each metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_evalstudio.mrm.steps.robustness_adversarial.method import ALL, Measure
from pytest_evalstudio.plots.axes import Scale, axes
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, INK, QUIET
from pytest_evalstudio.plots.text import fitted

WIDTH, PANEL, LINE = 720, 200, 22
LEFT, GAP = 60, 70
PLOT = 380
"""Pixels of a panel's axes; the legend stands beside them."""
_BASELINE = "ordinary questions"


def attacks_picture(title: str, measures: Sequence[Measure], found: Mapping[str, Any]) -> str:
    """The cumulative share of scores by attack, dark and thick for ordinary questions of the attacked kinds;
    a curve above that is of lower scores.

    Args:
        found: as `adversarial.compare` returns it.
    """
    rows = {(one["metric"], one["generator"]): one for one in found["comparisons"]}
    heights = [max(PANEL, LINE * (len(measure.attacks) + 2)) for measure in measures]
    canvas = Canvas(
        title, width=WIDTH, height=20 + sum(height + GAP for height in heights), description=_described(found)
    )
    top = 30.0
    for measure, height in zip(measures, heights, strict=True):
        _panel(canvas, measure, rows, top, height)
        top += height + GAP
    return canvas.finish()


def _panel(
    canvas: Canvas,
    measure: Measure,
    rows: Mapping[tuple[str, str], Mapping[str, Any]],
    top: float,
    height: float,
) -> None:
    kinds = {kind for own in measure.attacks.values() for kind, _ in own}
    baseline = [score for kind, score in measure.baseline if kind in kinds] or [
        score for _, score in measure.baseline
    ]
    attacks = {name: [score for _, score in own] for name, own in measure.attacks.items()}
    every = [*baseline, *(score for own in attacks.values() for score in own)]
    low, high = (min(0.0, *every), max(1.0, *every)) if every else (0.0, 1.0)
    x, y = Scale(low, high, LEFT, LEFT + PLOT), Scale(0, 1, top + height, top)
    better = next(
        (one["better"] for (metric, _), one in rows.items() if metric == measure.name), measure.better
    )
    canvas.text(
        LEFT, top - 10, fitted(f"{measure.name} ({better} is better)", WIDTH - LEFT - 12), classes="b"
    )
    axes(canvas, x, y, y_name="share of cases")
    curves = [(_BASELINE, baseline, INK, 3.0)]
    curves += [(name, own, COLOURS[at % len(COLOURS)], 1.8) for at, (name, own) in enumerate(attacks.items())]
    level = top + 12
    for name, scores, colour, width in curves:
        if scores:
            canvas.path(
                _steps(scores, x, y), stroke=colour, width=width, title=f"{name}: {len(scores)} cases"
            )
        row = rows.get((measure.name, name))
        canvas.line(LEFT + PLOT + 18, level - 4, LEFT + PLOT + 34, level - 4, stroke=colour, width=width)
        said = f"{name} ({len(scores)})" + (" worse" if row and row["worse"] else "")
        short = fitted(said, WIDTH - LEFT - PLOT - 46)
        canvas.text(
            LEFT + PLOT + 40,
            level,
            short,
            classes="b" if row and row["worse"] else "",
            title=said if short != said else "",
        )
        level += LINE
    canvas.text(LEFT + PLOT, top + height + 36, "score", anchor="end", classes="q", fill=QUIET)


def _steps(scores: Sequence[float], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """The corners of a cumulative share, from the left edge to the right one."""
    ordered = sorted(scores)
    corners = [(x(x.low), y(0))]
    for number, score in enumerate(ordered, 1):
        corners += [(x(score), corners[-1][1]), (x(score), y(number / len(ordered)))]
    return [*corners, (x(x.high), y(1))]


def _described(found: Mapping[str, Any]) -> str:
    parts = []
    for one in found["comparisons"]:
        if one["generator"] == ALL or one["mean"] is None or one["baseline"]["mean"] is None:
            continue
        chance = one["chance_of_worse"]
        told = (
            f", chance of a worse score {chance['value']:.0%}"
            if chance and math.isfinite(chance["value"])
            else ""
        )
        parts.append(
            f"{one['metric']}, {one['generator']}: mean {one['mean']:.3g} against"
            f" {one['baseline']['mean']:.3g}{told}"
        )
    return "; ".join(parts)
