"""Coverage of pass rates that are corrected for a judge's errors, by simulation.

usage: python tests/benchmarks/judge_correction.py [--simulations 2000]

A judge with known sensitivity and specificity is measured on labelled answers, and then judges a run of other
answers. Questions differ: the share of good answers and the judge's errors are Beta distributed over the
questions, with a given correlation within a question. The 95 % interval of the corrected pass rate must
contain the share of good answers in at least 94 % of the simulations in which there is a corrected rate, that
is at least `TARGET` given the randomness of the simulations. The uncorrected rate with Wilson's interval is
printed beside it.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.stats.clustered import clustered_share
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.rogan_gladen import Uncorrectable, corrected_share, judge_errors

TARGET = 0.94
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Answers that are judged.

    Attributes:
        questions: number of questions.
        answers: per question.
    """

    questions: int
    answers: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Truth:
    """A population of answers and a judge.

    Attributes:
        good: share of good answers.
        correlation: of answers to one question, and of the judge's errors on them.
    """

    good: float
    sensitivity: float
    specificity: float
    correlation: float = 0.0


RUNS = ((Sample(questions=50), 0.0), (Sample(questions=200), 0.0), (Sample(questions=60, answers=4), 0.4))
LABELLED = (Sample(questions=60), Sample(questions=200), Sample(questions=60, answers=3))
TRUTHS = (
    (0.8, 0.9, 0.8),
    (0.95, 0.95, 0.9),
    (0.5, 0.8, 0.7),
    (0.7, 0.95, 0.6),
    (0.8, 1.0, 1.0),
    (0.2, 0.85, 0.95),
)


@dataclass(slots=True)
class Coverage:
    """Counts of one setting."""

    corrected: int = 0
    covered: int = 0
    width: float = 0.0
    raw_covered: int = 0
    failures: Counter[str] = field(default_factory=Counter)


def random_counts(rng: np.random.Generator, totals: Counts, probability: float, correlation: float) -> Counts:
    """Draw successes per question: beta-binomial with the correlation of two trials of one question."""
    if correlation == 0 or probability in (0.0, 1.0):
        return rng.binomial(totals, probability)
    scale = (1 - correlation) / correlation
    return rng.binomial(totals, rng.beta(probability * scale, (1 - probability) * scale, size=len(totals)))


def judge_sample(
    rng: np.random.Generator, sample: Sample, truth: Truth
) -> tuple[Counts, Counts, Counts, Counts]:
    """Return good answers, those that pass, bad answers, and those that pass, per question."""
    totals = np.full(sample.questions, sample.answers)
    good = random_counts(rng, totals, truth.good, truth.correlation)
    good_passed = random_counts(rng, good, truth.sensitivity, truth.correlation)
    bad_passed = random_counts(rng, totals - good, 1 - truth.specificity, truth.correlation)
    return good, good_passed, totals - good, bad_passed


def coverage(truth: Truth, run: Sample, labelled: Sample, simulations: int, seed: int) -> Coverage:
    """Simulate one setting."""
    rng = np.random.default_rng(seed)
    counts = Coverage()
    for _ in range(simulations):
        good, good_passed, bad, bad_passed = judge_sample(rng, run, truth)
        passed = (good_passed + bad_passed).tolist()
        share = clustered_share(passed, (good + bad).tolist())
        low, high = wilson_interval(sum(passed), run.questions * run.answers)
        counts.raw_covered += low <= truth.good <= high
        figures = judge_sample(rng, labelled, truth)
        good, good_passed, bad, bad_passed = figures
        errors = judge_errors(good.tolist(), good_passed.tolist(), bad.tolist(), bad_passed.tolist())
        result = corrected_share(share, errors)
        if result.interval is None and result.reason != Uncorrectable.OUT_OF_RANGE:
            counts.failures[result.reason] += 1
            continue
        counts.corrected += 1
        if result.interval is None:
            continue
        counts.width += result.interval[1] - result.interval[0]
        counts.covered += result.interval[0] - 1e-9 <= truth.good <= result.interval[1] + 1e-9
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--simulations", type=int, default=2_000)
    simulations = parser.parse_args().simulations
    success, lowest, total = True, 1.0, Coverage()
    for seed, ((run, correlation), labelled, (good, sensitivity, specificity)) in enumerate(
        itertools.product(RUNS, LABELLED, TRUTHS)
    ):
        truth = Truth(
            good=good,
            sensitivity=sensitivity,
            specificity=specificity,
            correlation=max(correlation, 0.3 if labelled.answers > 1 else 0.0),
        )
        counts = coverage(truth, run, labelled, simulations, seed)
        rate = counts.covered / max(1, counts.corrected)
        error = math.sqrt(rate * (1 - rate) / max(1, counts.corrected))
        lowest = min(lowest, rate)
        success &= rate >= TARGET - 2 * error
        total.corrected += counts.corrected
        total.covered += counts.covered
        print(
            f"run {run.questions} x {run.answers}, labels {labelled.questions} x {labelled.answers}, good"
            f" {good:.2f}, sensitivity {sensitivity:.2f}, specificity {specificity:.2f}: coverage {rate:.3f}"
            f" +- {error:.3f}, width {counts.width / max(1, counts.corrected):.2f}; uncorrected"
            f" {counts.raw_covered / simulations:.3f}; without {dict(counts.failures)}",
            flush=True,
        )
    print(f"all settings: {total.covered / total.corrected:.3f}, lowest {lowest:.3f} (target {TARGET})")
    sys.exit(not success)


if __name__ == "__main__":
    main()
