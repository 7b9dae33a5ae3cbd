"""Artifacts of the step: the sample, the sheet for labels, calibrations and figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.steps.human_calibration.calibrate import Calibrated
from pytest_evalstudio.mrm.steps.human_calibration.every_metric import MetricCalibration, guardrail_use
from pytest_evalstudio.mrm.steps.human_calibration.labelling import Labelling
from pytest_evalstudio.mrm.steps.human_calibration.outcome import drawn_answers, picture, to_review
from pytest_evalstudio.mrm.steps.human_calibration.results import (
    CALIBRATION,
    CURVE,
    FIGURES,
    SAMPLE,
    TO_LABEL,
    TO_REVIEW,
    CalibrationResults,
    LabellingResults,
)
from pytest_evalstudio.mrm.steps.human_calibration.sheet import sheet
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.stats.risk import RiskRule


def write_sheet(context: StepContext, stand: Labelling, names: Sequence[str], unread: int) -> str:
    """Write the answers without a label as a sheet, unless an earlier one has been filled in."""
    if unread:
        return (
            f"{TO_LABEL} holds {unread} labels that have not been read; `evalstudio review` on the workflow's"
            " file reads them with --import"
        )
    said = {label.identity for label in stand.ratings}
    (context.home / TO_LABEL).write_bytes(
        sheet([case for case in stand.cases if case.identity not in said], names)
    )
    return (
        f"`evalstudio review` on the workflow's file asks for them, or fill in {TO_LABEL} and read it with"
        " --import"
    )


def write_sample(context: StepContext, stand: Labelling, names: Sequence[str]) -> None:
    """Write the answers that were drawn, with their labels."""
    content = {
        "version": 1,
        "metrics": names,
        "wanted": stand.wanted,
        "labelled": stand.done,
        "without_score": stand.population.without_score,
        "not_counted": not_counted(stand),
        "divided": list(divided_keys(stand)),
        "cases": list(drawn_answers(stand)),
    }
    write_json(context.folder / SAMPLE, content)


def not_counted(stand: Labelling) -> dict[str, int]:
    """Return the number of labels that do not count, by reason."""
    return {"outdated": stand.outdated, "not_drawn": stand.beyond, "unknown": stand.unknown}


def divided_keys(stand: Labelling) -> tuple[str, ...]:
    """Return the keys of the answers on which raters are divided."""
    return tuple(key for key, _ in stand.divided)


def write_results(
    context: StepContext,
    stand: Labelling,
    calibrated: Calibrated,
    every: Sequence[MetricCalibration],
    progress: LabellingResults,
    rule: RiskRule,
) -> CalibrationResults:
    """Write calibrations, curves, answers to review and figures.

    Args:
        context: of the step.
        stand: of the labelling.
        calibrated: the step's own metric, or combined score.
        every: all primary metrics.
        progress: of the labelling.
        rule: of the thresholds.

    Returns:
        The results of the step.
    """
    calibration, figures = calibrated.calibration, calibrated.figures
    if calibration is not None:
        if figures.is_accepted:
            calibrated.save(context.folder / CALIBRATION)
        (context.folder / CURVE).write_text(picture(stand, calibration, figures.threshold), encoding="utf-8")
    _write_others(context.folder, stand, every, figures.metrics)
    review = to_review(stand, calibration if figures.is_accepted else None)
    write_json(context.folder / TO_REVIEW, {"version": 1, "cases": review})
    counts = {
        reason: sum(reason in entry["reasons"] for entry in review)
        for reason in ("uncertain", "disagreement", "divided")
    }
    accepted = [case.key for case in stand.cases if case.verdict is False and stand.is_good(case.identity)]
    thresholds = _thresholds(every)
    guardrail = guardrail_use(stand, thresholds, rule, figures.seed)
    content = {
        **asdict(figures),
        "thresholds": thresholds,
        "to_review": counts,
        "accepted": accepted,
        "by_metric": [asdict(each.figures) for each in every],
        "guardrail": None if guardrail is None else asdict(guardrail),
    }
    write_json(context.folder / FIGURES, {"version": 1, **content, "agreement": asdict(progress.agreement)})
    return CalibrationResults.of(
        progress,
        figures,
        thresholds=thresholds,
        to_review=counts,
        accepted=tuple(accepted),
        by_metric=tuple(each.figures for each in every),
        guardrail=guardrail,
    )


def _write_others(
    folder: Path, stand: Labelling, every: Sequence[MetricCalibration], metrics: Sequence[str]
) -> None:
    """Write calibrations and curves of the accepted primary metrics beside the step's own."""
    for each in every:
        if each.calibration is None or [each.figures.metric] == list(metrics):
            continue
        each.calibration.save(folder / each.file("calibration", ".json"))
        text = picture(stand, each.calibration, each.figures.threshold)
        (folder / each.file("calibration_curve", ".svg")).write_text(text, encoding="utf-8")


def _thresholds(every: Sequence[MetricCalibration]) -> dict[str, float]:
    """Return the thresholds for later steps: of accepted calibrations."""
    return {
        each.figures.metric: each.figures.threshold for each in every if each.figures.threshold is not None
    }
