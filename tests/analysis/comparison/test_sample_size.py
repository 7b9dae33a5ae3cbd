"""Numbers of cases against a search through all numbers."""

from __future__ import annotations

import math
from statistics import NormalDist

import pytest

from pytest_evalstudio.analysis.comparison.intervals import LOWER_ERROR
from pytest_evalstudio.analysis.comparison.sample_size import POWER, cases_needed

NORMAL = NormalDist()


def least_number(gain: float, deviation: float, extreme: float) -> int:
    """Return the first number of cases whose lower limit stays above 0 with 80 % power, by trying each."""
    level, power = NORMAL.inv_cdf(1 - LOWER_ERROR), NORMAL.inv_cdf(POWER)
    number = math.ceil(math.log(LOWER_ERROR) / math.log1p(-min(gain / extreme, 1.0 - 1e-12)))
    while True:
        spread = deviation / math.sqrt(number)
        margin = extreme / number + level * math.hypot(spread, extreme / number) + power * spread
        if margin <= gain:
            return number
        number += 1


@pytest.mark.parametrize("deviation", [0.05, 0.1, 0.2, 0.35, 0.5, 0.7])
@pytest.mark.parametrize("distance", [0.03, 0.07, 0.13, 0.4])
def test_the_number_is_the_least_one(deviation: float, distance: float) -> None:
    number = cases_needed(0.0, deviation, 1, tolerance=distance, extreme=1.0, tests=1)
    assert number == least_number(distance, deviation, 1.0)


@pytest.mark.parametrize(("tests", "expected"), [(1, 56), (2, 71)])
def test_a_drop_is_settled_by_a_test_with_80_percent_power(tests: int, expected: int) -> None:
    """((z of 1 - 0.05 / tests) + (z of 0.8)) * deviation / drop, squared and rounded up."""
    assert cases_needed(-0.1, 0.3, 10, tolerance=0.05, extreme=1.0, tests=tests) == expected
