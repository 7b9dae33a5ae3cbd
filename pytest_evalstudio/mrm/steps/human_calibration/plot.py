"""A calibration as a picture: the curve, people's labels as dots, and where the conformal set says what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_evalstudio.engine.scoring.calibration import conformal_set
from pytest_evalstudio.formats.calibration import Conformal
from pytest_evalstudio.plots.axes import Scale, axes, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, GOOD, GROUND, INK, QUIET

WIDTH, HEIGHT = 720, 550
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 28, 380
_POINTS = 600
_ROWS = 5
BANDS = {
    (1,): ("#cfeadf", "good"),
    (0,): ("#f8dcc8", "bad"),
    (0, 1): ("#e3e6ea", "good or bad"),
    (): ("#efe3a6", "neither"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A labelled answer.

    Attributes:
        for_curve: whether the curve was fitted to it, and not the quantile taken of it.
    """

    key: str
    score: float
    good: bool
    for_curve: bool


def calibration_curve(
    title: str,
    *,
    axis: str,
    curve: Callable[[float], float],
    dots: Sequence[Dot],
    threshold: float | None,
    cut: float,
    conformal: Conformal,
) -> str:
    """SVG of probabilities over scores.

    Args:
        dots: labelled answers.
        title: of the picture.
        axis: name of the score.
        curve: from a score to the probability that people call the answer good.
        threshold: of the score, None where no score divides good from bad.
        cut: probability from which on answers pass.
        conformal: prediction sets of the calibration.
    """
    scores = [dot.score for dot in dots]
    low, high = min(scores), max(scores)
    margin = (high - low) * 0.03
    x = Scale(low - margin, high + margin, LEFT, WIDTH - RIGHT)
    y = Scale(-0.12, 1.12, BOTTOM, TOP)
    grid = [x.low + (x.high - x.low) * number / _POINTS for number in range(_POINTS + 1)]
    probabilities = [curve(score) for score in grid]
    said = f"{sum(dot.good for dot in dots)} good and {sum(not dot.good for dot in dots)} bad answers"
    limit = "no threshold" if threshold is None else f"threshold {threshold:.3g}"
    bad_limit, good_limit = conformal.limits
    canvas = Canvas(
        title,
        width=WIDTH,
        height=HEIGHT,
        description=(
            f"{said}; {limit}; conformal quantiles {good_limit:.3g} of good and {bad_limit:.3g} of bad"
            " answers for"
            f" alpha = {conformal.alpha:g}."
        ),
    )
    for labels, points in groupby(
        zip(grid, probabilities, strict=True), key=lambda point: conformal_set(conformal, point[1])
    ):
        band = [score for score, _ in points]
        left, right = x(band[0]), min(x(band[-1]) + (WIDTH - LEFT - RIGHT) / _POINTS, x.end)
        canvas.rect(
            left,
            TOP,
            right - left,
            BOTTOM - TOP,
            fill=BANDS[labels][0],
            title=f"{band[0]:.3g} to {band[-1]:.3g}: {BANDS[labels][1]}",
        )
    axes(canvas, x, y, x_name=axis, y_name="probability of good", grid=False)
    canvas.line(x.start, y(cut), x.end, y(cut), stroke=QUIET, dashed=True)
    if threshold is not None and x.low <= threshold <= x.high:
        canvas.line(x(threshold), TOP, x(threshold), BOTTOM, stroke=INK, width=1.5, dashed=True)
        canvas.text(x(threshold), TOP - 8, f"threshold {threshold:.3g}", anchor="middle", classes="b s")
    canvas.path(
        [(x(score), y(chance)) for score, chance in zip(grid, probabilities, strict=True)],
        stroke=COLOURS[0],
        width=2.5,
    )
    for number, dot in enumerate(dots):
        shift = (number % _ROWS - (_ROWS - 1) / 2) * 6
        colour = GOOD if dot.good else BAD
        title = f"{dot.key}: {dot.score:.3g}, {'good' if dot.good else 'bad'}"
        fill, stroke = (GROUND, colour) if dot.for_curve else (colour, GROUND)
        canvas.circle(x(dot.score), y(float(dot.good)) + shift, 4.5, fill=fill, stroke=stroke, title=title)
    _legend(canvas, {conformal_set(conformal, chance) for chance in probabilities}, conformal)
    return canvas.finish()


def _legend(canvas: Canvas, sets: set[tuple[int, ...]], conformal: Conformal) -> None:
    marks = [
        (GOOD, "people call the answer good"),
        (BAD, "people call it bad"),
        (COLOURS[0], "probability that they call it good"),
    ]
    after = legend(canvas, LEFT, BOTTOM + 66, marks, width=290)
    canvas.text(LEFT, after, "full dots: answers drawn at random", classes="q s")
    canvas.text(LEFT, after + 16, "rings: answers that the curve is fitted to", classes="q s")
    scope = "good and of bad answers" if conformal.kind == "class" else "all answers"
    title = f"Conformal set, right for {1 - conformal.alpha:.0%} of {scope}"
    canvas.text(LEFT + 330, BOTTOM + 66, title, classes="b s")
    for row, (labels, (colour, name)) in enumerate(
        (labels, band) for labels, band in BANDS.items() if labels in sets
    ):
        at = BOTTOM + 88 + 22 * row
        canvas.rect(LEFT + 330, at - 11, 14, 14, fill=colour, stroke=QUIET)
        is_open = "" if len(labels) == 1 else ": a person should look"
        canvas.text(LEFT + 352, at, f"{name}{is_open}")
