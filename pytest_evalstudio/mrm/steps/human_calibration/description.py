"""Description of a calibration on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.mrm.steps.human_calibration.calibrate import PASSES
from pytest_evalstudio.mrm.steps.human_calibration.results import CalibrationFigures
from pytest_evalstudio.stats.calibration import ErrorRates


def describe(calibration: CalibrationFigures) -> Iterator[str]:
    """Yield the lines that describe a calibration on a terminal."""
    conformal, left = calibration.conformal, calibration.left_out
    yield (
        f"{', '.join(calibration.metrics)}: {calibration.method}, {calibration.n} labelled answers,"
        f" {calibration.good} of them good"
    )
    if left.without_answer:
        yield f"left out: {left.without_answer} labels of answers that are not in the results"
    for metric, count in left.without_score.items():
        if count:
            yield f"left out: {count} labelled answers without a score by {metric}"
    yield f"{'threshold':<24}{_describe_threshold(calibration)}"
    for key, figures in (calibration.weights or {}).items():
        score = f"log(1 + {key})" if figures.log else key
        yield (f"{'weight':<24}{figures.weight:+.3f} × ({score} − {figures.mean:.4g}) / {figures.scale:.4g}")
    if calibration.intercept is not None:
        yield f"{'intercept':<24}{calibration.intercept:+.3f}"
    yield (
        f"cross-validated over {calibration.folds} folds:"
        if calibration.folds
        else f"of {calibration.tested} answers that the curve was not fitted to:"
    )
    yield f"{'area under ROC':<24}{calibration.auc:.3f}"
    before = (
        "" if calibration.ece_before is None else f"  (of the score as it is: {calibration.ece_before:.3f})"
    )
    yield f"{'calibration error':<24}{calibration.ece_after:.3f}{before}"
    yield f"{'Brier score':<24}{calibration.brier:.3f}"
    yield from _describe_errors(calibration, calibration.before)
    yield (
        f"{'coverage':<24}{conformal.coverage:.3f}  95% interval"
        f" {_interval(conformal.coverage_interval)}; wanted {1 - conformal.alpha:g}"
    )
    sets = conformal.sets
    yield (
        f"{'conformal sets':<24}{sets['one']} good, {sets['zero']} bad; uncertain: {sets['both']} either,"
        f" {sets['empty']} neither"
    )
    for note in calibration.notes:
        yield f"note: {note}"


def _describe_threshold(calibration: CalibrationFigures) -> str:
    if calibration.threshold is None:
        return (
            f"none: no score of {calibration.threshold_of} divides good from bad at a probability of"
            f" {PASSES:g}"
        )
    was = f"  (the run's: {calibration.before.threshold:.4g})" if calibration.before else ""
    return f"{calibration.threshold:.4g} of {calibration.threshold_of}{was}"


def _describe_errors(rates: ErrorRates, before: ErrorRates | None) -> Iterator[str]:
    rows = (
        ("type I: good but fails", rates.type_1, rates.type_1_interval, before and before.type_1),
        ("type II: bad but passes", rates.type_2, rates.type_2_interval, before and before.type_2),
    )
    for label, share, interval, share_before in rows:
        if share is None or interval is None:
            continue
        was = "" if share_before is None else f"  (by the run's threshold: {share_before:.3f})"
        yield f"{label:<24}{share:.3f}  95% interval {_interval(interval)}{was}"
    kappa = "-" if rates.kappa is None else f"{rates.kappa:.3f}"
    was = f"  (by the run's threshold: {before.kappa:.3f})" if before and before.kappa is not None else ""
    yield f"{'Cohen’s kappa':<24}{kappa}{was}"


def _interval(bounds: Sequence[float]) -> str:
    return f"{bounds[0]:.3f} to {bounds[1]:.3f}"
