"""Description of a calibration on a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_evalstudio.contrib.calibration.fit.decision import describe_rule
from pytest_evalstudio.contrib.calibration.fit.results import (
    CalibrationFigures,
    ConformalFigures,
    ExpectedUse,
    LevelAgreement,
)
from pytest_evalstudio.stats.calibration import ErrorRates
from pytest_evalstudio.stats.types import Interval


def describe(calibration: CalibrationFigures) -> Iterator[str]:
    """Yield the lines that describe a calibration on a terminal."""
    yield (
        f"{', '.join(calibration.metrics)}: {calibration.method}, {calibration.n} labelled answers,"
        f" {calibration.good} of them good"
    )
    if calibration.candidates:
        yield f"chosen by the labels, in each fold anew, among {', '.join(calibration.candidates)}"
    excluded = calibration.left_out
    if excluded.without_answer:
        yield f"left out: {excluded.without_answer} labels of answers that are not in the results"
    for metric, count in excluded.without_score.items():
        if count:
            yield f"left out: {count} labelled answers without a score by {metric}"
    yield _row("threshold", _describe_threshold(calibration))
    rule = calibration.decision
    yield _row(
        "chosen by", f"{describe_rule(rule)}; answers pass from a probability of {rule.probability:.3f} on"
    )
    for key, figures in (calibration.weights or {}).items():
        score = f"log(1 + {key})" if figures.log else key
        yield _row("weight", f"{figures.weight:+.3f} × ({score} − {figures.mean:.4g}) / {figures.scale:.4g}")
    if calibration.intercept is not None:
        yield _row("intercept", f"{calibration.intercept:+.3f}")
    yield _row("area under ROC", f"{calibration.auc_in_sample:.3f}", calibration.auc_in_sample_interval)
    yield (
        f"cross-validated over {calibration.folds} folds:"
        if calibration.folds
        else f"of {calibration.tested} answers that the curve was not fitted to:"
    )
    yield _row(
        "area under ROC", f"{calibration.auc_cross_validated:.3f}", calibration.auc_cross_validated_interval
    )
    if calibration.best_single_auc is not None:
        yield _row("of the best metric", f"{calibration.best_single_auc:.3f}  (area under ROC of one alone)")
    before = (
        "" if calibration.ece_before is None else f"  (of the score as it is: {calibration.ece_before:.3f})"
    )
    error = f"{calibration.ece_after:.3f}"
    yield _row("calibration error", error, calibration.ece_after_interval, before)
    yield _row("Brier score", f"{calibration.brier:.3f}", calibration.brier_interval)
    yield from _describe_levels(calibration.levels)
    yield from _describe_errors(calibration, calibration.before)
    yield from _describe_use(calibration.expected)
    yield from _describe_coverage(calibration.conformal)
    for note in calibration.notes:
        yield f"note: {note}"
    for refusal in calibration.refusals:
        yield f"refused: {refusal.text}"


def _describe_levels(levels: LevelAgreement | None) -> Iterator[str]:
    if levels is None:
        return
    shares = f"  (of the levels' shares alone: {levels.log_loss_of_shares:.3f})"
    yield _row("log loss of levels", f"{levels.log_loss:.3f}", levels.log_loss_interval, shares)
    yield _row("accuracy of levels", f"{levels.accuracy:.3f}", levels.accuracy_interval)
    if levels.weighted_kappa is not None:
        yield _row("weighted kappa", f"{levels.weighted_kappa:.3f}  (quadratic)")
    yield _row("level calibration error", f"{levels.level_calibration_error:.3f}  (mean over the levels)")


def _row(name: str, value: str, interval: Interval | None = None, rest: str = "", digits: int = 3) -> str:
    """Return a line with a figure, and its interval if it has one."""
    bounds = (
        "" if interval is None else f"  95% interval {interval[0]:.{digits}f} to {interval[1]:.{digits}f}"
    )
    return f"{name:<24}{value}{bounds}{rest}"


def _describe_threshold(calibration: CalibrationFigures) -> str:
    if calibration.threshold is None:
        return "none" + (": the calibration is refused" if calibration.refusals else "")
    was = f"  (the run's: {calibration.before.threshold:.4g})" if calibration.before else ""
    return f"{calibration.threshold:.4g} of {calibration.threshold_of}{was}"


def _describe_use(expected: ExpectedUse) -> Iterator[str]:
    yield _row("expected: flagged", f"{expected.flagged:.3f} of all answers", expected.flagged_interval)
    misses = f"{expected.misses_per_1000:.0f} bad answers that pass per 1,000"
    yield _row("expected: misses", misses, expected.misses_per_1000_interval, digits=0)
    if expected.cost_per_1000 is not None:
        cost = f"{expected.cost_per_1000:.4g} per 1,000 answers"
        yield _row("expected: cost", cost, expected.cost_per_1000_interval, digits=0)
    if expected.trivial_cost_per_1000 is not None:
        cost = f"{expected.trivial_cost_per_1000:.4g} if every answer {expected.trivial_verdict}"
        yield _row("cost without a score", cost)


def _describe_coverage(conformal: ConformalFigures) -> Iterator[str]:
    scope = "each kind" if conformal.kind == "class" else "all together"
    rows = (
        ("coverage", conformal.coverage, conformal.coverage_interval),
        ("coverage of good", conformal.coverage_good, conformal.coverage_good_interval),
        ("coverage of bad", conformal.coverage_bad, conformal.coverage_bad_interval),
    )
    for label, share, interval in rows:
        if share is not None:
            target = f"; wanted {1 - conformal.alpha:g} of {scope}" if label == "coverage" else ""
            yield _row(label, f"{share:.3f}", interval, target)
    sets = conformal.sets
    yield _row(
        "conformal sets",
        f"{sets['one']} good, {sets['zero']} bad; uncertain: {sets['both']} either, {sets['empty']} neither",
    )
    if conformal.levels is not None:
        levels = conformal.levels
        by_level = ", ".join(f"{level}: {share:.2f}" for level, share in levels.by_level.items())
        rest = f"; {by_level}; {levels.mean_size:.2f} levels in a set"
        yield _row("coverage of levels", f"{levels.coverage:.3f}", levels.coverage_interval, rest)


def _describe_errors(rates: ErrorRates, before: ErrorRates | None) -> Iterator[str]:
    rows = (
        ("type I: good but fails", rates.type_1, rates.type_1_interval, before and before.type_1),
        ("type II: bad but passes", rates.type_2, rates.type_2_interval, before and before.type_2),
        ("Cohen’s kappa", rates.kappa, rates.kappa_interval, before and before.kappa),
    )
    for label, share, interval, share_before in rows:
        if share is not None:
            was = "" if share_before is None else f"  (by the run's threshold: {share_before:.3f})"
            yield _row(label, f"{share:.3f}", interval, was)
