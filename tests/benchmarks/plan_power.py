"""Power that a suite of the size that `evalstudio plan` names reaches, by simulation.

usage: python tests/benchmarks/plan_power.py [--pilots 40] [--comparisons 500] [--cases 40 100 300]

For each population, pilot runs are drawn, the cases for a drop of 0.1 with 80 % power are planned from each,
and pairs of runs of that size are drawn from the population itself: some cases break, so that the mean falls
by 0.1. Their test is that of `evalstudio compare`. The mean power over the pilots must be within 3 points of
80 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.stats.power import Pilot, PlannedTest, cases_for
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats

DROP, POWER, TOLERANCE = 0.1, 0.8, 0.03


@dataclass(frozen=True)
class Population:
    """Cases that runs are drawn from.

    Attributes:
        means: draws the mean of some cases.
        scores: draws scores around means.
        mean: of all cases.
        variants: of each case.
        repeats: of each variant.
    """

    means: Callable[[np.random.Generator, int], Floats]
    scores: Callable[[np.random.Generator, Floats], Floats]
    mean: float
    variants: int = 1
    repeats: int = 1

    def pilot(self, rng: np.random.Generator, cases: int) -> Pilot:
        means = self.means(rng, cases)
        scores = self.scores(rng, np.broadcast_to(means[:, None, None], (cases, self.variants, self.repeats)))
        return Pilot([list(case) for case in scores], noise="pilot" if self.repeats > 1 else "none")

    def p(self, rng: np.random.Generator, cases: int) -> float:
        """Return p of a comparison of two runs, of which the second has a drop."""
        shape = (cases, self.variants, self.repeats)
        means = np.broadcast_to(self.means(rng, cases)[:, None, None], shape)
        broken = rng.random(cases) < DROP / self.mean
        new = np.where(broken[:, None, None], 0.0, self.scores(rng, means))
        differences = new.mean(axis=2) - self.scores(rng, means).mean(axis=2)
        return sign_flip_drop(differences.sum(axis=1), draws=999, seed=int(rng.integers(2**32)))


def yes_no(rng: np.random.Generator, means: Floats) -> Floats:
    return (rng.random(means.shape) < means).astype(np.float64)


def numbers(rng: np.random.Generator, means: Floats) -> Floats:
    return means + rng.normal(0.0, 0.15, means.shape)


POPULATIONS = {
    "yes/no, answers never vary": Population(
        lambda rng, cases: (rng.random(cases) < 0.8).astype(np.float64), yes_no, 0.8
    ),
    "yes/no, 3 repeats": Population(lambda rng, cases: rng.beta(4, 1, cases), yes_no, 0.8, repeats=3),
    "yes/no, 3 repeats, mostly sure": Population(
        lambda rng, cases: rng.beta(0.8, 0.2, cases), yes_no, 0.8, repeats=3
    ),
    "yes/no, 3 variants, 2 repeats": Population(
        lambda rng, cases: rng.beta(4, 1, cases), yes_no, 0.8, variants=3, repeats=2
    ),
    "numbers, 3 repeats": Population(lambda rng, cases: rng.beta(6, 3, cases), numbers, 2 / 3, repeats=3),
    "numbers, 2 variants, 2 repeats": Population(
        lambda rng, cases: rng.beta(6, 3, cases), numbers, 2 / 3, variants=2, repeats=2
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pilots", type=int, default=40)
    parser.add_argument("--comparisons", type=int, default=500)
    parser.add_argument("--cases", type=int, nargs="+", default=[40, 100, 300])
    arguments = parser.parse_args()
    success = True
    for name, population in POPULATIONS.items():
        for cases in arguments.cases:
            sizes, powers = reached(population, cases, arguments.pilots, arguments.comparisons)
            low, high = np.quantile(powers, [0.1, 0.9])
            good = abs(powers.mean() - POWER) <= TOLERANCE
            success &= bool(good)
            print(
                f"{name}, pilots of {cases} cases: {np.median(sizes):.0f} cases planned (median), power"
                f" {powers.mean():.3f}, of single pilots {low:.2f} to {high:.2f}{'' if good else '  MISSED'}",
                flush=True,
            )
    sys.exit(not success)


def reached(population: Population, cases: int, pilots: int, comparisons: int) -> tuple[Floats, Floats]:
    """Return the planned number of cases of some pilots, and the power that each reaches."""
    sizes, powers = [], []
    for seed in range(pilots):
        rng = np.random.default_rng([20_261_124, cases, seed])
        test = PlannedTest(drop=DROP, power=POWER, seed=seed)
        size = cases_for(population.pilot(rng, cases), test, population.repeats)
        sizes.append(float(size))
        powers.append(np.mean([population.p(rng, size) <= test.level for _ in range(comparisons)]))
    return np.asarray(sizes), np.asarray(powers)


if __name__ == "__main__":
    main()
