"""False alarms and power of the comparison of two runs, by simulation.

usage: python tests/benchmarks/regression_power.py [--simulations 1000]

False alarms: two runs of the same model are compared; the share of verdicts "worse" must be at most 5 %, with
one metric and with three models and five metrics. Power: of one gate with 400 paired cases of which 7 % go
from pass to fail and 2 % from fail to pass, and with 100 cases, 12 % and 2 %; the share of verdicts "worse"
must be at least 80 %. The power after Holm's correction for 15 tests is printed beside it.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from pytest_evalstudio.comparison.metrics import Limits, compare_metrics, overall
from pytest_evalstudio.comparison.sides import SideItem
from pytest_evalstudio.record.schema import EvaluatorEntry, MetricEntry
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.sign_flip import sign_flip_drop

LIMITS = Limits()
FALSE_ALARMS = 0.05
POWER = 0.8


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=1_000)
    count = parser.parse_args().simulations
    rng = np.random.default_rng(20_261_122)
    kept = True
    for models, metrics in ((1, 1), (3, 5)):
        share = np.mean([is_worse(rng, models, metrics, cases=60) for _ in range(count)])
        kept &= bool(share <= FALSE_ALARMS)
        print(
            f"no change, {models} models x {metrics} metrics, 60 cases: {share:.1%} of {count:,} comparisons"
            f" are worse (target at most {FALSE_ALARMS:.0%})"
        )
    for cases, falls, rises in ((400, 0.07, 0.02), (100, 0.12, 0.02)):
        p_values = [p_of_change(rng, cases, falls, rises) for _ in range(count)]
        power = float(np.mean(np.asarray(p_values) <= 0.05))
        after = float(np.mean([holm([p, *[1.0] * 14])[0] <= 0.05 for p in p_values]))
        kept &= power >= POWER
        print(
            f"{cases} cases, {falls:.0%} pass to fail, {rises:.0%} fail to pass: power {power:.1%} (target at"
            f" least {POWER:.0%}); after Holm over 15 tests {after:.1%}"
        )
    sys.exit(not kept)


def is_worse(rng: np.random.Generator, models: int, metrics: int, cases: int) -> bool:
    """Compare two runs that differ by chance alone; half of the metrics are boolean."""
    evaluators = {f"e{number}": evaluator(f"e{number}") for number in range(metrics)}
    pairs = {
        f"m{model}": [(item(case, rng, metrics), item(case, rng, metrics)) for case in range(cases)]
        for model in range(models)
    }
    return overall(compare_metrics(pairs, evaluators, LIMITS)) == "worse"


def p_of_change(rng: np.random.Generator, cases: int, falls: float, rises: float) -> float:
    """Return p of one boolean gate whose cases change at the given rates."""
    drawn = rng.random(cases)
    differences = np.where(drawn < falls, -1.0, np.where(drawn < falls + rises, 1.0, 0.0))
    return sign_flip_drop(differences)


def item(case: int, rng: np.random.Generator, metrics: int) -> SideItem:
    scores = {
        (f"e{number}", "score"): float(rng.random() < 0.8) if number % 2 == 0 else float(rng.beta(5, 2))
        for number in range(metrics)
    }
    return SideItem(
        nodeid=f"s.json::{case}",
        outcome="passed",
        cluster=("s.json", str(case)),
        flaky=False,
        scores=scores,
        case=b"",
        documents=(),
        duration_s=None,
        cost_usd=None,
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
        metrics=(MetricEntry(key="score", primary=True),),
        keywords=(),
        problem_type="accuracy",
        avid="",
    )


if __name__ == "__main__":
    main()
