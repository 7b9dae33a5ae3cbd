"""Means, percentiles and shares of passes of aggregates, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import msgspec
import numpy as np

from pytest_evalstudio.contrib.tables.scored_record import MetricAggregate, Sampling, StratumMoments
from pytest_evalstudio.contrib.tables.sketches import percentiles, values_of
from pytest_evalstudio.stats.intervals import student_quantile, wilson_interval
from pytest_evalstudio.stats.strata import Estimate, SampledStratum, stratified_mean, weighted_quantiles
from pytest_evalstudio.stats.types import LEVEL, Floats, Interval

_Z = 1.959964  # normal quantile of a 95 % interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of all rows, estimated where only a sample was scored.

    Attributes:
        n: number of scored rows that it rests on.
        value: None without rows.
        interval: 95 %; None where there is none, e.g. of a single row or a model-wide figure.
    """

    n: int
    value: float | None
    interval: Interval | None


def mean_of(
    aggregate: MetricAggregate,
    sampling: Sampling | None = None,
    limits: Interval = (-math.inf, math.inf),
) -> Figure:
    """Return the mean of a metric, or its model-wide figure where it has one.

    Args:
        aggregate: scores of the metric.
        sampling: of the table.
        limits: range of the metric, where the interval is cut.

    Without a sample the rows are taken as draws from everything that the model might answer: Student's
    interval, Wilson's where all values are 0 or 1. With a sample the interval is for the mean of all rows of
    the sources, so that it is a point where all of them were scored.
    """
    n = aggregate.scored - aggregate.infinite
    if not n:
        return Figure(n=0, value=None, interval=None)
    # A figure that equals the mean of the rows, such as accuracy, has the interval of that mean.
    if aggregate.figure is not None and not math.isclose(aggregate.figure, aggregate.mean, abs_tol=1e-9):
        return Figure(n=n, value=aggregate.figure, interval=None)
    if sampling is None:
        return _cut(Figure(n=n, value=aggregate.mean, interval=_interval(aggregate, n)), limits)
    estimate = stratified_mean([_sampled(each, sampling) for each in aggregate.strata])
    return _cut(_figure(n, estimate, is_share=_is_binary(aggregate)), limits)


def pass_share_of(aggregate: MetricAggregate, sampling: Sampling | None = None) -> Figure:
    """Return the share of passes among the rows for which a threshold decides."""
    n = aggregate.passed + aggregate.failed
    if not n:
        return Figure(n=0, value=None, interval=None)
    if sampling is None:
        return Figure(n=n, value=aggregate.passed / n, interval=wilson_interval(aggregate.passed, n))
    estimate = stratified_mean([_sampled(_passes(each), sampling) for each in aggregate.strata])
    return _figure(n, estimate, is_share=True)


def percentile_of(aggregate: MetricAggregate, share: float, sampling: Sampling | None = None) -> Figure:
    """Return a percentile of the finite values, with the values at the ends of the interval of its rank.

    The rank's interval is binomial, by the normal approximation. With a sample the rows have their weights,
    and the rank's standard error is that of a stratified share.

    Args:
        share: from 0.0 to 1.0.
        sampling: of the table.

    Source: Woodruff, 1952 (Journal of the American Statistical Association 47, 635–646).
    """
    n = aggregate.scored - aggregate.infinite
    if not n or not aggregate.sketch:
        return Figure(n=0, value=None, interval=None)
    error = math.sqrt(share * (1 - share) / n)
    half_width = _Z * error
    if sampling is not None:
        (value,) = percentiles_of(aggregate, [share], sampling)
        estimate = stratified_mean([_up_to(value, each, sampling) for each in aggregate.strata])
        if estimate is not None:
            half_width = student_quantile(0.5 + LEVEL / 2, estimate.degrees) * estimate.standard_error
    shares = (max(0.0, share - half_width), share, min(1.0, share + half_width))
    low, value, high = percentiles_of(aggregate, shares, sampling)
    return Figure(n=n, value=value, interval=(low, high))


def percentiles_of(
    aggregate: MetricAggregate, shares: Sequence[float], sampling: Sampling | None = None
) -> tuple[float, ...]:
    """Return the values below which these shares of the rows are, weighted in a sample; () without values."""
    if sampling is None:
        return percentiles(aggregate.sketch, shares)
    weighted = [_weighted(each, sampling) for each in aggregate.strata if each.n]
    if not weighted:
        return ()
    values = np.concatenate([each.values for each in weighted])
    weights = np.concatenate([np.full(len(each.values), each.weight) for each in weighted])
    return weighted_quantiles(values, weights, shares)


class _Weighted(NamedTuple):
    """Values of a stratum, and the number of rows that each of them stands for."""

    values: Floats
    weight: float


def _weighted(moments: StratumMoments, sampling: Sampling) -> _Weighted:
    stratum = sampling.strata[moments.stratum]
    values = values_of(moments.sketch)
    # Of the sampled rows, n have a value, and the points of the sketch stand for these.
    return _Weighted(values, stratum.population / stratum.sample * moments.n / len(values))


def _up_to(value: float, moments: StratumMoments, sampling: Sampling) -> SampledStratum:
    """Return the moments of 1 for each row of a stratum up to a value, and 0 for the others."""
    n = moments.n
    share = float((values_of(moments.sketch) <= value).mean()) if n else 0.0
    return _sampled(msgspec.structs.replace(moments, mean=share, m2=n * share * (1 - share)), sampling)


def _cut(figure: Figure, limits: Interval) -> Figure:
    if figure.interval is None:
        return figure
    low, high = figure.interval
    return replace(figure, interval=(max(low, limits[0]), min(high, limits[1])))


def _interval(aggregate: MetricAggregate, n: int) -> Interval | None:
    if _is_binary(aggregate):
        # The mean times n is a whole number up to rounding.
        return wilson_interval(min(n, max(0, round(aggregate.mean * n))), n)
    if n < 2:
        return None
    error = math.sqrt(max(0.0, aggregate.m2) / (n - 1) / n)
    half_width = student_quantile(0.5 + LEVEL / 2, n - 1) * error
    return aggregate.mean - half_width, aggregate.mean + half_width


def _is_binary(aggregate: MetricAggregate) -> bool:
    """Return True if all values are 0 or 1: then their variance follows from their mean, and only then."""
    if aggregate.min is None or aggregate.max is None or aggregate.min < 0 or aggregate.max > 1:
        return False
    expected = aggregate.weight * aggregate.mean * (1 - aggregate.mean)
    return math.isclose(aggregate.m2, expected, rel_tol=1e-9, abs_tol=1e-9)


def _figure(n: int, estimate: Estimate | None, *, is_share: bool) -> Figure:
    if estimate is None:
        return Figure(n=n, value=None, interval=None)
    mean, error = estimate.mean, estimate.standard_error
    if is_share and error > 0:
        # Wilson's interval for the number of independent rows that would give this standard error.
        effective = max(1, round(mean * (1 - mean) / error**2))
        return Figure(n=n, value=mean, interval=wilson_interval(min(effective, mean * effective), effective))
    half_width = student_quantile(0.5 + LEVEL / 2, estimate.degrees) * error
    return Figure(n=n, value=mean, interval=(mean - half_width, mean + half_width))


def _sampled(moments: StratumMoments, sampling: Sampling) -> SampledStratum:
    stratum = sampling.strata[moments.stratum]
    return SampledStratum(
        population=stratum.population,
        sample=stratum.sample,
        n=moments.n,
        mean=moments.mean,
        m2=moments.m2,
    )


def _passes(moments: StratumMoments) -> StratumMoments:
    """Return the moments of 1 for each pass and 0 for each failure of a stratum."""
    n = moments.passed + moments.failed
    mean = moments.passed / n if n else 0.0
    return msgspec.structs.replace(moments, n=n, mean=mean, m2=n * mean * (1 - mean))
