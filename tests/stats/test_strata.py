"""Estimates from stratified samples: against hand calculation, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_evalstudio.contrib.tables.figures.estimates import mean_of, pass_share_of, percentile_of
from pytest_evalstudio.contrib.tables.scored_record import (
    MetricAggregate,
    Sampling,
    ScoredStratum,
    StratumMoments,
)
from pytest_evalstudio.contrib.tables.sketches import sketch_of
from pytest_evalstudio.stats.intervals import student_quantile
from pytest_evalstudio.stats.strata import SampledStratum, allocate, stratified_mean, weighted_quantiles


def test_a_stratified_mean_is_cochrans() -> None:
    """Two strata: mean = Σ W_h ȳ_h, variance = Σ W_h² (1 - f_h) s_h² / n_h."""
    strata = [
        SampledStratum(population=100, sample=10, n=10, mean=2.0, m2=9.0),
        SampledStratum(population=300, sample=30, n=30, mean=4.0, m2=58.0),
    ]
    estimate = stratified_mean(strata)
    assert estimate is not None
    assert estimate.mean == pytest.approx(3.5)
    variance = (0.25**2) * 0.9 * (9 / 9) / 10 + (0.75**2) * 0.9 * (58 / 29) / 30
    assert estimate.standard_error == pytest.approx(math.sqrt(variance))
    assert estimate.degrees == 38


def test_a_stratum_that_is_sampled_whole_adds_no_error() -> None:
    census = [SampledStratum(population=10, sample=10, n=10, mean=2.0, m2=9.0)]
    estimate = stratified_mean(census)
    assert estimate is not None
    assert estimate.standard_error == 0.0


def test_no_rows_give_no_estimate() -> None:
    assert stratified_mean([SampledStratum(population=10, sample=5, n=0, mean=0.0, m2=0.0)]) is None


@pytest.mark.parametrize("degrees", [1, 2, 3, 5, 12, 200])
def test_quantiles_are_students(degrees: int) -> None:
    from scipy.stats import t

    for share in (0.9, 0.975, 0.995):
        assert student_quantile(share, degrees) == pytest.approx(t.ppf(share, degrees), rel=0.015)


SIZES = (4_000, 1_000, 200)


def aggregate_of(values: list[np.ndarray], domains: list[np.ndarray]) -> MetricAggregate:
    """Return the aggregate of the rows of a domain in the samples of three strata."""
    strata = []
    for index, (sample, is_in) in enumerate(zip(values, domains, strict=True)):
        in_domain = sample[is_in]
        mean = float(in_domain.mean()) if len(in_domain) else 0.0
        passed = int((in_domain >= 0.5).sum())
        strata.append(
            StratumMoments(
                stratum=index,
                n=len(in_domain),
                mean=mean,
                m2=float(((in_domain - mean) ** 2).sum()),
                passed=passed,
                failed=len(in_domain) - passed,
                sketch=sketch_of(in_domain),
            )
        )
    return MetricAggregate(
        evaluator="e",
        metric="m",
        model="x",
        better="higher",
        scored=sum(each.n for each in strata),
        passed=sum(each.passed for each in strata),
        failed=sum(each.failed for each in strata),
        weight=1.0,
        min=0.0,
        max=2.0,
        strata=tuple(strata),
    )


@pytest.mark.parametrize("sample_sizes", [(24, 8, 4), (60, 60, 60)], ids=["proportional", "equal"])
@pytest.mark.parametrize("share_of_domain", [1.0, 0.4])
def test_intervals_cover_the_true_value_in_95_of_100_samples(
    sample_sizes: tuple[int, ...], share_of_domain: float
) -> None:
    """1,500 samples of a population with three different strata; the standard error is 0.6 points."""
    random = np.random.default_rng(7)
    population = [
        random.beta(*shape, size) for shape, size in zip([(2, 2), (5, 2), (1, 3)], SIZES, strict=True)
    ]
    domains = [random.random(size) < share_of_domain for size in SIZES]
    domain_values = np.concatenate([p[d] for p, d in zip(population, domains, strict=True)])
    truth, true_share = float(domain_values.mean()), float((domain_values >= 0.5).mean())
    sampling = Sampling(
        seed=0,
        size=sum(sample_sizes),
        by=("s",),
        strata=tuple(
            ScoredStratum(values=(str(i),), population=size, sample=n)
            for i, (size, n) in enumerate(zip(SIZES, sample_sizes, strict=True))
        ),
    )
    covered = np.zeros(2)
    rounds = 1_500
    for _ in range(rounds):
        rows = [random.choice(size, n, replace=False) for size, n in zip(SIZES, sample_sizes, strict=True)]
        aggregate = aggregate_of(
            [p[r] for p, r in zip(population, rows, strict=True)],
            [d[r] for d, r in zip(domains, rows, strict=True)],
        )
        for index, (figure, value) in enumerate(
            ((mean_of(aggregate, sampling), truth), (pass_share_of(aggregate, sampling), true_share))
        ):
            assert figure.interval is not None
            covered[index] += figure.interval[0] <= value <= figure.interval[1]
    assert (covered / rounds > 0.93).all(), covered / rounds
    assert (covered / rounds < 0.98).all(), covered / rounds


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(1, 50)), min_size=1, max_size=40),
    st.lists(st.floats(0.001, 0.999), min_size=1, max_size=4),
)
def test_weighted_quantiles_are_those_of_numpy(rows: list[tuple[float, int]], shares: list[float]) -> None:
    values = np.array([value for value, _ in rows])
    weights = np.array([weight for _, weight in rows], dtype=float)

    quantiles = weighted_quantiles(values, weights, shares)

    assert list(quantiles) == np.quantile(values, shares, weights=weights, method="inverted_cdf").tolist()


def test_the_interval_of_a_percentile_covers_that_of_all_rows() -> None:
    """Two strata of 900 and 100 rows of which 40 are drawn each: the 70th percentile, 400 times."""
    rng = np.random.default_rng(5)
    strata = rng.normal(0.0, 1.0, 900), rng.normal(2.0, 1.0, 100)
    true = np.quantile(np.concatenate(strata), 0.7, method="inverted_cdf")
    sampling = Sampling(
        seed=0,
        size=80,
        by=("part",),
        strata=tuple(
            ScoredStratum(values=(str(i),), population=len(s), sample=40) for i, s in enumerate(strata)
        ),
    )
    covered = 0
    for _ in range(400):
        samples = [rng.choice(stratum, 40, replace=False) for stratum in strata]
        moments = tuple(
            StratumMoments(stratum=i, n=40, mean=0.0, m2=0.0, passed=0, failed=0, sketch=sketch_of(values))
            for i, values in enumerate(samples)
        )
        aggregate = MetricAggregate(
            evaluator="e",
            metric="m",
            model="m",
            better="higher",
            scored=80,
            sketch=sketch_of(np.concatenate(samples)),
            strata=moments,
        )
        low, high = percentile_of(aggregate, 0.7, sampling).interval or (0.0, 0.0)
        covered += low <= true <= high
    assert 0.92 <= covered / 400 <= 0.985


@pytest.mark.parametrize(
    ("weights", "sizes"), [({"a": 0, "b": 1}, {"a": 9, "b": 3}), ({"a": 1, "b": 1}, {"a": 0, "b": 3})]
)
def test_a_stratum_without_weight_or_members_gets_no_rows(
    weights: dict[str, int], sizes: dict[str, int]
) -> None:
    assert allocate(5, weights, sizes) == {"a": 0, "b": 3}


@pytest.mark.parametrize(
    ("count", "weights", "expected"),
    [
        (10, {"a": 1, "b": 1, "c": 1}, {"a": 4, "b": 3, "c": 3}),
        (8, {"a": 5, "b": 3, "c": 2}, {"a": 4, "b": 2, "c": 2}),  # 4.0, 2.4, 1.6
    ],
)
def test_the_largest_remainders_get_the_rest(
    count: int, weights: dict[str, int], expected: dict[str, int]
) -> None:
    assert allocate(count, weights, dict.fromkeys(weights, 99)) == expected
