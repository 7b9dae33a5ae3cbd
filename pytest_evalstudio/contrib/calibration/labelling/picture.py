"""Picture of a calibration: the curve, people's labels as dots, and the conformal set at each score."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import groupby

from pytest_evalstudio.contrib.calibration.labelling.cases import LabelledCase
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.plots.axes import Scale, axes, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, COLOURS, GOOD, GROUND, INK, QUIET
from pytest_evalstudio.scoring.calibration.conformal import conformal_set
from pytest_evalstudio.scoring.calibration.curve import probability
from pytest_evalstudio.scoring.calibration.file import Calibration, Conformal
from pytest_evalstudio.text.figures import figure, percent

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


def picture(labelling: Labelling, calibration: Calibration, limit: float | None) -> str:
    """Draw the curve of a calibration with the labels, as SVG.

    Args:
        labelling: the labels.
        calibration: of one metric, or of several in one score.
        limit: threshold of the score; None where no score divides good from bad.
    """
    dots = _dots(labelling, calibration)
    keys, conformal, cut = calibration.keys, calibration.conformal, calibration.cut
    low, high = dots[0][0], dots[-1][0]
    margin = (high - low) * 0.03
    x = Scale(low - margin, high + margin, LEFT, WIDTH - RIGHT)
    y = Scale(-0.12, 1.12, BOTTOM, TOP)
    grid = [x.low + (x.high - x.low) * number / _POINTS for number in range(_POINTS + 1)]
    single = len(keys) == 1
    likelihoods = [probability(calibration.curve, [score]) for score in grid] if single else grid
    sets = [conformal_set(conformal, likelihood).labels for likelihood in likelihoods]
    good = sum(bool(labelling.is_good(case.identity)) for _, case in dots)
    counts = f"{good} good and {len(dots) - good} bad answers"
    threshold = "no threshold" if limit is None else f"threshold {figure(limit)}"
    bad_limit, good_limit = conformal.limits
    canvas = Canvas(
        f"Calibration of {' and '.join(keys)} by {len(dots)} labels",
        width=WIDTH,
        height=HEIGHT,
        description=(
            f"{counts}; {threshold}; conformal quantiles {figure(good_limit)} of good and"
            f" {figure(bad_limit)} of bad"
            f" answers for alpha = {conformal.alpha:g}."
        ),
    )
    _draw_bands(canvas, x, grid, sets)
    axis = keys[0] if single else f"calibrated probability of {', '.join(keys)}"
    axes(canvas, x, y, x_name=axis, y_name="probability of good", grid=False)
    canvas.line(x.start, y(cut), x.end, y(cut), stroke=QUIET, dashed=True)
    if limit is not None and x.low <= limit <= x.high:
        canvas.line(x(limit), TOP, x(limit), BOTTOM, stroke=INK, width=1.5, dashed=True)
        canvas.text(x(limit), TOP - 8, threshold, anchor="middle", classes="b s")
    canvas.path(
        [(x(score), y(likelihood)) for score, likelihood in zip(grid, likelihoods, strict=True)],
        stroke=COLOURS[0],
        width=2.5,
    )
    _draw_dots(canvas, x, y, dots, labelling)
    _legend(canvas, sets, conformal)
    return canvas.finish()


def _dots(labelling: Labelling, calibration: Calibration) -> list[tuple[float, LabelledCase]]:
    """Return score and case of each labelled answer, sorted by score; probabilities for several metrics."""
    answers = {identity[1:]: answer for identity, answer in labelling.population.scores.answers.items()}
    dots = []
    for case in labelling.cases:
        answer = answers.get(case.identity)
        if labelling.is_good(case.identity) is None or answer is None:
            continue
        values = [value for key in calibration.keys if (value := answer.score(key)) is not None]
        if len(values) == len(calibration.keys):
            score = values[0] if len(values) == 1 else probability(calibration.curve, values)
            dots.append((score, case))
    return sorted(dots, key=lambda dot: (dot[0], dot[1].key))


def _draw_bands(canvas: Canvas, x: Scale, grid: Sequence[float], sets: Sequence[tuple[int, ...]]) -> None:
    """Draw an area for each range of scores with the same conformal set."""
    for labels, points in groupby(zip(grid, sets, strict=True), key=lambda point: point[1]):
        band = [score for score, _ in points]
        left, right = x(band[0]), min(x(band[-1]) + (WIDTH - LEFT - RIGHT) / _POINTS, x.end)
        canvas.rect(
            left,
            TOP,
            right - left,
            BOTTOM - TOP,
            fill=BANDS[labels][0],
            title=f"{figure(band[0])} to {figure(band[-1])}: {BANDS[labels][1]}",
        )


def _draw_dots(
    canvas: Canvas, x: Scale, y: Scale, dots: Sequence[tuple[float, LabelledCase]], labelling: Labelling
) -> None:
    """Draw the labels: full dots of answers drawn at random, rings of those that the curve is fitted to."""
    at_random = labelling.at_random
    for number, (score, case) in enumerate(dots):
        good = bool(labelling.is_good(case.identity))
        shift = (number % _ROWS - (_ROWS - 1) / 2) * 6
        colour = GOOD if good else BAD
        title = f"{case.key}: {figure(score)}, {'good' if good else 'bad'}"
        fill, stroke = (colour, GROUND) if case.identity in at_random else (GROUND, colour)
        canvas.circle(x(score), y(float(good)) + shift, 4.5, fill=fill, stroke=stroke, title=title)


def _legend(canvas: Canvas, sets: Collection[tuple[int, ...]], conformal: Conformal) -> None:
    marks = [
        (GOOD, "people call the answer good"),
        (BAD, "people call it bad"),
        (COLOURS[0], "probability that they call it good"),
    ]
    after = legend(canvas, LEFT, BOTTOM + 66, marks, width=290)
    canvas.text(LEFT, after, "full dots: answers drawn at random", classes="q s")
    canvas.text(LEFT, after + 16, "rings: answers that the curve is fitted to", classes="q s")
    scope = "good and of bad answers" if conformal.kind == "class" else "all answers"
    title = f"Conformal set, right for {percent(1 - conformal.alpha)} of {scope}"
    canvas.text(LEFT + 330, BOTTOM + 66, title, classes="b s")
    for row, (labels, (colour, name)) in enumerate(
        (labels, band) for labels, band in BANDS.items() if labels in sets
    ):
        at = BOTTOM + 88 + 22 * row
        canvas.rect(LEFT + 330, at - 11, 14, 14, fill=colour, stroke=QUIET)
        is_open = "" if len(labels) == 1 else ": a person should look"
        canvas.text(LEFT + 352, at, f"{name}{is_open}")
