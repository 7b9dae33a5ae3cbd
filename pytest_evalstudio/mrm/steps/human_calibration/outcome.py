"""Results of the labelling: answers for a person to read, and problems of the model and the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.engine.scoring.calibration import is_uncertain, prediction_set, probability
from pytest_evalstudio.formats.calibration import Calibration
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling
from pytest_evalstudio.mrm.steps.human_calibration.plot import Dot, calibration_curve
from pytest_evalstudio.mrm.steps.human_calibration.results import ID, Agreement, CalibrationFigures
from pytest_evalstudio.stats.intervals import wilson_interval

TOLERABLE = 0.05
"""Share of bad answers that is no problem yet."""
POOR_KAPPA = 0.4
"""Below it agreement is "fair" at most (Landis and Koch, 1977)."""
POOR_ALPHA = 2 / 3
"""Below it raters' labels allow no conclusions (Krippendorff, 2004)."""


def drawn_told(stand: Labelling) -> Iterator[dict[str, Any]]:
    """The answers drawn, with their labels, for JSON."""
    said: dict[tuple[str, str], dict[str, int]] = {}
    for label in stand.ratings:
        said.setdefault(label.identity, {})[label.rater] = label.label
    for number, (one, case) in enumerate(zip(stand.drawn, stand.cases, strict=True), 1):
        yield {
            "number": number,
            "round": one.round,
            "part": one.part,
            "drawn_by": one.reason,
            **case.told(),
            "label": stand.labels.get(case.identity),
            "good": stand.is_good(case.identity),
            "labels": dict(sorted(said.get(case.identity, {}).items())),
        }


def to_review(stand: Labelling, calibration: Calibration | None) -> list[dict[str, Any]]:
    """Return the answers that a person should read, with the reasons.

    The reasons are "uncertain" (the conformal set has both labels, or none), "disagreement" (people and the
    evaluator disagree) and "divided" (raters disagree).
    """
    found = []
    divided = set(stand.divided)
    for case in stand.population.cases:
        good = stand.is_good(case.identity)
        chance, labels = None, None
        if calibration is not None:
            chance = probability(calibration.curve, [case.scores[key] for key in calibration.keys])
            labels = prediction_set(chance, calibration.conformal.quantile)
        reasons = [
            *(["uncertain"] if labels is not None and is_uncertain(labels) and good is None else []),
            *(
                ["disagreement"]
                if good is not None and case.verdict is not None and good != case.verdict
                else []
            ),
            *(["divided"] if case.identity in divided else []),
        ]
        if reasons:
            sets = None if labels is None else list(labels)
            found.append(
                {
                    "reasons": reasons,
                    **case.told(),
                    "good": good,
                    "probability": chance,
                    "conformal_set": sets,
                }
            )
    return found


def picture(stand: Labelling, calibration: Calibration, threshold: float | None) -> str:
    """The calibration's curve with the labels."""
    single = len(calibration.metrics) == 1
    at_random = stand.at_random
    dots = []
    for case in stand.cases:
        good = stand.is_good(case.identity)
        if good is not None:
            values = [case.scores[key] for key in calibration.keys]
            score = values[0] if single else probability(calibration.curve, values)
            dots.append(Dot(key=case.key, score=score, good=good, for_curve=case.identity not in at_random))
    conformal = calibration.conformal
    axis = calibration.keys[0] if single else f"calibrated probability of {', '.join(calibration.keys)}"
    return calibration_curve(
        f"Calibration of {' and '.join(calibration.keys)} by {len(dots)} labels",
        axis=axis,
        curve=(lambda score: probability(calibration.curve, [score])) if single else (lambda score: score),
        dots=sorted(dots, key=lambda dot: (dot.score, dot.key)),
        threshold=threshold,
        quantile=conformal.quantile,
        alpha=conformal.alpha,
    )


def problems(stand: Labelling, figures: CalibrationFigures, agreement: Agreement) -> Iterator[Problem]:
    """Yield the problems of the model, and of the metrics, that the labels show."""
    yield from _bad_answers(stand)
    names = ", ".join(figures.metrics)
    kappa = figures.kappa
    if kappa is not None and kappa < POOR_KAPPA:
        yield Problem(
            description=(
                f"Calibrated verdicts by {names} agree little with people: Cohen's kappa is {kappa:.2f} on"
                f" {figures.tested} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "weak_evaluator",
                "step": ID,
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
                f"The people who label agree little: Krippendorff's alpha is {alpha:.2f} on"
                f" {agreement.shared} answers"
            ),
            severity="medium",
            problem_type="data_quality",
            avid="P0100",
            attributes={
                "kind": "raters_disagree",
                "step": ID,
                "krippendorff_alpha": alpha,
                "cases": agreement.shared,
            },
            actions=(
                "Agree on what a good answer is, then label the answers again on which raters are divided"
                " (to_review.json)."
            ),
        )


def _bad_answers(stand: Labelling) -> Iterator[Problem]:
    said = {
        identity: good
        for identity in sorted(stand.at_random)
        if (good := stand.is_good(identity)) is not None
    }
    bad = [identity[0] for identity, good in said.items() if not good]
    low, high = wilson_interval(len(bad), len(said)) if said else (0.0, 0.0)
    if low > TOLERABLE:
        yield Problem(
            description=(
                f"People call {len(bad)} of {len(said)} answers bad that were drawn at random: {low:.0%} to"
                f" {high:.0%} of all (95% interval)"
            ),
            severity="high" if low > 0.25 else "medium",
            problem_type="accuracy",
            avid="P0200",
            attributes={
                "kind": "bad_answers",
                "step": ID,
                "share": len(bad) / len(said),
                "interval": [low, high],
                "test_case_keys": bad,
            },
            actions=(
                "Read the answers that people call bad (sample.json, good = false), and mend retrieval,"
                " documents or prompt where they agree."
            ),
        )
