"""False alarms and power of the confirmation of regressions, by simulated runs.

usage: python tests/benchmarks/confirmation.py [--runs 2000]

A case passes each time with a probability of its own, in the baseline as in the run. Cases that passed in
the baseline and fail in the run are asked again. Prints for baselines with one answer of each case and with
repeats, and for several populations of pass rates, the share of unchanged pairs of baseline and run with a
regression, without and with confirmation, and the questions; then the share of cases fallen from 0.95 to 0.3
or to 0 that are confirmed.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass

from pytest_evalstudio.stats.confirmation import ConfirmationTest, Decision, RepeatedBaselineTest, RepeatTest

FALLEN = (0.3, 0.0)
SIZES = (20, 60, 200)
REPEATS = (1, 5, 10)
Rate = Callable[[random.Random], float]
POPULATIONS: dict[str, Rate] = {
    "0.95 for all": lambda draw: 0.95,
    "Beta(19, 1)": lambda draw: draw.betavariate(19, 1),
    "Beta(9.5, 0.5)": lambda draw: draw.betavariate(9.5, 0.5),
    "Beta(4, 1)": lambda draw: draw.betavariate(4, 1),
    "90 % always, 10 % coin flips": lambda draw: 1.0 if draw.random() < 0.9 else 0.5,
    "80 % always, 20 % with 0.3": lambda draw: 1.0 if draw.random() < 0.8 else 0.3,
}


@dataclass
class Ends:
    """Number of runs or cases, and of those that were confirmed.

    Attributes:
        undecided: those that fail without being confirmed, since the repeats end.
        questions: questions that were asked again.
    """

    total: int = 0
    regressed: int = 0
    confirmed: int = 0
    undecided: int = 0
    questions: int = 0


def test_of(cases: int, passed: int, repeats: int) -> RepeatTest:
    """Return the test of a case with so many passes of its repeats in the baseline."""
    if repeats == 1:
        return ConfirmationTest(cases=cases)
    return RepeatedBaselineTest(cases=cases, baseline_passed=passed, baseline_runs=repeats)


def asked_again(test: RepeatTest, pass_rate: float, draw: random.Random) -> tuple[Decision, int]:
    """Return the end of the test of a case that failed once, and how often it was asked again."""
    passed, failed = 0, 1
    while test.decision(passed, failed) == "open":
        if draw.random() < pass_rate:
            passed += 1
        else:
            failed += 1
    return test.decision(passed, failed), passed + failed - 1


def unchanged_runs(cases: int, runs: int, rate_of: Rate, repeats: int = 1) -> Ends:
    """Simulate pairs of a baseline and a run in which nothing has changed."""
    ends, draw = Ends(), random.Random(cases)
    for _ in range(runs):
        confirmed = regressed = undecided = False
        for rate in [rate_of(draw) for _ in range(cases)]:
            passed = sum(draw.random() < rate for _ in range(repeats))
            if 2 * passed < repeats or draw.random() < rate:
                continue  # failed in the baseline, or passes in the run
            regressed = True
            decision, count = asked_again(test_of(cases, passed, repeats), rate, draw)
            confirmed |= decision == "confirmed"
            undecided |= decision == "undecided"
            ends.questions += count
        ends.total += 1
        ends.regressed += regressed
        ends.confirmed += confirmed
        ends.undecided += undecided and not confirmed
    return ends


def fallen_cases(cases: int, runs: int, repeats: int = 1, fallen: float = FALLEN[0]) -> Ends:
    """Simulate single cases that fell from 0.95 and fail."""
    ends, draw = Ends(), random.Random(cases)
    while ends.total < runs:
        passed = sum(draw.random() < 0.95 for _ in range(repeats))
        if 2 * passed < repeats:
            continue
        decision, count = asked_again(test_of(cases, passed, repeats), fallen, draw)
        ends.total += 1
        ends.confirmed += decision == "confirmed"
        ends.undecided += decision == "undecided"
        ends.questions += count
    return ends


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    for repeats in REPEATS:
        print(f"baseline with {repeats} answers of each case")
        for name, rate_of in POPULATIONS.items():
            for cases in SIZES:
                ends = unchanged_runs(cases, runs, rate_of, repeats)
                print(
                    f"  {cases:>3} cases, {name}: {ends.regressed / ends.total:.1%} of unchanged runs have a"
                    f" regression, {ends.confirmed / ends.total:.1%} a confirmed one,"
                    f" {ends.undecided / ends.total:.1%} an undecided one;"
                    f" {ends.questions / ends.total:.1f} more questions"
                )
        for cases in SIZES:
            for fallen in FALLEN:
                ends = fallen_cases(cases, runs, repeats, fallen)
                print(
                    f"  {cases:>3} cases, one fell from 0.95 to {fallen}: {ends.confirmed / ends.total:.1%}"
                    f" confirmed, {ends.undecided / ends.total:.1%} undecided,"
                    f" {ends.questions / ends.total:.1f} more questions"
                )


if __name__ == "__main__":
    main()
