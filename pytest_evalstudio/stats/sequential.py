"""Sequential test of a pass rate: Wald's SPRT, truncated after a maximum number of repeats."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

Decision = Literal["pass", "fail", "open"]
_ROUNDING = 1e-9  # a ratio that reaches its bound exactly must not miss it by rounding


@dataclass(frozen=True, kw_only=True)
class Sprt:
    """Design of a test of H0 "the pass rate is at least p0" against H1 "it is at most p1".

    Each repeat adds ln(p1 / p0) to the log likelihood ratio if it passes, and ln((1 − p1) / (1 − p0)) if it
    fails. The test fails a case where the sum reaches ln((1 − β) / α), and passes it where the sum falls to
    ln(β / (1 − α)).

    Args:
        max_runs: repeats after which the test ends without a decision.
        p0: pass rate of a good case.
        p1: pass rate of a bad case, less than p0.
        alpha: nominal probability of failing a case of pass rate p0.
        beta: nominal probability of passing a case of pass rate p1.

    Raises:
        ValueError: if the numbers are out of range, or no decision is possible within `max_runs`.

    Source: Wald, 1945 (Annals of Mathematical Statistics 16, 117–186).

    >>> design = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    >>> design.decision(9, 0), design.decision(0, 3), design.decision(8, 1)
    ('pass', 'fail', 'open')
    """

    max_runs: int
    p0: float
    p1: float
    alpha: float
    beta: float

    def __post_init__(self) -> None:
        if not 0 < self.p1 < self.p0 < 1:
            raise ValueError(f"0 < p1 < p0 < 1 is needed, not p0 = {self.p0:g} and p1 = {self.p1:g}")
        if not (0 < self.alpha < 0.5 and 0 < self.beta < 0.5):
            raise ValueError(
                f"alpha and beta must be above 0 and below 0.5, not {self.alpha:g} and {self.beta:g}"
            )
        if self.first_look > self.max_runs:
            raise ValueError(
                f"max = {self.max_runs} allows no decision: the first is possible after {self.first_look}"
                " repeats; raise max, or alpha and beta"
            )

    @cached_property
    def first_look(self) -> int:
        """Return the smallest number of repeats after which a decision is possible."""
        return self.further(0, 0)

    def decision(self, passed: int, failed: int) -> Decision:
        """Return the decision after some repeats; "open" if more are needed."""
        ratio = self._ratio(passed, failed)
        if ratio >= self._upper - _ROUNDING:
            return "fail"
        return "pass" if ratio <= self._lower + _ROUNDING else "open"

    def to_pass(self, passed: int, failed: int) -> int:
        """Return how many further repeats must pass, without a failure between, for the decision "pass"."""
        return _steps(self._ratio(passed, failed) - self._lower, -self._step_passed)

    def to_fail(self, passed: int, failed: int) -> int:
        """Return how many further repeats must fail, without a pass between, for the decision "fail"."""
        return _steps(self._upper - self._ratio(passed, failed), self._step_failed)

    def further(self, passed: int, failed: int) -> int:
        """Return the smallest number of further repeats after which a decision is possible."""
        return min(self.to_pass(passed, failed), self.to_fail(passed, failed))

    def _ratio(self, passed: int, failed: int) -> float:
        return passed * self._step_passed + failed * self._step_failed

    @cached_property
    def _step_passed(self) -> float:
        return math.log(self.p1 / self.p0)

    @cached_property
    def _step_failed(self) -> float:
        return math.log((1 - self.p1) / (1 - self.p0))

    @cached_property
    def _upper(self) -> float:
        return math.log((1 - self.beta) / self.alpha)

    @cached_property
    def _lower(self) -> float:
        return math.log(self.beta / (1 - self.alpha))


@dataclass(frozen=True, slots=True, kw_only=True)
class Characteristics:
    """Behaviour of a truncated test for cases of one pass rate.

    Attributes:
        passed, failed, undecided: probabilities of the three ends, which sum to 1.
        mean_runs: expected number of repeats.
    """

    passed: float
    failed: float
    undecided: float
    mean_runs: float


def characteristics(design: Sprt, pass_rate: float) -> Characteristics:
    """Return the exact behaviour of a design, by dynamic programming over the truncated walk.

    Args:
        design: of the test.
        pass_rate: probability that a repeat passes, 0.0 to 1.0; the repeats are independent.

    Source: Wald, 1945; the recursion is that of Aroian, 1968 (Technometrics 10, 125–132).

    >>> design = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
    >>> good = characteristics(design, 0.9)
    >>> round(good.failed, 4), round(good.mean_runs, 2)
    (0.0228, 14.51)
    """
    open_states = {0: 1.0}  # number of failures to probability
    passed = failed = mean_runs = 0.0
    for runs in range(1, design.max_runs + 1):
        mean_runs += math.fsum(open_states.values())
        following: dict[int, float] = {}
        for failures, probability in _next_states(open_states, pass_rate):
            match design.decision(runs - failures, failures):
                case "pass":
                    passed += probability
                case "fail":
                    failed += probability
                case _:
                    following[failures] = following.get(failures, 0.0) + probability
        open_states = following
    undecided = math.fsum(open_states.values())
    return Characteristics(passed=passed, failed=failed, undecided=undecided, mean_runs=mean_runs)


def _next_states(states: dict[int, float], pass_rate: float) -> Iterator[tuple[int, float]]:
    for failures, probability in states.items():
        yield failures, probability * pass_rate
        yield failures + 1, probability * (1 - pass_rate)


def _steps(distance: float, step: float) -> int:
    return max(0, math.ceil((distance - _ROUNDING) / step))
