"""Share of good answers from the verdicts of a judge whose errors were measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct

from pytest_evalstudio.stats.clustered import ClusteredShare, clustered_share
from pytest_evalstudio.stats.intervals import student_quantile
from pytest_evalstudio.stats.types import LEVEL, Interval

MIN_CLUSTERS = 2
"""A judge's error rate needs labelled answers to so many questions."""


class Uncorrectable(StrEnum):
    """Reason why a share cannot be corrected."""

    NONE = ""
    TOO_FEW_LABELS = "too_few_labels"
    """Too few answers were labelled good, or bad."""
    NOT_DISCRIMINATING = "not_discriminating"
    """The verdicts on good and on bad answers may be the same."""
    OUT_OF_RANGE = "out_of_range"
    """No share of good answers gives the observed share of passes with these errors."""


class JudgeErrors(Struct, frozen=True, kw_only=True):
    """Errors of a judge on labelled answers.

    Attributes:
        sensitivity: good answers that pass, of all good ones.
        specificity: bad answers that fail, of all bad ones.
        covariance: of the two shares, where questions have good answers and bad ones.
    """

    sensitivity: ClusteredShare
    specificity: ClusteredShare
    covariance: float = 0.0


class Corrected(Struct, frozen=True, kw_only=True):
    """Corrected share.

    Attributes:
        value: 0.0 to 1.0; None if it cannot be computed.
        interval: lower and upper bound; None with `value`.
        reason: why there is none.
    """

    value: float | None = None
    interval: Interval | None = None
    reason: Uncorrectable = Uncorrectable.NONE


def judge_errors(
    good: Sequence[int], good_passed: Sequence[int], bad: Sequence[int], bad_passed: Sequence[int]
) -> JudgeErrors:
    """Return the errors of a judge.

    Args:
        good, bad: number of answers with this label, one number per question.
        good_passed, bad_passed: number of those among them that pass.

    >>> errors = judge_errors([1, 1, 0, 1], [1, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1])
    >>> round(errors.sensitivity.value, 3), errors.specificity.value
    (0.667, 0.5)
    """
    failed = [total - passed for total, passed in zip(bad, bad_passed, strict=True)]
    sensitivity, specificity = clustered_share(good_passed, good), clustered_share(failed, bad)
    covariance = 0.0
    if sensitivity.value is not None and specificity.value is not None:
        products = (
            (hits - sensitivity.value * total) * (hits_bad - specificity.value * total_bad)
            for hits, total, hits_bad, total_bad in zip(good_passed, good, failed, bad, strict=True)
        )
        count = max(2, len(good))
        covariance = math.fsum(products) / (sensitivity.total * specificity.total) * count / (count - 1)
    return JudgeErrors(sensitivity=sensitivity, specificity=specificity, covariance=covariance)


def corrected_share(passed: ClusteredShare, errors: JudgeErrors, *, level: float = LEVEL) -> Corrected:
    """Return the share of good answers among those that a judge has passed or failed.

    value = (passed + specificity − 1) / (sensitivity + specificity − 1), cut at 0 and 1. The interval holds
    the shares p for which `passed` agrees with p·sensitivity + (1 − p)·(1 − specificity), given the variance
    of all three (Fieller). Pseudo-counts as in the interval of Lang and Reiczigel keep variances above zero;
    quantiles are Student's with the number of questions less one.

    It assumes that the judge errs on these answers as often as on the labelled ones.

    Args:
        passed: verdicts of the judge.
        errors: measured on labelled answers, other than these or the same.
        level: coverage, between 0 and 1.

    Source: Rogan and Gladen, 1978 (American Journal of Epidemiology 107, 71–76); Fieller, 1954 (JRSS B 16,
        175–185); Lang and Reiczigel, 2014 (Preventive Veterinary Medicine 113, 13–22).

    >>> errors = judge_errors([1] * 100, [1] * 90 + [0] * 10, [0] * 100, [0] * 100)
    >>> corrected_share(clustered_share([1] * 7 + [0] * 3, [1] * 10), errors).reason
    <Uncorrectable.TOO_FEW_LABELS: 'too_few_labels'>
    >>> good, bad = [1] * 100 + [0] * 100, [0] * 100 + [1] * 100
    >>> errors = judge_errors(good, [1] * 90 + [0] * 110, bad, [0] * 180 + [1] * 20)
    >>> rate = corrected_share(clustered_share([1] * 70 + [0] * 30, [1] * 100), errors)
    >>> round(rate.value, 4), [round(bound, 2) for bound in rate.interval]
    (0.7143, [0.56, 0.86])
    """
    hits, rejections = errors.sensitivity, errors.specificity
    if passed.value is None or hits.value is None or rejections.value is None:
        return Corrected(reason=Uncorrectable.TOO_FEW_LABELS)
    if min(hits.clusters, rejections.clusters) < MIN_CLUSTERS:
        return Corrected(reason=Uncorrectable.TOO_FEW_LABELS)
    quantile = student_quantile(0.5 + level / 2, max(1, passed.clusters - 1))
    observed, spread = _adjusted(passed, quantile, quantile * quantile / 2)
    sensitivity, spread_hits = _adjusted(hits, _quantile(hits, level), 1.0)
    specificity, spread_rejections = _adjusted(rejections, _quantile(rejections, level), 1.0)
    limit = math.sqrt(spread_hits * spread_rejections)
    shared = max(
        -limit,
        min(limit, errors.covariance * _quantile(hits, level) * _quantile(rejections, level)),
    )
    youden, excess = sensitivity + specificity - 1, observed + specificity - 1
    square = youden**2 - spread_hits - spread_rejections - 2 * shared
    slope = -2 * youden * excess + 2 * spread_rejections + 2 * shared
    constant = excess**2 - spread - spread_rejections
    if square <= 0 or youden <= 0:
        return Corrected(reason=Uncorrectable.NOT_DISCRIMINATING)
    root = math.sqrt(max(0.0, slope**2 - 4 * square * constant))
    low, high = (-slope - root) / (2 * square), (-slope + root) / (2 * square)
    if high < 0 or low > 1:
        return Corrected(reason=Uncorrectable.OUT_OF_RANGE)
    raw = hits.value + rejections.value - 1
    value = (passed.value + rejections.value - 1) / raw if raw > 0 else 0.0
    interval = (max(0.0, low), min(1.0, high))
    return Corrected(value=min(interval[1], max(interval[0], min(1.0, max(0.0, value)))), interval=interval)


def _quantile(share: ClusteredShare, level: float) -> float:
    return student_quantile(0.5 + level / 2, max(1, share.clusters - 1))


def _adjusted(share: ClusteredShare, quantile: float, pseudo: float) -> tuple[float, float]:
    """Return a share with pseudo-counts of both kinds, and the square of its half width."""
    total = share.effective + 2 * pseudo
    value = ((share.value or 0.0) * share.effective + pseudo) / total
    return value, quantile**2 * value * (1 - value) / total
