"""Answers of a labelling for people: those that were drawn, and those to read again."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_evalstudio.contrib.calibration.labelling.state import Labelling
from pytest_evalstudio.formats.labels import Identity
from pytest_evalstudio.scoring.calibration.conformal import conformal_set
from pytest_evalstudio.scoring.calibration.curve import probability
from pytest_evalstudio.scoring.calibration.file import Calibration


def drawn_answers(labelling: Labelling) -> Iterator[dict[str, Any]]:
    """Return the drawn answers with their labels, for JSON."""
    by_answer: dict[Identity, dict[str, int]] = {}
    for label in labelling.ratings:
        by_answer.setdefault(label.identity, {})[label.rater] = label.label
    for number, (draw, case) in enumerate(zip(labelling.drawn, labelling.cases, strict=True), 1):
        yield {
            "number": number,
            "round": draw.round,
            "part": draw.part,
            "drawn_by": draw.reason,
            **case.as_json(),
            "label": labelling.labels.get(case.identity),
            "good": labelling.is_good(case.identity),
            "labels": dict(sorted(by_answer.get(case.identity, {}).items())),
        }


def to_review(labelling: Labelling, calibration: Calibration | None) -> list[dict[str, Any]]:
    """Return the answers that a person should read, with the reasons.

    The reasons are "uncertain" (the conformal set has both labels, or none), "disagreement" (people and the
    evaluator disagree) and "divided" (raters disagree).
    """
    rows = []
    divided = set(labelling.divided)
    for case in labelling.population.cases:
        good = labelling.is_good(case.identity)
        likelihood, possible = None, None
        if calibration is not None:
            likelihood = probability(calibration.curve, [case.scores[key] for key in calibration.keys])
            possible = conformal_set(calibration.conformal, likelihood)
        reasons = []
        if possible is not None and possible.is_uncertain and good is None:
            reasons.append("uncertain")
        if good is not None and case.verdict is not None and good != case.verdict:
            reasons.append("disagreement")
        if case.identity in divided:
            reasons.append("divided")
        if reasons:
            rows.append(
                {
                    "reasons": reasons,
                    **case.as_json(),
                    "good": good,
                    "probability": likelihood,
                    "conformal_set": None if possible is None else list(possible.labels),
                }
            )
    return rows
