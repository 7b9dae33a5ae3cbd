"""Sequential tests that confirm a regression: is a case that failed once worse than before?"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from functools import cached_property
from math import lgamma
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:  # numpy, before the first question, only for runs that confirm a regression
    from pytest_evalstudio.stats.types import Booleans, Floats

Decision = Literal["confirmed", "not confirmed", "undecided", "open"]
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
_RATES = 199
"""Pass rates from 0.005 to 0.995 for which the level is computed."""
_BISECTIONS = 20


class RepeatTest(Protocol):
    """Sequential test of the repeats of a case.

    Attributes:
        cases: number of cases of the run that are compared.
    """

    @property
    def cases(self) -> int: ...

    def decision(self, passed: int, failed: int) -> Decision:
        """Return the decision after some repeats; "open" if more are needed."""
        ...

    def further(self, passed: int, failed: int) -> int:
        """Return the smallest number of further repeats after which a decision is possible."""
        ...


class _RepeatTest:
    """Number of further repeats, for tests that end after `max_runs`."""

    max_runs: int

    def decision(self, passed: int, failed: int) -> Decision:
        raise NotImplementedError

    def further(self, passed: int, failed: int) -> int:
        """Return the smallest number of further repeats after which a decision is possible."""
        for count in range(self.max_runs - passed - failed + 1):
            # Runs of equal results decide soonest; any mixture takes longer.
            ends = (self.decision(passed + count, failed), self.decision(passed, failed + count))
            if ends != ("open", "open"):
                return count
        return 0


@dataclass(frozen=True, kw_only=True)
class ConfirmationTest(_RepeatTest):
    """Rule for baselines with one answer per case, a mixture test.

    H0 is "the pass rate is that of an unchanged case", H1 "it is `FALLEN_RATE`".
    Under H0 the pass rate is drawn from `PASS_RATES`, given that the case passed in the baseline. The
    statistic is the ratio of the likelihoods of the repeats under H1 and H0. The regression is confirmed
    where the ratio reaches cases / `FAMILY_LEVEL`. It is not confirmed where the ratio falls to `MISS` or the
    repeats end. By Ville's inequality an unchanged case is confirmed with a probability of at most
    `FAMILY_LEVEL` / cases if the pass rates are spread as assumed. Nobody knows that: where most cases always
    pass and some are coin flips, far more unchanged runs have a confirmed regression. The rule is therefore
    a bound of the effort, not of the error; `RepeatedBaselineTest` has a bound of the error.

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
        if _is_refuted(passed, failed) or passed + failed >= self.max_runs:
            return "not confirmed"
        return "open"

    @cached_property
    def _upper(self) -> float:
        return math.log(self.cases / FAMILY_LEVEL)


@dataclass(frozen=True, kw_only=True)
class RepeatedBaselineTest(_RepeatTest):
    """Two-sample test of H0 "the pass rate is that of the baseline", where the baseline has repeats.

    The statistic is Fisher's exact p of the attempts of the baseline and the repeats so far. The regression
    is confirmed where it falls to a critical value, which is chosen so that a case whose rate has not changed
    fails in the run and is confirmed with a probability of at most `FAMILY_LEVEL` / cases, whatever its rate:
    the probability is computed exactly over all results of the baseline and all sequences of repeats, and its
    maximum over the rate is taken. At most 5 % of unchanged pairs of baseline and run have a confirmed
    regression, for every spread of pass rates. It is not confirmed where the ratio of `log_ratio` falls to
    `MISS`, or the repeats end. It is undecided where they end and p is at most `FAMILY_LEVEL` for this case
    alone: the baseline has too few repeats to tell.

    Args:
        cases: number of cases that are compared, 1 or more.
        baseline_passed, baseline_runs: attempts of the baseline.
        max_runs: largest number of repeats of a case, the first one included.
        is_single: whether the run has one answer of the case, which failed; of several, any may pass.

    Source: Boschloo, 1970 (Statistica Neerlandica 24, 1–9), for one look; here at every repeat.

    >>> test = RepeatedBaselineTest(cases=20, baseline_passed=5, baseline_runs=5)
    >>> test.decision(0, 5), test.decision(0, 6), test.decision(7, 1)
    ('open', 'confirmed', 'not confirmed')
    """

    cases: int
    baseline_passed: int
    baseline_runs: int
    max_runs: int = MAX_RUNS
    is_single: bool = True

    def decision(self, passed: int, failed: int) -> Decision:
        """Return the decision after some repeats; "open" if more are needed."""
        limit = _critical_value(self.baseline_runs, self.cases, self.max_runs, is_single=self.is_single)
        p = _fisher_p(self.baseline_passed, self.baseline_runs, passed, passed + failed)
        if passed + failed <= self.max_runs and p <= limit:
            return "confirmed"
        if _is_refuted(passed, failed):
            return "not confirmed"
        if passed + failed >= self.max_runs:
            return "undecided" if p <= FAMILY_LEVEL else "not confirmed"
        return "open"


def false_alarm_rate(cases: int, runs: int, pass_rate: float, max_runs: int = MAX_RUNS) -> float:
    """Return the exact probability that an unchanged case fails in the run and is confirmed.

    Args:
        cases: by which the critical value follows.
        runs: attempts of the baseline.
        pass_rate: of the case, in both runs.

    >>> false_alarm_rate(20, 5, 0.95) < false_alarm_rate(20, 5, 0.3) <= 0.05 / 20
    True
    """
    import numpy as np

    limit = _critical_value(runs, cases, max_runs, is_single=True)
    rates = np.asarray([pass_rate])
    return float(_confirmed(_fisher_table(runs, max_runs) <= limit, rates, is_single=True)[0])


@functools.lru_cache(maxsize=64)
def _critical_value(runs: int, cases: int, max_runs: int, *, is_single: bool) -> float:
    """Return the largest critical value of Fisher's p that keeps the level for every pass rate."""
    import numpy as np

    table = _fisher_table(runs, max_runs)
    rates = np.linspace(1 / (_RATES + 1), _RATES / (_RATES + 1), _RATES)
    low, high = -40.0, 0.0  # exponents of e
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        error = float(_confirmed(table <= math.exp(middle), rates, is_single=is_single).max())
        low, high = (middle, high) if error <= FAMILY_LEVEL / cases else (low, middle)
    return math.exp(low)


def _confirmed(is_confirmed: Booleans, rates: Floats, *, is_single: bool) -> Floats:
    """Return for each pass rate the probability that a case fails in the run and is confirmed.

    Args:
        is_confirmed: shape (runs + 1, max_runs + 1, max_runs + 1), by passes of the baseline, number of
            repeats, and passes of these.
        is_single: whether the first repeat fails, since it is the answer of the run.
    """
    import numpy as np

    runs, max_runs = is_confirmed.shape[0] - 1, is_confirmed.shape[1] - 1
    refuted = _refuted_table(max_runs)
    passes, fails = rates[:, None, None], 1 - rates[:, None, None]
    states = np.zeros((len(rates), runs + 1, max_runs + 1))  # by passes of the baseline and of the repeats
    states[:, :, 0] = 1.0
    counts = np.arange(runs + 1)
    coefficients = np.asarray([math.comb(runs, count) for count in counts], dtype=np.float64)
    binomial = coefficients * rates[:, None] ** counts * (1 - rates[:, None]) ** (runs - counts)
    confirmed = np.zeros((len(rates), runs + 1))
    for number in range(1, max_runs + 1):
        following = states * fails
        # The first repeat is the answer of the run, which has failed.
        if number > 1 or not is_single:
            following[:, :, 1:] += states[:, :, :-1] * passes
        states = following
        hits = is_confirmed[None, :, number, :]
        confirmed += (states * hits).sum(axis=2)
        # Decided states go no further.
        states = states * ~(hits | refuted[None, None, number, :])
    return np.asarray((confirmed * binomial).sum(axis=1), dtype=np.float64)


@functools.lru_cache(maxsize=16)
def _fisher_table(runs: int, max_runs: int) -> Floats:
    import numpy as np

    table = np.ones((runs + 1, max_runs + 1, max_runs + 1))
    for earlier in range(runs + 1):
        for number in range(1, max_runs + 1):
            for passed in range(number + 1):
                table[earlier, number, passed] = _fisher_p(earlier, runs, passed, number)
    return table


@functools.lru_cache(maxsize=4)
def _refuted_table(max_runs: int) -> Booleans:
    import numpy as np

    table = np.zeros((max_runs + 1, max_runs + 1), dtype=np.bool_)
    for number in range(1, max_runs + 1):
        for passed in range(number + 1):
            table[number, passed] = _is_refuted(passed, number - passed)
    return table


def _is_refuted(passed: int, failed: int) -> bool:
    return log_ratio(passed, failed) <= math.log(MISS) + _ROUNDING


def _fisher_p(base_passed: int, base_runs: int, passed: int, runs: int) -> float:
    """Return Fisher's one-sided p that the second of two samples passes less often.

    >>> round(_fisher_p(5, 5, 0, 5), 5)
    0.00397
    """
    total = base_passed + passed
    least = max(0, total - base_runs)
    ways = sum(
        math.comb(runs, count) * math.comb(base_runs, total - count) for count in range(least, passed + 1)
    )
    return ways / math.comb(base_runs + runs, total)


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


def confirmation_rates(test: RepeatTest, pass_rate: float) -> ConfirmationRates:
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
