"""Scores of test cases by each metric of the validation, with the cutoffs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_evalstudio.contrib.validation.methods.test_cases.results import ValidatedCase, ValidationMetric
from pytest_evalstudio.plots.axes import Scale, legend
from pytest_evalstudio.plots.canvas import Canvas
from pytest_evalstudio.plots.colours import BAD, GOOD, GROUND, INK, QUIET
from pytest_evalstudio.plots.text import fitted
from pytest_evalstudio.text.figures import figure

PICTURE = "validation.svg"
WIDTH, ROW = 720, 96
LEFT, RIGHT, TOP = 150, 24, 40
_LANES = 7
"""Heights at which dots of equal scores are drawn."""


def validation_picture(cases: Sequence[ValidatedCase], metrics: Mapping[str, ValidationMetric]) -> str:
    """Draw the score of each test case as a dot, one row per metric, as SVG.

    Args:
        cases: with scores by metric.
        metrics: with their cutoffs; a case below one is rejected unless it is kept by name.
    """
    rejected = sum(case.verdict == "rejected" for case in cases)
    bottom = TOP + ROW * len(metrics)
    canvas = Canvas(
        f"Validation of {len(cases)} test cases",
        width=WIDTH,
        height=bottom + 50,
        description=f"{len(cases) - rejected} valid, {rejected} rejected; " + "; ".join(_described(metrics)),
    )
    scores = [score for case in cases for score in case.scores.values() if score is not None]
    limits = [metric.cutoff for metric in metrics.values()]
    x = Scale(min([0.0, *scores, *limits]), max([1.0, *scores, *limits]), LEFT, WIDTH - RIGHT)
    for tick in x.ticks():
        canvas.line(x(tick), TOP, x(tick), bottom)
        canvas.text(x(tick), bottom + 16, f"{tick:g}", anchor="middle", classes="q s")
    for row, (name, metric) in enumerate(metrics.items()):
        _row(canvas, x, TOP + ROW * row, name, metric, cases)
    legend(canvas, LEFT, bottom + 38, [(GOOD, "valid")], width=120)
    legend(canvas, LEFT + 130, bottom + 38, [(BAD, "rejected")], width=120)
    return canvas.finish()


def _row(
    canvas: Canvas,
    x: Scale,
    top: float,
    name: str,
    metric: ValidationMetric,
    cases: Sequence[ValidatedCase],
) -> None:
    middle = top + ROW / 2
    canvas.text(12, middle, fitted(name, LEFT - 24), title=name, classes="b")
    canvas.text(12, middle + 16, f"cutoff {metric.cutoff:g}", classes="q s")
    canvas.line(x.start, top + ROW - 4, x.end, top + ROW - 4, stroke=QUIET)
    canvas.line(x(metric.cutoff), top + 6, x(metric.cutoff), top + ROW - 6, stroke=INK, dashed=True)
    scored = [(score, case) for case in cases if (score := case.scores.get(name)) is not None]
    for number, (score, case) in enumerate(sorted(scored, key=lambda pair: (pair[0], pair[1].key))):
        y = top + 14 + (ROW - 32) * (number % _LANES) / (_LANES - 1)
        colour = BAD if case.verdict == "rejected" else GOOD
        tip = f"{case.key}: {figure(score)}, {case.verdict}"
        canvas.circle(x(score), y, 4, fill=colour, stroke=GROUND, title=tip)


def _described(metrics: Mapping[str, ValidationMetric]) -> list[str]:
    return [
        f"{name}: cutoff {metric.cutoff:g}, median "
        + ("none" if metric.median is None else figure(metric.median))
        for name, metric in metrics.items()
    ]
