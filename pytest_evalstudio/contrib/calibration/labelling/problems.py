"""Problems of the model and of the metrics that labels show."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures
from pytest_evalstudio.contrib.calibration.labelling.agreement import Agreement
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.text.figures import figure, percent

TOLERABLE = 0.05
"""Share of bad answers that is no problem yet."""
POOR_KAPPA = 0.4
"""Below it agreement is "fair" at most (Landis and Koch, 1977)."""
POOR_ALPHA = 2 / 3
"""Below it raters' labels allow no conclusions (Krippendorff, 2004)."""


def problems(
    labelling: Labelling, figures: CalibrationFigures, agreement: Agreement, *, step: str
) -> Iterator[Problem]:
    """Yield the problems of the model, and of the metrics, that the labels show.

    Args:
        labelling: the labels.
        figures: of the calibration.
        agreement: of the raters.
        step: id of the workflow's step that reports the problems.
    """
    yield from _bad_answers(labelling, step)
    names = ", ".join(figures.metrics)
    kappa = figures.kappa
    if kappa is not None and kappa < POOR_KAPPA:
        yield Problem(
            description=(
                f"Calibrated verdicts by {names} agree little with people: Cohen's kappa is"
                f" {figure(kappa)} on"
                f" {figures.tested} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "weak_evaluator",
                "step": step,
                "metrics": list(figures.metrics),
                "kappa": kappa,
                "cases": figures.tested,
            },
            actions=(
                "Take another evaluator, or several metrics in one score; until then read failures of this"
                " one with care."
            ),
        )
    alpha = agreement.krippendorff_alpha
    if alpha is not None and alpha < POOR_ALPHA:
        yield Problem(
            description=(
                f"The people who label agree little: Krippendorff's alpha is {figure(alpha)} on"
                f" {agreement.shared} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "raters_disagree",
                "step": step,
                "krippendorff_alpha": alpha,
                "cases": agreement.shared,
            },
            actions=(
                "Agree on what a good answer is, then label the answers again on which raters are divided"
                " (to_review.json)."
            ),
        )


def _bad_answers(labelling: Labelling, step: str) -> Iterator[Problem]:
    labels = labelling.good_at_random
    bad = [identity[0] for identity, good in labels.items() if not good]
    low, high = wilson_interval(len(bad), len(labels)) if labels else (0.0, 0.0)
    if low > TOLERABLE:
        yield Problem(
            description=(
                f"People call {len(bad)} of {len(labels)} answers bad that were drawn at random:"
                f" {percent(low)} to"
                f" {percent(high)} of all (95 % interval)"
            ),
            severity="high" if low > 0.25 else "medium",
            problem_type="accuracy",
            avid="P0200",
            attributes={
                "kind": "bad_answers",
                "step": step,
                "share": len(bad) / len(labels),
                "interval": [low, high],
                "test_case_keys": bad,
            },
            actions=(
                "Read the answers that people call bad (sample.json, good = false), and correct retrieval,"
                " documents or prompt where they agree."
            ),
        )
