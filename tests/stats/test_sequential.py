"""Wald's sequential test: its decisions, and its exact error rates against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pytest_evalstudio.stats.sequential import Sprt, characteristics

DESIGN = Sprt(max_runs=20, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)
LONG = Sprt(max_runs=300, p0=0.9, p1=0.7, alpha=0.05, beta=0.1)


def simulated(design: Sprt, pass_rate: float, walks: int = 20_000) -> tuple[float, float, float, float]:
    """Return shares of the ends pass, fail and open, and the mean number of repeats, of random walks."""
    rng = np.random.default_rng(7)
    draws = rng.random((walks, design.max_runs)) < pass_rate
    steps = np.where(draws, math.log(design.p1 / design.p0), math.log((1 - design.p1) / (1 - design.p0)))
    sums = np.cumsum(steps, axis=1)
    fails = sums >= math.log((1 - design.beta) / design.alpha)
    passes = sums <= math.log(design.beta / (1 - design.alpha))
    decided = fails | passes
    ends = np.where(decided.any(axis=1), decided.argmax(axis=1), design.max_runs - 1)
    at_end = np.arange(walks), ends
    passed, failed = float(passes[at_end].mean()), float(fails[at_end].mean())
    return passed, failed, 1 - passed - failed, float((ends + 1).mean())


@pytest.mark.parametrize("pass_rate", [0.5, 0.7, 0.8, 0.9, 0.99])
def test_the_exact_rates_are_those_of_simulated_walks(pass_rate):
    exact = characteristics(DESIGN, pass_rate)
    passed, failed, undecided, mean_runs = simulated(DESIGN, pass_rate)
    assert (exact.passed, exact.failed, exact.undecided) == pytest.approx(
        (passed, failed, undecided), abs=0.012
    )
    assert exact.mean_runs == pytest.approx(mean_runs, abs=0.15)
    assert exact.passed + exact.failed + exact.undecided == pytest.approx(1)


def test_an_untruncated_walk_keeps_the_sum_of_its_errors():
    """Wald: the actual errors sum to at most alpha + beta."""
    good, bad = characteristics(LONG, 0.9), characteristics(LONG, 0.7)
    assert good.failed + bad.passed <= 0.05 + 0.1
    assert good.undecided < 1e-6


def test_the_shortest_decisions_are_three_failures_and_nine_passes():
    assert (DESIGN.first_look, DESIGN.to_pass(0, 0), DESIGN.to_fail(0, 0)) == (3, 9, 3)
    assert [DESIGN.decision(*counts) for counts in ((8, 0), (9, 0), (0, 2), (0, 3))] == [
        "open",
        "pass",
        "open",
        "fail",
    ]


def test_no_decision_comes_earlier_than_announced():
    rng = np.random.default_rng(3)
    for _ in range(300):
        passed = failed = 0
        while passed + failed < 60 and DESIGN.decision(passed, failed) == "open":
            wait = DESIGN.further(passed, failed)
            assert wait > 0
            draws = rng.random(wait) < 0.8
            for step in range(1, wait):
                good = int(draws[:step].sum())
                assert DESIGN.decision(passed + good, failed + step - good) == "open"
            passed, failed = passed + int(draws.sum()), failed + wait - int(draws.sum())


@pytest.mark.parametrize(
    ("change", "fact"),
    [
        ({"p0": 0.6}, "p1 < p0"),
        ({"p0": 1.0}, "p1 < p0"),
        ({"p1": 0.0}, "p1 < p0"),
        ({"alpha": 0.5}, "below 0.5"),
        ({"beta": 0.0}, "below 0.5"),
        ({"max_runs": 2}, "max = 2 allows no decision: the first is possible after 3 repeats"),
    ],
)
def test_a_design_that_cannot_work_is_refused(change, fact):
    numbers = {"max_runs": 20, "p0": 0.9, "p1": 0.7, "alpha": 0.05, "beta": 0.1, **change}
    with pytest.raises(ValueError, match=fact):
        Sprt(**numbers)


def test_the_bounds_by_hand() -> None:
    design = Sprt(max_runs=100, p0=0.9, p1=0.8, alpha=0.05, beta=0.1)
    # log(0.1 / 0.95) / log(0.8 / 0.9) is 19.1 passes, log(0.9 / 0.05) / log(0.2 / 0.1) 4.2 failures
    assert [design.decision(passed, 0) for passed in (19, 20)] == ["open", "pass"]
    assert [design.decision(0, failed) for failed in (4, 5)] == ["open", "fail"]
