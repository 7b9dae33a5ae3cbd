"""False alarms and power of the test of segments, by simulated comparisons.

usage: python tests/benchmarks/segments.py [--simulations 2000]

Each case belongs to three of 12 overlapping segments. False alarms: nothing has changed, but some cases pass
or fail by chance; the share of comparisons that name any segment must be at most 5 %. The same where one
segment really got worse: the share that names a segment without any of its cases. Power: all 10 cases of one
segment break while others get fixed, and some change by chance; the share that names it must be at least
80 %.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from dataclasses import dataclass

import numpy as np

from pytest_evalstudio.analysis.comparison import segments as comparison_segments
from pytest_evalstudio.analysis.comparison.results import SegmentComparison
from pytest_evalstudio.analysis.comparison.segments import compare_segments
from pytest_evalstudio.analysis.comparison.sides import SideItem
from pytest_evalstudio.stats.segments import fallen_groups

KINDS, VALUES = 3, 4
"""Each case has one of four values of each of three kinds: 12 overlapping segments."""
FALSE_ALARMS, POWER = 0.05, 0.8
BROKEN = ("language", "0")
Names = list[tuple[str, str]]


@dataclass
class Shares:
    """Numbers of comparisons: all, and those that name a segment without a change, and the changed one."""

    total: int = 0
    false: int = 0
    hits: int = 0


def item(key: str, *, passed: bool, segments: Names) -> SideItem:
    return SideItem(
        nodeid=key,
        outcome="passed" if passed else "failed",
        cluster=("s.json", key),
        flaky=False,
        scores={},
        case=0,
        documents=(),
        reason="",
        answer="",
        segments=tuple(segments),
    )


def groups(cases: int, rng: np.random.Generator) -> list[Names]:
    """Return the segments of each case; each value of a kind has the same number of cases."""
    columns = [rng.permutation(np.arange(cases) % VALUES) for _ in range(KINDS)]
    kinds = ("language", "product", "topic")
    return [
        [(kind, str(column[case])) for kind, column in zip(kinds, columns, strict=True)]
        for case in range(cases)
    ]


def segment_comparisons(
    base: np.ndarray, new: np.ndarray, names: list[Names]
) -> tuple[SegmentComparison, ...]:
    pairs = [
        (
            item(str(number), passed=bool(base[number]), segments=segments),
            item(str(number), passed=bool(new[number]), segments=segments),
        )
        for number, segments in enumerate(names)
    ]
    return compare_segments({"m": pairs})


def simulate(
    simulations: int, *, size: int, noise: float, breaks: bool, fixed: int = 0, seed: int = 0
) -> Shares:
    """Simulate comparisons.

    Args:
        size: cases of each segment.
        noise: share of cases whose verdict is a coin flip in each run.
        breaks: whether all cases of one segment break.
        fixed: other cases that are fixed.
    """
    rng, shares, cases = np.random.default_rng(seed), Shares(), size * VALUES
    for _ in range(simulations):
        names = groups(cases, rng)
        is_noisy = rng.random(cases) < noise
        base, new = (np.where(is_noisy, rng.random(cases) < 0.5, True) for _ in range(2))
        is_broken = np.asarray([BROKEN in segments for segments in names]) & breaks
        base, new = base | is_broken, new & ~is_broken
        others = rng.permutation(np.flatnonzero(~is_broken))[:fixed]
        base[others], new[others] = False, True
        has_broken = {
            segment
            for segments, broken in zip(names, is_broken, strict=True)
            if broken
            for segment in segments
        }
        worse_segments = {
            tuple(name.split(" ", 1))
            for each in segment_comparisons(base, new, names)
            if each.is_worse
            for name in each.names
        }
        shares.total += 1
        shares.false += bool(worse_segments - has_broken)
        shares.hits += BROKEN in worse_segments
    return shares


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulations", type=int, default=2_000)
    count = parser.parse_args().simulations
    # Fewer signs than in a comparison, and others each time: equal ones would favour or hurt all samples.
    seeds = itertools.count()
    comparison_segments.fallen_groups = lambda sums: fallen_groups(sums, draws=1_999, seed=next(seeds))
    success = True
    for size in (10, 30, 100):
        for noise in (0.3, 0.8):
            shares = simulate(count, size=size, noise=noise, breaks=False)
            rate = shares.false / shares.total
            success &= rate <= FALSE_ALARMS + 3 * (FALSE_ALARMS * (1 - FALSE_ALARMS) / count) ** 0.5
            print(
                f"no change, {size} cases per segment, {noise:.0%} of them noisy: {rate:.1%} name a segment"
            )
    for size, fixed, noise in ((10, 10, 0.0), (10, 10, 0.2), (10, 20, 0.2), (20, 20, 0.2)):
        shares = simulate(count, size=size, noise=noise, breaks=True, fixed=fixed)
        hit_rate, false = shares.hits / shares.total, shares.false / shares.total
        success &= hit_rate >= POWER and false <= FALSE_ALARMS
        print(
            f"all {size} cases of a segment break, {fixed} others get fixed, {noise:.0%} noisy:"
            f" {hit_rate:.1%} name it, {false:.1%} one without such a case"
        )
    sys.exit(0 if success else 1)


if __name__ == "__main__":
    main()
