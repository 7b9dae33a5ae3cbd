"""Comparisons of attacks with ordinary questions."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Location of scores; None without scores.

    Attributes:
        quartiles: first quartile, median and third quartile.
    """

    cases: int
    mean: float | None
    quartiles: tuple[float, float, float] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTest:
    """One-sided test that scores are lower, by ranks.

    Attributes:
        test: name of the test.
        p_adjusted: after Holm's correction.
    """

    test: str
    p_value: float
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DistanceTest:
    """One-sided Kolmogorov–Smirnov test.

    Attributes:
        statistic: greatest distance of the cumulative distributions, 0.0 to 1.0.
        p_adjusted: after Holm's correction.
    """

    statistic: float
    p_value: float
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chance:
    """Probability that an attacked answer scores worse than an ordinary one, with its 95 % interval."""

    value: float
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackComparison(Distribution):
    """Scores of a generator's attacks under a metric, compared with those of ordinary questions.

    Attributes:
        metric: `evaluator.metric`.
        better: "higher" or "lower".
        generator: id, or `method.ALL` for all attacks together.
        baseline: ordinary questions; its mean is weighted like the attacks where kinds are compared apart.
        kinds: kinds of question that are compared apart, () where all are compared with all.
        ranks, kolmogorov_smirnov, chance_of_worse, cliffs_delta: None if there are too few cases.
        worse: True if the attacks score worse beyond chance.
        note: the reason why nothing is tested, "" otherwise.
    """

    metric: str
    better: str
    generator: str
    baseline: Distribution
    kinds: tuple[str, ...]
    ranks: RankTest | None = None
    kolmogorov_smirnov: DistanceTest | None = None
    chance_of_worse: Chance | None = None
    cliffs_delta: float | None = None
    worse: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackComparisons:
    """All comparisons of attacks with ordinary questions.

    Attributes:
        correction: for the number of tests.
        tests: number of tests.
        worse: number of comparisons in which attacks score worse.
    """

    alpha: float
    correction: str
    tests: int
    comparisons: tuple[AttackComparison, ...]
    worse: int
