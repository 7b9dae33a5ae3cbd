"""Reports of runs, with and without a calibration."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_evalstudio.contrib.calibration.review.report_answers import ReportAnswers
from pytest_evalstudio.contrib.calibration.review.session import ReviewSession
from pytest_evalstudio.scoring.calibration.conformal import ConformalSet, prediction_set
from support.records import RecordBuilder, boolean_evaluator, evaluator, metric

CHANCES = {"good": 0.95, "likely": 0.7, "even": 0.52, "unlikely": 0.35, "bad": 0.04}
UNCERTAIN = ["even", "unlikely", "likely"]
"""Those that a quantile of 0.8 leaves open, nearest to 0.5 first."""


def calibrated(id: str = "words", *, of: str = "supported") -> dict[str, Any]:
    """An evaluator of a header that has a calibration."""
    return evaluator(
        id,
        metric("calibrated_probability", name="Calibrated probability"),
        metric(of, primary=False, asserted=False, threshold=0.6),
        calibration={
            "file": "saved.json",
            "of": of,
            "method": "logistic",
            "metrics": [f"{id}.{of}"],
            "alpha": 0.1,
            "quantile": 0.8,
        },
    )


def report(
    folder: Path,
    chances: Mapping[str, float] = CHANCES,
    *others: dict[str, Any],
    quantile: float = 0.8,
    file: str = "suite.json",
) -> Path:
    """The folder of a report of a run whose answers have these calibrated probabilities."""
    folder.mkdir(parents=True, exist_ok=True)
    builder = RecordBuilder(calibrated(), boolean_evaluator(), *others)
    for key, chance in chances.items():
        add(
            builder,
            key,
            chance,
            quantile=quantile,
            file=file,
            ids=["words", *(other["id"] for other in others)],
        )
    builder.write(folder)
    return folder


def add(
    builder: RecordBuilder, key: str, chance: float, *, ids: list[str], quantile: float = 0.8, **item: Any
) -> None:
    possible = ConformalSet(labels=prediction_set(chance, quantile), alpha=0.1)
    scores = {"calibrated_probability": chance, "supported": round(chance / 2 + 0.4, 4)}
    verdict = {
        "status": "score",
        "passed": chance >= 0.5,
        "scores": scores,
        "missed": [],
        "conformal_set": list(possible.labels),
    }
    row = {
        "input": f"What of {key}?",
        "actual_output": f"It is {key}.",
        "outcomes": {id: {"status": "score", "scores": scores} for id in ids},
    }
    builder.add(
        key, "one", row, verdicts={id: {**verdict, "uncertain": possible.is_uncertain} for id in ids}, **item
    )


def session(place: Path, rater: str = "", *, blind: bool = False, **options: Any) -> ReviewSession:
    """A review of a report; its labels are beside it, unless told otherwise."""
    options = {"labels": str(place.parent / "labels.csv"), **options}
    return ReviewSession(ReportAnswers(str(place), **options), rater=rater, blind=blind)


def question_keys(review: ReviewSession) -> list[str]:
    """Keys of the answers that are asked for, in order."""
    return [case.key for case in review.labelling_state().cases]
