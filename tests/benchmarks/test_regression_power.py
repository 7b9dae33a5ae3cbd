"""The interval of a difference holds its coverage; see the script for more sizes and drops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from tests.benchmarks import regression_power
from tests.benchmarks.regression_power import DRAWS, coverage, enumerated


@pytest.mark.slow
@pytest.mark.parametrize("name", list(DRAWS)[:2])
def test_intervals_hold_yes_no_drops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression_power, "SIZES", (3, 10, 60, 100))
    assert coverage(name, DRAWS[name], count=500, largest=100)


@pytest.mark.slow
def test_intervals_hold_rare_large_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regression_power, "SIZES", (3, 10, 60))
    monkeypatch.setattr(regression_power, "DROPS", (0.05, 0.2))
    name = "continuous, rare falls of 0.8"
    assert coverage(name, DRAWS[name], count=200, largest=60)


@pytest.mark.slow
def test_the_error_over_all_outcomes_is_within_its_level() -> None:
    assert enumerated(20)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "falls", "rises", "target"), [(100, 0.12, 0.02, 0.82), (400, 0.07, 0.02, 0.93)]
)
def test_the_power_over_all_outcomes_is_as_stated(
    cases: int, falls: float, rises: float, target: float
) -> None:
    power = 0.0
    for moved in range(cases + 1):
        share = stats.binom.pmf(moved, cases, falls + rises)
        counts = [count for count in range(moved + 1) if p_of(moved, count) <= 0.05]
        power += share * stats.binom.sf(min(counts) - 1, moved, falls / (falls + rises)) if counts else 0.0
    assert power > target


def p_of(moved: int, falls: int) -> float:
    return sign_flip_drop(np.repeat([-1.0, 1.0], [falls, moved - falls]))


@pytest.mark.slow
def test_an_interval_without_width_would_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """The targets fail for the interval [0, 0] of equal pairs."""
    monkeypatch.setattr(regression_power, "SIZES", (10,))
    monkeypatch.setattr(
        "pytest_evalstudio.analysis.comparison.metrics.gain_interval",
        lambda sums, counts, **_: (float(sums.sum() / counts.sum()) - 1e-3, 1.0),
    )
    regression_power._compared.cache_clear()
    name = "yes/no, cases only fall"
    assert not coverage(name, DRAWS[name], count=100, largest=10)
    regression_power._compared.cache_clear()
