"""False alarms, power, and coverage of the comparison of two runs, by simulation and enumeration.

usage: python tests/benchmarks/regression_power.py [--simulations 1000] [--coverage 2000] [--largest 200]

False alarms: two runs of the same model are compared; the share of verdicts "worse" must be at most 5 %, with
one metric and with three models and five metrics. Power: of one gate with 400 paired cases of which 7 % go
from pass to fail and 2 % from fail to pass, and with 100 cases, 12 % and 2 %; the share of verdicts "worse"
must be at least 80 %, with 100 cases at least 82 %. The power after Holm's correction for 15 tests is printed
beside it.

Coverage: for each number of cases and each true drop, pairs are drawn; the interval must hold the drop in
at least 94 % of the draws, and with a drop of the tolerance (5 points) or more at most 5 % of the verdicts
may be "not worse", both but for the noise of the simulation. Cases only fall, or 5 % of them rise as well,
or scores are continuous: normal changes, and rare large falls. Enumeration: the same error, summed over all
outcomes of yes/no pairs in place of draws, at its largest over the share of rises.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from pytest_evalstudio.analysis.comparison import metrics
from pytest_evalstudio.analysis.comparison.intervals import LOWER_ERROR, gain_interval
from pytest_evalstudio.analysis.comparison.metrics import ComparisonLimits, compare_metrics, overall
from pytest_evalstudio.analysis.comparison.results import MetricComparison
from pytest_evalstudio.analysis.comparison.sides import SideItem
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats

LIMITS = ComparisonLimits()
FALSE_ALARMS = 0.05
POWER = 0.8
POWER_OF_100 = 0.82
COVERAGE = 0.94
SIZES = (3, 5, 10, 20, 40, 60, 100, 200)
DROPS = (0.0, 0.05, 0.1, 0.2)
Draw = Callable[[np.random.Generator, int, float], Floats]
"""Differences of some cases with a true drop."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=1_000)
    parser.add_argument("--coverage", type=int, default=2_000)
    parser.add_argument("--largest", type=int, default=200)
    arguments = parser.parse_args()
    success = false_alarms_and_power(arguments.simulations)
    # Fewer signs than in a comparison, and others each time: equal ones would favour or hurt all samples.
    seeds = itertools.count()
    metrics.sign_flip_drop = lambda values: sign_flip_drop(values, draws=499, seed=next(seeds))
    for name, draw in DRAWS.items():
        success &= coverage(name, draw, arguments.coverage, arguments.largest)
    success &= enumerated(arguments.largest)
    sys.exit(not success)


def false_alarms_and_power(count: int) -> bool:
    rng = np.random.default_rng(20_261_122)
    success = True
    for models, measures in ((1, 1), (3, 5)):
        share = np.mean([is_worse(rng, models, measures, cases=60) for _ in range(count)])
        success &= bool(share <= FALSE_ALARMS)
        print(
            f"no change, {models} models x {measures} metrics, 60 cases: {share:.1%} of {count:,} comparisons"
            f" are worse (target at most {FALSE_ALARMS:.0%})"
        )
    for cases, falls, rises, target in ((400, 0.07, 0.02, POWER), (100, 0.12, 0.02, POWER_OF_100)):
        p_values = [p_of_change(rng, cases, falls, rises) for _ in range(count)]
        power = float(np.mean(np.asarray(p_values) <= 0.05))
        after = float(np.mean([holm([p, *[1.0] * 14])[0] <= 0.05 for p in p_values]))
        success &= power >= target
        print(
            f"{cases} cases, {falls:.0%} pass to fail, {rises:.0%} fail to pass: power {power:.1%} (target at"
            f" least {target:.0%}); after Holm over 15 tests {after:.1%}"
        )
    return success


def only_falls(rng: np.random.Generator, cases: int, drop: float) -> Floats:
    return -(rng.random(cases) < drop).astype(np.float64)


def falls_and_rises(rng: np.random.Generator, cases: int, drop: float) -> Floats:
    uniforms = rng.random(cases)
    return np.where(uniforms < 0.05, 1.0, np.where(uniforms < 0.1 + drop, -1.0, 0.0))


def normal_changes(rng: np.random.Generator, cases: int, drop: float) -> Floats:
    return np.clip(rng.normal(-drop, 0.15, cases), -1.0, 1.0)


def rare_large_falls(rng: np.random.Generator, cases: int, drop: float) -> Floats:
    """Return falls of 0.8 that are as frequent as the drop needs, among very small changes."""
    return np.where(rng.random(cases) < drop / 0.8, -0.8, rng.uniform(-0.001, 0.001, cases))


DRAWS: dict[str, Draw] = {
    "yes/no, cases only fall": only_falls,
    "yes/no, 5 % rise as well": falls_and_rises,
    "continuous, sd 0.15": normal_changes,
    "continuous, rare falls of 0.8": rare_large_falls,
}


def coverage(name: str, draw: Draw, count: int, largest: int) -> bool:
    """Print coverage of the interval and false verdicts "not worse"; return whether the targets are met."""
    rng = np.random.default_rng(20_270_105)
    success = True
    print(f"\n{name}: coverage (at least {COVERAGE:.0%}); false 'not worse' (at most {FALSE_ALARMS:.0%})")
    for cases in (size for size in SIZES if size <= largest):
        cells = []
        for drop in DROPS:
            outcomes = [compared(draw(rng, cases, drop)) for _ in range(count)]
            hit_rate = float(np.mean([holds(metric, -drop) for metric in outcomes]))
            passing = float(np.mean([metric.verdict == "not worse" for metric in outcomes]))
            is_false = drop >= LIMITS.tolerance
            success &= hit_rate >= COVERAGE - noise(COVERAGE, count)
            success &= not is_false or passing <= FALSE_ALARMS + noise(FALSE_ALARMS, count)
            label = "false" if is_false else "true"
            cells.append(f"drop {drop:.0%}: {hit_rate:.1%}, {label} 'not worse' {passing:.1%}")
        print(f"  n {cases:3}: {'; '.join(cells)}")
    return success


def noise(share: float, count: int) -> float:
    """Return two standard errors of a simulated share."""
    return 2 * math.sqrt(share * (1 - share) / count)


def compared(differences: Floats) -> MetricComparison:
    """Return the comparison of a metric whose cases change by some differences."""
    return _compared(tuple(np.sort(differences)[::-1].tolist()))


@functools.lru_cache(maxsize=100_000)
def _compared(differences: tuple[float, ...]) -> MetricComparison:
    pairs = [
        (scored(number, max(0.0, -value)), scored(number, max(0.0, value)))
        for number, value in enumerate(differences)
    ]
    return compare_metrics({"m": pairs}, {"e0": evaluator("e0")}, LIMITS)[0]


def holds(metric: MetricComparison, difference: float) -> bool:
    """Return whether the interval contains a true difference; its end at 0 is open where a drop is proven."""
    assert metric.low is not None
    assert metric.high is not None
    below = difference < metric.high if metric.p_adjusted <= 0.05 else difference <= metric.high + 1e-9
    return metric.low - 1e-9 <= difference and below


def enumerated(largest: int) -> bool:
    """Print the exact errors of the lower limit of yes/no pairs; return whether each is at most its level."""
    print(f"\nexact error of the lower limit of yes/no pairs, at most {LOWER_ERROR:.1%}, by n and true drop")
    success = True
    for cases in (size for size in SIZES if size <= largest):
        lows = {pair: low_of(cases, *pair) for pair in outcomes_of(cases)}
        errors = [largest_error(cases, drop, lows) for drop in DROPS]
        success &= max(errors) <= LOWER_ERROR + 1e-6
        cells = [f"{drop:.0%}: {error:.2%}" for drop, error in zip(DROPS, errors, strict=True)]
        print(f"  n {cases:3}: {', '.join(cells)}")
    return success


def outcomes_of(cases: int) -> Iterator[tuple[int, int]]:
    return ((falls, rises) for falls in range(cases + 1) for rises in range(cases + 1 - falls))


def low_of(cases: int, falls: int, rises: int) -> float:
    """Return the lower limit before it is cut at 0; outcomes with no chance to err are not computed."""
    if rises - falls < -0.3 * cases:
        return -1.0
    sums = np.repeat([-1.0, 0.0, 1.0], [falls, cases - falls - rises, rises])
    interval = gain_interval(sums, np.ones(cases), extreme=1.0, is_drop=False)
    assert interval is not None
    return interval[0]


def largest_error(cases: int, drop: float, lows: dict[tuple[int, int], float]) -> float:
    """Return the greatest probability, over the share of rises, that the drop is below the limit."""
    wrong = np.asarray([pair for pair, low in lows.items() if low > -drop + 1e-6])
    if not len(wrong):
        return 0.0
    logs = np.array([math.lgamma(number + 1) for number in range(cases + 1)])
    ties = cases - wrong.sum(axis=1)
    ways = logs[cases] - logs[wrong[:, 0]] - logs[wrong[:, 1]] - logs[ties]
    errors = [0.0]
    for rises in np.linspace(1e-9, (1 - drop) / 2 - 1e-9, 60):
        shares = np.log([rises + drop, rises, 1 - drop - 2 * rises])
        terms = ways + wrong @ shares[:2] + ties * shares[2]
        errors.append(float(np.exp(terms).sum()))
    return max(errors)


def is_worse(rng: np.random.Generator, models: int, measures: int, cases: int) -> bool:
    """Compare two runs that differ by chance alone; half of the metrics are boolean."""
    evaluators = {f"e{number}": evaluator(f"e{number}") for number in range(measures)}
    pairs = {
        f"m{model}": [(item(case, rng, measures), item(case, rng, measures)) for case in range(cases)]
        for model in range(models)
    }
    return overall(compare_metrics(pairs, evaluators, LIMITS)) == "worse"


def p_of_change(rng: np.random.Generator, cases: int, falls: float, rises: float) -> float:
    """Return p of one boolean gate whose cases change at the given rates."""
    uniforms = rng.random(cases)
    differences = np.where(uniforms < falls, -1.0, np.where(uniforms < falls + rises, 1.0, 0.0))
    return sign_flip_drop(differences)


def item(case: int, rng: np.random.Generator, measures: int) -> SideItem:
    scores = {
        (f"e{number}", "score"): float(rng.random() < 0.8) if number % 2 == 0 else float(rng.beta(5, 2))
        for number in range(measures)
    }
    return side_item(case, scores)


def scored(case: int, value: float) -> SideItem:
    return side_item(case, {("e0", "score"): value})


def side_item(case: int, scores: dict[tuple[str, str], float]) -> SideItem:
    return SideItem(
        nodeid=f"s.json::{case}",
        outcome="passed",
        cluster=("s.json", str(case)),
        flaky=False,
        scores=scores,
        case=b"",
        documents=(),
        reason="",
        answer="",
    )


def evaluator(id: str) -> EvaluatorEntry:
    return EvaluatorEntry(
        id=id,
        type=id,
        name=id,
        description="",
        domain="generation",
        method=("rules",),
        needs=(),
        scope="row",
        boolean=False,
        model_types=(),
        parameters={},
        metrics=(Metric(key="score", primary=True),),
        keywords=(),
        problem_type="accuracy",
        avid="",
    )


if __name__ == "__main__":
    main()
