"""Cumulative shares of scores under attack and of ordinary questions, one panel per metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.contrib.validation.methods.attacks.method import ALL, Measure
from pytest_evalstudio.contrib.validation.methods.attacks.results import AttackComparison
from pytest_evalstudio.plots.axes import Scale, axes
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import COLOURS, INK, QUIET
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.text.figures import figure, percent

WIDTH, PANEL, LINE = 720, 200, 22
LEFT, GAP = 60, 70
PLOT = 380
"""Pixels of a panel's axes; the legend is to their right."""
_BASELINE = "ordinary questions"


def attacks_picture(title: str, measures: Sequence[Measure], comparisons: Sequence[AttackComparison]) -> str:
    """Draw the cumulative share of scores by attack as SVG.

    The dark, thick curve is of ordinary questions of the attacked kinds; a curve above it has lower scores.
    """
    rows = {(comparison.metric, comparison.generator): comparison for comparison in comparisons}
    heights = [max(PANEL, LINE * (len(measure.attacks) + 2)) for measure in measures]
    canvas = Canvas(
        title,
        width=WIDTH,
        height=20 + sum(height + GAP for height in heights),
        description=_description(comparisons),
    )
    top = 30.0
    for measure, height in zip(measures, heights, strict=True):
        _panel(canvas, measure, rows, top, height)
        top += height + GAP
    return canvas.finish()


def _panel(
    canvas: Canvas,
    measure: Measure,
    rows: Mapping[tuple[str, str], AttackComparison],
    top: float,
    height: float,
) -> None:
    kinds = {kind for scores in measure.attacks.values() for kind, _ in scores}
    baseline = [score for kind, score in measure.baseline if kind in kinds] or [
        score for _, score in measure.baseline
    ]
    attacks = {name: [score for _, score in scores] for name, scores in measure.attacks.items()}
    every = [0.0, 1.0, *baseline, *(score for scores in attacks.values() for score in scores)]
    low, high = min(every), max(every)
    x, y = Scale(low, high, LEFT, LEFT + PLOT), Scale(0, 1, top + height, top)
    head = f"{measure.name} ({measure.better} is better)"
    canvas.text(LEFT, top - 10, fitted(head, WIDTH - LEFT - 12), classes="b")
    axes(canvas, x, y, y_name="share of cases")
    curves = [(_BASELINE, baseline, INK, 3.0)]
    curves += [
        (name, scores, COLOURS[number % len(COLOURS)], 1.8)
        for number, (name, scores) in enumerate(attacks.items())
    ]
    level = top + 12
    for name, scores, colour, width in curves:
        if scores:
            canvas.path(
                _steps(scores, x, y), stroke=colour, width=width, title=f"{name}: {len(scores)} cases"
            )
        row = rows.get((measure.name, name))
        canvas.line(LEFT + PLOT + 18, level - 4, LEFT + PLOT + 34, level - 4, stroke=colour, width=width)
        is_worse = row is not None and row.worse
        label = f"{name} ({len(scores)})" + (" worse" if is_worse else "")
        short = fitted(label, WIDTH - LEFT - PLOT - 46)
        canvas.text(
            LEFT + PLOT + 40,
            level,
            short,
            classes="b" if is_worse else "",
            title=label if short != label else "",
        )
        level += LINE
    canvas.text(LEFT + PLOT, top + height + 36, "score", anchor="end", classes="q", fill=QUIET)


def _steps(scores: Sequence[float], x: Scale, y: Scale) -> list[tuple[float, float]]:
    """Return the corners of a cumulative share, from the left edge to the right edge."""
    ordered = sorted(scores)
    corners = [(x(x.low), y(0))]
    for number, score in enumerate(ordered, 1):
        corners += [(x(score), corners[-1][1]), (x(score), y(number / len(ordered)))]
    return [*corners, (x(x.high), y(1))]


def _description(comparisons: Sequence[AttackComparison]) -> str:
    parts = []
    for comparison in comparisons:
        if comparison.generator == ALL or comparison.mean is None or comparison.baseline.mean is None:
            continue
        chance = comparison.chance_of_worse
        probability = f", chance of a worse score {percent(chance.value)}" if chance is not None else ""
        parts.append(
            f"{comparison.metric}, {comparison.generator}: mean {figure(comparison.mean)} against"
            f" {figure(comparison.baseline.mean)}{probability}"
        )
    return "; ".join(parts)
