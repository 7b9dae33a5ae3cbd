"""Results of the labelling: answers for a person to read, and problems of the model and the metrics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.engine.scoring.calibration import conformal_set, is_uncertain, probability
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


def drawn_answers(stand: Labelling) -> Iterator[dict[str, Any]]:
    """Return the drawn answers with their labels, for JSON."""
    said: dict[tuple[str, str], dict[str, int]] = {}
    for label in stand.ratings:
        said.setdefault(label.identity, {})[label.rater] = label.label
    for number, (draw, case) in enumerate(zip(stand.drawn, stand.cases, strict=True), 1):
        yield {
            "number": number,
            "round": draw.round,
            "part": draw.part,
            "drawn_by": draw.reason,
            **case.as_json(),
            "label": stand.labels.get(case.identity),
            "good": stand.is_good(case.identity),
            "labels": dict(sorted(said.get(case.identity, {}).items())),
        }


def to_review(stand: Labelling, calibration: Calibration | None) -> list[dict[str, Any]]:
    """Return the answers that a person should read, with the reasons.

    The reasons are "uncertain" (the conformal set has both labels, or none), "disagreement" (people and the
    evaluator disagree) and "divided" (raters disagree).
    """
    rows = []
    divided = set(stand.divided)
    for case in stand.population.cases:
        good = stand.is_good(case.identity)
        chance, labels = None, None
        if calibration is not None:
            chance = probability(calibration.curve, [case.scores[key] for key in calibration.keys])
            labels = conformal_set(calibration.conformal, chance)
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
            rows.append(
                {
                    "reasons": reasons,
                    **case.as_json(),
                    "good": good,
                    "probability": chance,
                    "conformal_set": sets,
                }
            )
    return rows


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
            known = [value for value in values if value is not None]
            if not known or len(known) < len(values):
                continue
            score = known[0] if single else probability(calibration.curve, known)
            dots.append(Dot(key=case.key, score=score, good=good, for_curve=case.identity not in at_random))
    axis = calibration.keys[0] if single else f"calibrated probability of {', '.join(calibration.keys)}"
    return calibration_curve(
        f"Calibration of {' and '.join(calibration.keys)} by {len(dots)} labels",
        axis=axis,
        curve=(lambda score: probability(calibration.curve, [score])) if single else (lambda score: score),
        dots=sorted(dots, key=lambda dot: (dot.score, dot.key)),
        threshold=threshold,
        cut=calibration.cut,
        conformal=calibration.conformal,
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
