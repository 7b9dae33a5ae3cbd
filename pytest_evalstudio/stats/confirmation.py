"""Sequential test that confirms a regression: is a case that failed once worse than unchanged cases are?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import Literal

from msgspec import Struct

Decision = Literal["confirmed", "not confirmed", "open"]
MAX_RUNS = 50  # bounds what one case can cost
FAMILY_LEVEL = 0.05
FALLEN_RATE = 0.3  # the drop that is worth a confirmation: a case that mostly fails
PASS_RATES = (9.5, 0.5)
"""Beta distribution of the pass rates of unchanged cases: mean 0.95, standard deviation 0.066.

Rates that are spread less widely, e.g. as Beta(19, 1) or 0.95 for all, give fewer false alarms.
"""
MEAN_PASS_RATE = PASS_RATES[0] / sum(PASS_RATES)
MISS = 0.05
_ROUNDING = 1e-9


@dataclass(frozen=True, kw_only=True)
class ConfirmationTest:
    """Mixture test of H0 "the pass rate is that of an unchanged case" against H1 "it is `FALLEN_RATE`".

    Under H0 the pass rate is drawn from `PASS_RATES`, given that the case passed in the baseline. The
    statistic is the ratio of the likelihoods of the repeats under H1 and H0. The regression is confirmed
    where the ratio reaches cases / `FAMILY_LEVEL`. It is not confirmed where the ratio falls to `MISS` or the
    repeats end. By Ville's inequality an unchanged case is confirmed with a probability of at most
    `FAMILY_LEVEL` / cases, so that at most 5 % of unchanged runs have a confirmed regression. Cases that pass
    less often than assumed have more.

    Args:
        cases: number of cases that could regress, 1 or more.
        max_runs: largest number of repeats of a case, the first one included.

    Source: Wald, 1945; mixtures by Robbins, 1970 (Annals of Mathematical Statistics 41, 1397–1409).

    >>> test = ConfirmationTest(cases=50)
    >>> test.decision(0, 4), test.decision(0, 5), test.decision(4, 1), test.decision(7, 1)
    ('open', 'confirmed', 'open', 'not confirmed')
    """

    cases: int
    max_runs: int = MAX_RUNS

    def __post_init__(self) -> None:
        if self.cases < 1 or self.max_runs < 1:
            raise ValueError(f"cases and max_runs must be 1 or more, not {self.cases} and {self.max_runs}")

    def decision(self, passed: int, failed: int) -> Decision:
        """Return the decision after some repeats; "open" if more are needed."""
        ratio = log_ratio(passed, failed)
        if ratio >= self._upper - _ROUNDING:
            return "confirmed"
        if ratio <= math.log(MISS) + _ROUNDING or passed + failed >= self.max_runs:
            return "not confirmed"
        return "open"

    def further(self, passed: int, failed: int) -> int:
        """Return the smallest number of further repeats after which a decision is possible."""
        for count in range(self.max_runs - passed - failed + 1):
            ends = (self.decision(passed + count, failed), self.decision(passed, failed + count))
            if ends != ("open", "open"):
                return count
        return 0

    @cached_property
    def _upper(self) -> float:
        return math.log(self.cases / FAMILY_LEVEL)


def log_ratio(passed: int, failed: int) -> float:
    """Return the logarithm of the likelihood of some repeats under H1, divided by that under H0.

    Args:
        passed: number of repeats that passed, 0 or more.
        failed: number of repeats that failed, 0 or more.

    >>> round(log_ratio(0, 1), 2), round(log_ratio(1, 0), 2)
    (2.73, -1.16)
    """
    a, b = PASS_RATES[0] + 1, PASS_RATES[1]  # the case passed in the baseline
    fallen = passed * math.log(FALLEN_RATE) + failed * math.log(1 - FALLEN_RATE)
    return fallen - (_log_beta(a + passed, b + failed) - _log_beta(a, b))


class ConfirmationRates(Struct, frozen=True, kw_only=True):
    """Behaviour of a test for cases of one pass rate whose first answer failed.

    Attributes:
        confirmed: probability that the regression is confirmed.
        mean_runs: expected number of repeats, the first one included.
    """

    confirmed: float
    mean_runs: float


def confirmation_rates(test: ConfirmationTest, pass_rate: float) -> ConfirmationRates:
    """Return the exact behaviour of a test, by dynamic programming over the repeats.

    Args:
        test: the design.
        pass_rate: probability that a repeat passes, 0.0 to 1.0; the repeats are independent.

    >>> rates = confirmation_rates(ConfirmationTest(cases=50), 0.3)
    >>> round(rates.confirmed, 3)
    0.99
    """
    confirmed = mean_runs = 0.0
    open_states = {1: 1.0}  # number of failures to probability
    runs = 1
    while open_states:
        following: dict[int, float] = {}
        for failures, probability in open_states.items():
            decision = test.decision(runs - failures, failures)
            if decision == "open":
                following[failures] = following.get(failures, 0.0) + probability * pass_rate
                following[failures + 1] = following.get(failures + 1, 0.0) + probability * (1 - pass_rate)
                continue
            confirmed += probability * (decision == "confirmed")
            mean_runs += probability * runs
        open_states = following
        runs += 1
    return ConfirmationRates(confirmed=confirmed, mean_runs=mean_runs)


def _log_beta(a: float, b: float) -> float:
    return lgamma(a) + lgamma(b) - lgamma(a + b)
