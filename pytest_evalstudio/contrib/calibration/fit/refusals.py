"""Reasons why a calibration is refused: labels that do not support it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_evalstudio.contrib.calibration.fit.results import CalibrationFigures, Refusal, RefusalCode
from pytest_evalstudio.record.score_table import Column
from pytest_evalstudio.stats.risk import Cut
from pytest_evalstudio.stats.risk_rule import RiskRule
from pytest_evalstudio.stats.types import Interval
from pytest_evalstudio.text.figures import figure, percent

CHANCE = 0.5  # area under the ROC curve of a score that says nothing of the label
MAX_PRICE = 0.5
"""Maximum error rate that a limit of the other one may cost: beyond it, most such verdicts are wrong."""


def refusals(
    figures: CalibrationFigures, columns: Sequence[Column], cut: Cut, rule: RiskRule
) -> tuple[Refusal, ...]:
    """Return the reasons why labels do not support a calibration; none for an accepted one.

    Args:
        figures: of the calibration.
        columns: its metrics.
        cut: the chosen one.
        rule: by which it was chosen.
    """
    reasons = [*_direction(figures, columns), *_area(figures)]
    # Further figures of such scores would say nothing.
    if not reasons:
        reasons += [*_target(figures, cut, rule), *_threshold(figures, columns), *_errors(figures)]
    if not reasons:
        reasons += [*_price(figures, rule), *_trivial(figures, rule)]
    return tuple(reasons)


def _direction(figures: CalibrationFigures, columns: Sequence[Column]) -> Iterator[Refusal]:
    interval = _deciding_interval(figures)
    is_contrary = interval is not None and interval[1] < CHANCE
    weights = figures.weights or {}
    if len(columns) == 1:
        sign = 1 if columns[0].metric.better == "higher" else -1
        is_contrary |= any(weight.weight * sign < 0 for weight in weights.values())
    # Weights of several metrics cannot be contrary: where labels go against all, all are 0.
    elif weights and not any(weight.weight for weight in weights.values()):
        is_contrary = True
    if is_contrary:
        names = " and ".join(f"{column.key} ({column.metric.better} is better)" for column in columns)
        yield Refusal(
            code=RefusalCode.AGAINST_DIRECTION,
            text=f"{names}: the labels go against the metric's direction; check the labels, or take another"
            f" metric",
        )


def _area(figures: CalibrationFigures) -> Iterator[Refusal]:
    interval = _deciding_interval(figures)
    # An interval below 0.5 is reported by `_direction`.
    if interval is not None and (interval[0] > CHANCE or interval[1] < CHANCE):
        return
    bounds = "unknown" if interval is None else f"{figure(interval[0])} to {figure(interval[1])}"
    yield Refusal(
        code=RefusalCode.AUC_HOLDS_HALF,
        text=(
            f"{', '.join(figures.metrics)}: the 95 % interval of the area under the ROC curve, {bounds},"
            f" holds 0.5,"
            " so that the scores may say nothing about the labels; label more answers, or take another metric"
        ),
    )


def _deciding_interval(figures: CalibrationFigures) -> Interval | None:
    """Return the interval that acceptance rests on: of raw scores, or of predictions for unseen answers."""
    # A metric that was chosen by the same labels is too good on them.
    if len(figures.metrics) == 1 and not figures.candidates:
        return figures.auc_in_sample_interval
    return figures.auc_cross_validated_interval


def _target(figures: CalibrationFigures, cut: Cut, rule: RiskRule) -> Iterator[Refusal]:
    if cut.is_attained:
        return
    names = ", ".join(figures.metrics)
    if rule.limit is not None:
        is_first = rule.rule == "max_type_i"
        best, other = (cut.type_1, cut.type_2) if is_first else (cut.type_2, cut.type_1)
        first, second = ("type I", "type II") if is_first else ("type II", "type I")
        yield Refusal(
            code=RefusalCode.TARGET_UNATTAINABLE,
            text=(
                f"{rule.rule} = {rule.limit:g}: no threshold of {names} attains it with {figures.n} labels;"
                f" the best"
                f" is {first} {figure(best)} with {second} {figure(other)}; allow more, label more"
                " answers, or take"
                f" another"
                " metric"
            ),
        )
    elif rule.rule == "cost":
        verdict = "fails" if cut.type_1 == 1 else "passes"
        yield Refusal(
            code=RefusalCode.TARGET_UNATTAINABLE,
            text=(
                f"cost = {rule.cost_type_i:g}:{rule.cost_type_ii:g}: it costs least if every answer"
                f" {verdict},"
                f" whatever its score by {names}; take another metric, or other costs"
            ),
        )
    else:
        yield _no_threshold(names)


def _threshold(figures: CalibrationFigures, columns: Sequence[Column]) -> Iterator[Refusal]:
    if len(columns) > 1:
        return
    (column,) = columns
    if figures.threshold is None:
        yield _no_threshold(column.key)
        return
    low, high = column.metric.range
    if not low <= figures.threshold <= high:
        yield Refusal(
            code=RefusalCode.THRESHOLD_OUT_OF_RANGE,
            text=(
                f"{column.key}: the threshold {figure(figures.threshold)} is outside the metric's range,"
                f" {low:g} to"
                f" {high:g}; label more answers, or take another metric"
            ),
        )


def _errors(figures: CalibrationFigures) -> Iterator[Refusal]:
    # Verdicts by chance have a sum of 1, whatever their share.
    if figures.type_1 is None or figures.type_2 is None or figures.type_1 + figures.type_2 < 1:
        return
    yield Refusal(
        code=RefusalCode.ERRORS_AS_BY_CHANCE,
        text=(
            f"{', '.join(figures.metrics)}: on answers that had no part in it, type I"
            f" {figure(figures.type_1)}"
            " and"
            f" type II {figure(figures.type_2)} are no better than chance; label more answers, or take"
            " another"
            " metric"
        ),
    )


def _price(figures: CalibrationFigures, rule: RiskRule) -> Iterator[Refusal]:
    """Yield a refusal if a limit of one error rate makes the other one too large."""
    is_first = rule.rule == "max_type_i"
    price = figures.type_2 if is_first else figures.type_1
    interval = figures.type_2_interval if is_first else figures.type_1_interval
    if rule.limit is None or price is None or price <= MAX_PRICE:
        return
    bounds = "" if interval is None else f" (95 % interval {figure(interval[0])} to {figure(interval[1])})"
    name = "type II" if is_first else "type I"
    result = "bad answers pass" if is_first else "good answers fail"
    yield Refusal(
        code=RefusalCode.PRICE_TOO_HIGH,
        text=(
            f"{rule.rule} = {rule.limit:g}: its price is {name} {figure(price)}{bounds}: {percent(price)}"
            " of the"
            f" {result}; allow more, label more answers, or take another metric"
        ),
    )


def _trivial(figures: CalibrationFigures, rule: RiskRule) -> Iterator[Refusal]:
    """Yield a refusal if a verdict without any score costs no more, on answers that had no part in it."""
    expected = figures.expected
    if expected.cost_per_1000 is None or expected.trivial_cost_per_1000 is None:
        return
    if expected.cost_per_1000 < expected.trivial_cost_per_1000:
        return
    yield Refusal(
        code=RefusalCode.TRIVIAL_RULE,
        text=(
            f"cost = {rule.cost_type_i:g}:{rule.cost_type_ii:g}: {figure(expected.cost_per_1000)} per 1,000"
            f" answers, and the trivial rule that every answer {expected.trivial_verdict} costs"
            f" {figure(expected.trivial_cost_per_1000)}; take another metric, or other costs"
        ),
    )


def _no_threshold(names: str) -> Refusal:
    return Refusal(
        code=RefusalCode.NO_THRESHOLD,
        text=f"no score of {names} divides good from bad answers; label more answers, or take another metric",
    )
