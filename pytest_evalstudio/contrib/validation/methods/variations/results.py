"""Flips of verdicts between a question and its variations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_evalstudio.stats.types import Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFlips:
    """Flips of one metric.

    Attributes:
        compared: number of comparisons.
        pass_to_fail, fail_to_pass: number of flips in each direction.
    """

    compared: int
    pass_to_fail: int
    fail_to_pass: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Scores of a metric before and after a perturbation.

    Attributes:
        cases: number of pairs of scores.
        mean: drop of the score, positive where it gets worse.
        worse, better: number of cases whose score gets worse, or better.
        p_value: one-sided, of the Wilcoxon signed-rank test.
        p_adjusted: after Holm's correction.
        lower: True if the drop is beyond chance.
    """

    metric: str
    cases: int
    mean: float
    worse: int
    better: int
    p_value: float
    p_adjusted: float = 1.0
    lower: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FlipCounts:
    """Flips of the cases of one perturbator.

    Attributes:
        cases: number of variations.
        passed_before: number of them whose original passed.
        rate, interval: share of cases that flip, with its 95 % interval.
        pass_to_fail_interval: of the share that turns from pass to fail.
        pass_to_fail_keys: keys of these variations.
    """

    name: str
    cases: int
    passed_before: int
    pass_to_fail: int
    fail_to_pass: int
    rate: float
    interval: Interval
    pass_to_fail_interval: Interval
    pass_to_fail_keys: tuple[str, ...]
    metrics: Mapping[str, MetricFlips]

    @property
    def flipped(self) -> int:
        """Return the number of flips in either direction."""
        return self.pass_to_fail + self.fail_to_pass


@dataclass(frozen=True, slots=True, kw_only=True)
class PerturbatorFlips(FlipCounts):
    """Flips of a perturbator that keeps the meaning, with tests against chance.

    Attributes:
        drops: by metric.
        p_value: one-sided, of failures within cases.
        p_adjusted: after Holm's correction.
        beyond_chance: True if more answers fail than by chance.
    """

    drops: tuple[Drop, ...]
    p_value: float
    p_adjusted: float = 1.0
    beyond_chance: bool = False

    @property
    def is_sensitive(self) -> bool:
        """Report whether answers fail, or scores drop, more than by chance."""
        return self.beyond_chance or any(drop.lower for drop in self.drops)


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryFlips:
    """Flips of the original cases of a category.

    Attributes:
        cases: number of original cases.
        flipped: number of them that any perturbator flips.
        rate, interval: share of flipped cases, with its 95 % interval.
        variations: number of variations of these cases.
        pass_to_fail, fail_to_pass: number of variations that flip in each direction.
    """

    name: str
    cases: int
    flipped: int
    rate: float
    interval: Interval
    variations: int
    pass_to_fail: int
    fail_to_pass: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricFlip:
    """A metric that flips, with its score before and after."""

    direction: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedCase:
    """A variation whose verdict, or whose metric, differs from its original's."""

    key: str
    original: str
    perturbator: str
    meaning_kept: bool
    direction: str
    metrics: Mapping[str, MetricFlip]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationFlips:
    """Comparison of variations with their originals.

    Attributes:
        tests: description of the statistical tests.
        copies: flips of unchanged copies; None without copies.
        meaning_changed: perturbators that change the meaning; they are not tested.
        by_kind: by generator of the question.
        flips: the variations that flip.
    """

    alpha: float
    tests: str
    by_perturbator: tuple[PerturbatorFlips, ...]
    copies: FlipCounts | None
    meaning_changed: tuple[FlipCounts, ...]
    by_topic: tuple[CategoryFlips, ...]
    by_kind: tuple[CategoryFlips, ...]
    flips: tuple[FlippedCase, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class VariationResults:
    """Results of the step.

    Attributes:
        version: of the file with the flips.
        cases: number of original cases.
        copies_each: number of unchanged copies of each original.
        not_compared: number of variations without a verdict on both answers.
        notes: sentences for people.
    """

    version: int = 1
    cases: int
    copies_each: int
    not_compared: int
    notes: tuple[str, ...]
    by_perturbator: tuple[PerturbatorFlips, ...]
    copies: FlipCounts | None
    meaning_changed: tuple[FlipCounts, ...]
    by_topic: tuple[CategoryFlips, ...]
    by_kind: tuple[CategoryFlips, ...]
