"""One error budget over many runs: false alarms in streams of unchanged runs, and the delay of real drops.

usage: python tests/benchmarks/error_budget.py [--streams 200] [--runs 200] [--cases 50 200]

A stream is a baseline and runs that are compared with it; a case passes in each run with its own rate,
independently. Without a change, at most 5 % of the streams may alarm at any of their runs. "each by itself"
is the share that alarms by the sign-flip test of each run at 5 %, on a quarter of the streams.

A drop lowers the mean rate from its first run on: by the same share of each rate, or to 0 in single cases.
The delay is the median number of runs with the drop until the alarm, "-" where that is more than 50.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from statistics import median

import numpy as np

from pytest_evalstudio.stats.looks import drop_evidence
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats

NEEDED = 20.0
LEVEL = 0.05
POPULATIONS: Mapping[str, Callable[[int, np.random.Generator], Floats]] = {
    "80 % each": lambda cases, rng: np.full(cases, 0.8),
    "97 % each": lambda cases, rng: np.full(cases, 0.97),
    "one in five a coin": lambda cases, rng: np.where(np.arange(cases) < cases / 5, 0.5, 1.0),
    "rates of a beta(4, 1)": lambda cases, rng: rng.beta(4, 1, cases),
    "five flaky cases": lambda cases, rng: np.where(np.arange(cases) < 5, 0.5, 1.0),
}
"""Pass rates of cases."""
DROPS = (0.05, 0.1)
BEGINNINGS = (1, 10, 50)
MAX_DELAY = 50


def stream(rates: Floats, runs: int, rng: np.random.Generator) -> Floats:
    """Return the scores of a baseline and of runs without a change; shape (runs + 1, cases)."""
    return (rng.random((runs + 1, len(rates))) < rates).astype(np.float64)


def first_alarm(scores: Floats, start: int = 1) -> int | None:
    """Return the first run that alarms, from 1, None for none."""
    looks = range(start, len(scores))
    return next((look for look in looks if drop_evidence(scores[: look + 1]) >= NEEDED), None)


def alarms_by_itself(scores: Floats) -> bool:
    """Return whether a run of the stream alarms by its own test at 5 %."""
    return any(sign_flip_drop(run - scores[0]) <= LEVEL for run in scores[1:])


def false_alarms(name: str, cases: int, runs: int, streams: int) -> float:
    """Return the share of streams without a change that alarm."""
    rng = np.random.default_rng([cases, *name.encode()])
    rates = [POPULATIONS[name](cases, rng) for _ in range(streams)]
    return sum(first_alarm(stream(each, runs, rng)) is not None for each in rates) / streams


def delay(name: str, cases: int, drop: float, beginning: int, streams: int, *, is_single: bool) -> float:
    """Return the median number of runs with a drop until the alarm; infinite where that is more than 50.

    Args:
        beginning: first run with the drop.
        is_single: whether single cases fall to 0; otherwise all fall by the same share.
    """
    rng = np.random.default_rng([cases, beginning, round(100 * drop), is_single, *name.encode()])
    delays = []
    for _ in range(streams):
        rates = POPULATIONS[name](cases, rng)
        if is_single:
            order = rng.permutation(cases)
            fallen = np.cumsum(rates[order]) <= drop * cases + 1e-9
            lower = rates.copy()
            lower[order[fallen]] = 0.0
        else:
            lower = rates * (1 - drop / rates.mean())
        before = stream(rates, beginning - 1, rng)
        scores = np.vstack([before, stream(lower, MAX_DELAY - 1, rng)])
        alarm = first_alarm(scores, beginning)
        delays.append(float("inf") if alarm is None else alarm - beginning + 1)
    return float(median(delays))


def main() -> None:
    """Print a line per population and size."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--cases", type=int, nargs="+", default=[50, 200])
    arguments = parser.parse_args()
    for cases in arguments.cases:
        for name in POPULATIONS:
            share = false_alarms(name, cases, arguments.runs, arguments.streams)
            rng = np.random.default_rng(cases)
            count = max(1, arguments.streams // 4)
            separate_alarms = sum(
                alarms_by_itself(stream(POPULATIONS[name](cases, rng), arguments.runs, rng))
                for _ in range(count)
            )
            print(
                f"{cases} cases, {name}: {share:.3f} of the streams alarm, each by itself"
                f" {separate_alarms / count:.2f}",
                flush=True,
            )
    for cases in arguments.cases:
        for name in ("80 % each", "one in five a coin"):
            for is_single in (False, True):
                for drop in DROPS:
                    delays = [
                        delay(name, cases, drop, beginning, arguments.streams // 10, is_single=is_single)
                        for beginning in BEGINNINGS
                    ]
                    text = ", ".join("-" if each > MAX_DELAY else f"{each:g}" for each in delays)
                    kind = "single cases" if is_single else "all cases"
                    print(f"{cases} cases, {name}, drop of {drop} in {kind}: {text} runs", flush=True)


if __name__ == "__main__":
    main()
