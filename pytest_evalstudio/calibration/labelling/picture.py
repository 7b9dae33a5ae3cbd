"""Picture of a calibration: the curve, people's labels as dots, and the conformal set at each score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from pytest_evalstudio.calibration.apply.conformal import conformal_set
from pytest_evalstudio.calibration.apply.curve import probability
from pytest_evalstudio.calibration.file import Calibration, Conformal
from pytest_evalstudio.calibration.labelling.state import Labelling
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


def picture(stand: Labelling, calibration: Calibration, threshold: float | None) -> str:
    """Draw the curve of the calibration with the labels."""
    single = len(calibration.metrics) == 1
    at_random = stand.at_random
    answers = {identity[1:]: answer for identity, answer in stand.population.scores.answers.items()}
    dots = []
    for case in stand.cases:
        good = stand.is_good(case.identity)
        if good is not None:
            answer = answers.get(case.identity)
            values = [] if answer is None else [answer.score(key) for key in calibration.keys]
            present = [value for value in values if value is not None]
            if not present or len(present) < len(values):
                continue
            score = present[0] if single else probability(calibration.curve, present)
            dots.append(Dot(key=case.key, score=score, good=good, for_curve=case.identity not in at_random))
    axis = calibration.keys[0] if single else f"calibrated probability of {', '.join(calibration.keys)}"
    return _calibration_curve(
        f"Calibration of {' and '.join(calibration.keys)} by {len(dots)} labels",
        axis=axis,
        curve=(lambda score: probability(calibration.curve, [score])) if single else (lambda score: score),
        dots=sorted(dots, key=lambda dot: (dot.score, dot.key)),
        threshold=threshold,
        cut=calibration.cut,
        conformal=calibration.conformal,
    )


def _calibration_curve(
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
    counts = f"{sum(dot.good for dot in dots)} good and {sum(not dot.good for dot in dots)} bad answers"
    limit = "no threshold" if threshold is None else f"threshold {threshold:.3g}"
    bad_limit, good_limit = conformal.limits
    canvas = Canvas(
        title,
        width=WIDTH,
        height=HEIGHT,
        description=(
            f"{counts}; {limit}; conformal quantiles {good_limit:.3g} of good and {bad_limit:.3g} of bad"
            " answers for"
            f" alpha = {conformal.alpha:g}."
        ),
    )
    for labels, points in groupby(
        zip(grid, probabilities, strict=True), key=lambda point: conformal_set(conformal, point[1]).labels
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
        [(x(score), y(likelihood)) for score, likelihood in zip(grid, probabilities, strict=True)],
        stroke=COLOURS[0],
        width=2.5,
    )
    for number, dot in enumerate(dots):
        shift = (number % _ROWS - (_ROWS - 1) / 2) * 6
        colour = GOOD if dot.good else BAD
        title = f"{dot.key}: {dot.score:.3g}, {'good' if dot.good else 'bad'}"
        fill, stroke = (GROUND, colour) if dot.for_curve else (colour, GROUND)
        canvas.circle(x(dot.score), y(float(dot.good)) + shift, 4.5, fill=fill, stroke=stroke, title=title)
    _legend(canvas, {conformal_set(conformal, likelihood).labels for likelihood in probabilities}, conformal)
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
