"""Artifacts of the step: the sample, the sheet for labels, calibrations and figures."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path

from pytest_evalstudio.contrib.calibration.fit.calibrate import Calibrated
from pytest_evalstudio.contrib.calibration.labelling.picture import picture
from pytest_evalstudio.contrib.calibration.labelling.review import drawn_answers, to_review
from pytest_evalstudio.contrib.calibration.labelling.sheet import sheet
from pytest_evalstudio.contrib.calibration.labelling.state import Labelling, LabellingResults
from pytest_evalstudio.contrib.validation.steps.human_calibration.results import CalibrationResults
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.scoring.calibration.curve import threshold
from pytest_evalstudio.scoring.calibration.file import Calibration

LABELS = "labels.csv"
TO_LABEL = "to_label.csv"
SAMPLE = "sample.json"
CALIBRATION = "calibration.json"
FIGURES = "figures.json"
CURVE = "calibration_curve.svg"
TO_REVIEW = "to_review.json"
REASONS = ("uncertain", "disagreement", "divided")
_UNSAFE = re.compile(r"[^\w.-]")


def write_sheet(context: StepContext, labelling: Labelling, unread: int) -> str:
    """Write the answers without a label as a sheet, unless an earlier one has been filled in.

    Returns:
        The next action, for people.
    """
    if unread:
        return (
            f"{TO_LABEL} holds {unread} labels that have not been read; `evalstudio review` on the workflow's"
            " file reads them with --import"
        )
    labelled = {label.identity for label in labelling.ratings}
    metrics = [column.key for column in labelling.population.columns]
    (context.home / TO_LABEL).write_bytes(
        sheet([case for case in labelling.cases if case.identity not in labelled], metrics)
    )
    return (
        f"`evalstudio review` on the workflow's file asks for them, or fill in {TO_LABEL} and read it with"
        " --import"
    )


def write_sample(context: StepContext, labelling: Labelling, progress: LabellingResults) -> None:
    """Write the answers that were drawn, with their labels."""
    state = asdict(progress)
    # `write_figures` writes it.
    del state["agreement"]
    content = {"version": 1, **state, "cases": list(drawn_answers(labelling))}
    write_json(context.folder / SAMPLE, content)


def write_review(folder: Path, labelling: Labelling, calibrated: Calibrated) -> dict[str, int]:
    """Write the answers that people should read; return their number by reason."""
    cases = to_review(labelling, calibrated.calibration if calibrated.figures.is_accepted else None)
    write_json(folder / TO_REVIEW, {"version": 1, "cases": cases})
    counts = Counter(reason for case in cases for reason in case["reasons"])
    return {reason: counts[reason] for reason in REASONS}


def write_calibrations(
    folder: Path, labelling: Labelling, calibrated: Calibrated, accepted: Mapping[str, Calibration]
) -> None:
    """Write calibrations and curves.

    Args:
        folder: of the artifacts.
        labelling: the labels.
        calibrated: the step's metric, or combined score.
        accepted: calibrations of primary metrics, by `evaluator.metric`.
    """
    calibration, figures = calibrated.calibration, calibrated.figures
    if calibration is not None:
        if figures.is_accepted:
            calibrated.save(folder / CALIBRATION)
        _draw(folder / CURVE, labelling, calibration, figures.threshold)
    for metric, other in accepted.items():
        if (metric,) != figures.metrics:
            name = _UNSAFE.sub("_", metric.partition(".")[0])
            other.save(folder / f"calibration_{name}.json")
            _draw(folder / f"calibration_curve_{name}.svg", labelling, other, threshold(other))


def _draw(path: Path, labelling: Labelling, calibration: Calibration, limit: float | None) -> None:
    path.write_text(picture(labelling, calibration, limit), encoding="utf-8")


def write_figures(folder: Path, results: CalibrationResults) -> None:
    """Write the figures of the calibration, and what later steps use."""
    # The sample has the other results of the labelling.
    in_sample = {item.name for item in fields(LabellingResults)} - {"metrics"}
    content = {name: value for name, value in asdict(results).items() if name not in in_sample}
    write_json(folder / FIGURES, {"version": 1, **content, "agreement": asdict(results.agreement)})
