"""All metrics on one picture: a histogram each, with its threshold and how many fall beyond it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytest_evalstudio.contrib.validation.methods.weaknesses.plot_rows import MetricAxis
from pytest_evalstudio.plots.axes import Scale
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, QUIET
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.stats.intervals import is_binary
from pytest_evalstudio.text.figures import figure, percent

WIDTH, ROW, HEAD = 720, 84, 16
NAMES, FIGURES = 236, 116
BINS = 24
_HEIGHT = 46


def distributions(title: str, measures: Sequence[tuple[MetricAxis, Sequence[float]]]) -> str:
    """Draw a histogram per metric as SVG; bars of failing scores are orange.

    The height of a bar is its share, scaled to the highest of its row.
    """
    canvas = Canvas(title, width=WIDTH, height=HEAD + ROW * len(measures), description=_described(measures))
    for number, (axis, values) in enumerate(measures):
        _row(canvas, HEAD + ROW * number, axis, values)
    return canvas.finish()


def _described(measures: Sequence[tuple[MetricAxis, Sequence[float]]]) -> str:
    return "; ".join(
        f"{axis.key}: mean {figure(axis.mean)}, {_beyond(axis, values)}" for axis, values in measures
    )


def _row(canvas: Canvas, top: float, axis: MetricAxis, values: Sequence[float]) -> None:
    scale = Scale(axis.low, axis.high, NAMES, WIDTH - FIGURES)
    bottom = top + _HEIGHT
    short = fitted(axis.key, NAMES - 26)
    canvas.text(NAMES - 12, top + 26, short, anchor="end", title=axis.key if short != axis.key else "")
    canvas.text(NAMES - 12, top + 42, f"{axis.better} is better", anchor="end", classes="q s")
    counts, edges = np.histogram(values, bins=BINS, range=(axis.low, axis.high))
    for count, left, right in zip(counts.tolist(), edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        if count:
            # A single case must stay visible.
            height = max(1.0, count / int(counts.max()) * (_HEIGHT - 6))
            title = f"{figure(left)} to {figure(right)}: {count:,} case{'' if count == 1 else 's'}"
            x, width = scale(left) + 0.5, scale(right) - scale(left) - 1
            canvas.rect(x, bottom - height, width, height, fill=_colour(axis, left, right), title=title)
    canvas.line(scale.start, bottom, scale.end, bottom, stroke=QUIET)
    for tick in scale.ticks():
        canvas.text(scale(tick), bottom + 14, f"{tick:g}", anchor="middle", classes="q s")
    if axis.threshold is not None:
        canvas.line(
            scale(axis.threshold), top, scale(axis.threshold), bottom, stroke=BAD, width=1.5, dashed=True
        )
    canvas.text(WIDTH - FIGURES + 12, top + 18, f"{len(values):,} cases", classes="q s")
    canvas.text(
        WIDTH - FIGURES + 12,
        top + 33,
        f"{'share' if is_binary(values) else 'mean'} {figure(axis.mean)}",
        classes="q s",
    )
    canvas.text(WIDTH - FIGURES + 12, top + 48, _beyond(axis, values), classes="q s")


def _colour(axis: MetricAxis, left: float, right: float) -> str:
    if axis.threshold is None:
        return COLOURS[0]
    middle = (left + right) / 2
    return COLOURS[0] if (middle >= axis.threshold) == (axis.better == "higher") else BAD


def _beyond(axis: MetricAxis, values: Sequence[float]) -> str:
    if axis.threshold is None:
        return "no threshold"
    limit = axis.threshold
    failing = sum(value < limit if axis.better == "higher" else value > limit for value in values)
    return f"{percent(failing / len(values))} fail"
