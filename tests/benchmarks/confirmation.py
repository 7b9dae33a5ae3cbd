"""False alarms and power of the confirmation of regressions, by simulated runs.

usage: python tests/benchmarks/confirmation.py [--runs 2000]

A case passes each time with a probability of its own, in the baseline as in the run. Cases that passed in
the baseline and fail in the run are asked again. Prints the share of unchanged runs with a regression,
without and with confirmation, the share of cases fallen from 0.95 to 0.3 that are confirmed, and the
questions.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable
from dataclasses import dataclass

from pytest_evalstudio.stats.confirmation import ConfirmationTest

FALLEN = 0.3


@dataclass
class Ends:
    """Number of runs or cases, and of those that were confirmed.

    Attributes:
        questions: questions that were asked again.
    """

    total: int = 0
    regressed: int = 0
    confirmed: int = 0
    questions: int = 0


def asked_again(test: ConfirmationTest, pass_rate: float, draw: random.Random) -> tuple[bool, int]:
    """Return whether a case that failed once is confirmed, and how often it was asked again."""
    passed, failed = 0, 1
    while test.decision(passed, failed) == "open":
        if draw.random() < pass_rate:
            passed += 1
        else:
            failed += 1
    return test.decision(passed, failed) == "confirmed", passed + failed - 1


def unchanged_runs(cases: int, runs: int, rate_of: Callable[[random.Random], float]) -> Ends:
    """Simulate runs in which nothing has changed."""
    ends, draw = Ends(), random.Random(cases)
    for _ in range(runs):
        rates = [rate for rate in (rate_of(draw) for _ in range(cases)) if draw.random() < rate]
        test = ConfirmationTest(cases=max(1, len(rates)))
        failing = [rate for rate in rates if draw.random() >= rate]
        results = [asked_again(test, rate, draw) for rate in failing]
        ends.total += 1
        ends.regressed += bool(failing)
        ends.confirmed += any(is_confirmed for is_confirmed, _ in results)
        ends.questions += sum(count for _, count in results)
    return ends


def fallen_cases(cases: int, runs: int) -> Ends:
    """Simulate single cases that fell to 0.3 and fail."""
    ends, draw, test = Ends(), random.Random(cases), ConfirmationTest(cases=cases)
    for _ in range(runs):
        is_confirmed, count = asked_again(test, FALLEN, draw)
        ends.total += 1
        ends.confirmed += is_confirmed
        ends.questions += count
    return ends


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    spreads: dict[str, Callable[[random.Random], float]] = {
        "0.95 for all": lambda draw: 0.95,
        "Beta(19, 1)": lambda draw: draw.betavariate(19, 1),
        "Beta(9.5, 0.5)": lambda draw: draw.betavariate(9.5, 0.5),
    }
    for cases in (50, 500):
        for name, rate_of in spreads.items():
            ends = unchanged_runs(cases, runs, rate_of)
            regressed, confirmed = ends.regressed / ends.total, ends.confirmed / ends.total
            print(f"{cases} cases, pass rates {name}: {regressed:.1%} of unchanged runs have a regression,")
            questions = ends.questions / ends.total
            print(f"    {confirmed:.1%} a confirmed one; {questions:.1f} more questions per run")
        ends = fallen_cases(cases, runs)
        print(
            f"{cases} cases, one fell from 0.95 to {FALLEN}: {ends.confirmed / ends.total:.1%} confirmed,"
            f" {ends.questions / ends.total:.1f} more questions"
        )


if __name__ == "__main__":
    main()
