"""Flips of verdicts under variations of questions, compared with those of unchanged copies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pytest_evalstudio.contrib.validation.methods.typed_results import shallow
from pytest_evalstudio.contrib.validation.methods.variations.results import (
    CategoryFlips,
    Drop,
    FlipCounts,
    FlippedCase,
    MetricFlip,
    MetricFlips,
    PerturbatorFlips,
    VariationFlips,
)
from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.paired import matched_failures, wilcoxon_drop
from pytest_evalstudio.text.figures import figure, percent

HIGH_SHARE, MEDIUM_SHARE = 0.3, 0.1
"""Minimum share of pass-to-fail flips of a problem of high, and of medium, severity."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variation:
    """A variation of a question and its original, with the verdicts of the same evaluators on both answers.

    Attributes:
        perturbator: "comma:MEDIUM"; chained ones are joined by "+".
        is_copy: True if the question was asked again unchanged.
        failed_before, failed: True if an evaluator failed the answer to the original, or to the variation.
        scores: `evaluator.metric` to the score of the original and of the variation.
        flips: `evaluator.metric` to "pass_to_fail" or "fail_to_pass".
        compared: metrics that can flip and that have both scores.
    """

    key: str
    original: str
    perturbator: str
    meaning_kept: bool
    is_copy: bool
    categories: tuple[str, ...]
    failed_before: bool
    failed: bool
    scores: Mapping[str, tuple[float, float]]
    flips: Mapping[str, str]
    compared: tuple[str, ...]

    @property
    def direction(self) -> str:
        """Return "pass_to_fail", "fail_to_pass", or "" for the same verdict."""
        if self.failed == self.failed_before:
            return ""
        return "pass_to_fail" if self.failed else "fail_to_pass"


def find_flips(
    variations: Sequence[Variation], metrics: Mapping[str, str], *, alpha: float
) -> VariationFlips:
    """Count flips, and test which perturbators change more verdicts than an unchanged copy.

    A case flips if the answer to the original passes all its evaluators and that to the variation does not,
    or the reverse. There are two families of one-sided tests, each corrected by Holm and compared with
    alpha / 2, so that the chance of any false finding is at most alpha: answers to the variation fail no more
    often than those to the original and its copies (exact, within cases), and scores are no lower than the
    original's (signed ranks). Scores that only repeat the verdicts are not tested again, and without other
    scores the exact test has all of alpha. Perturbators that change the meaning are counted apart and not
    tested, because another answer may be right.

    Args:
        alpha: chance of any false finding.
        variations: with their originals.
        metrics: those whose drop is tested, to "higher" or "lower", whichever is better.
    """
    copies = [variation for variation in variations if variation.is_copy]
    tested = [variation for variation in variations if variation.meaning_kept and not variation.is_copy]
    changed = [variation for variation in variations if not variation.meaning_kept]
    return VariationFlips(
        alpha=alpha,
        tests=(
            "exact test of failures within cases, against the original and its copies; Wilcoxon signed-rank"
            " test of scores; one-sided, Holm"
        ),
        by_perturbator=_tested(tested, copies, metrics, alpha),
        copies=_counts("copy", copies) if copies else None,
        meaning_changed=tuple(
            _counts(name, group) for name, group in _grouped(changed, _perturbator).items()
        ),
        by_topic=_by_category(tested, "topic:"),
        by_kind=_by_category(tested, "generator:"),
        flips=tuple(
            _flipped(variation) for variation in variations if variation.direction or variation.flips
        ),
    )


def problems(flips: VariationFlips, step: str, model: str) -> list[Problem]:
    """Return a problem for each perturbator that makes answers fail, or lowers scores, beyond chance."""
    return [_problem(row, flips.copies, step, model) for row in flips.by_perturbator if row.is_sensitive]


def _problem(row: PerturbatorFlips, copies: FlipCounts | None, step: str, model: str) -> Problem:
    share = row.pass_to_fail / row.cases
    low, high = row.pass_to_fail_interval
    effects = []
    if row.beyond_chance:
        noise = (
            f", against {copies.pass_to_fail} of {copies.cases} when asked again unchanged" if copies else ""
        )
        effects.append(
            f"turns {row.pass_to_fail} of {row.cases} cases from pass to fail ({percent(share)}, 95 %"
            " interval"
            f" {percent(low)} to {percent(high)}; adjusted p {row.p_adjusted:.2g}){noise}"
        )
    lower = [drop for drop in row.drops if drop.lower]
    effects += [
        f"worsens {drop.metric} by {figure(drop.mean)} on average of {drop.cases} cases (adjusted p"
        f" {drop.p_adjusted:.2g})"
        for drop in lower
    ]
    return Problem(
        description=f"Perturbator {row.name} {' and '.join(effects)}.",
        severity=_severity(share),
        problem_type="robustness",
        avid="P0200",
        attributes={
            "kind": "sensitive_to_perturbator",
            "step": step,
            "model": model,
            "perturbator": row.name,
            "cases": row.cases,
            "pass_to_fail": row.pass_to_fail,
            "fail_to_pass": row.fail_to_pass,
            "interval": [low, high],
            "p_adjusted": row.p_adjusted,
            "metrics": [drop.metric for drop in lower],
            "test_case_keys": list(row.pass_to_fail_keys),
        },
        actions=(
            "Read the flipped cases beside their originals. Normalise questions before retrieval (spelling,"
            " punctuation), or retrieve by meaning in place of words; then run the step again with more"
            " cases."
        ),
    )


def _severity(share: float) -> Severity:
    if share >= HIGH_SHARE:
        return "high"
    return "medium" if share >= MEDIUM_SHARE else "low"


def _tested(
    variations: Sequence[Variation], copies: Sequence[Variation], metrics: Mapping[str, str], alpha: float
) -> tuple[PerturbatorFlips, ...]:
    """Return the flips of each perturbator with tests, corrected over all perturbators."""
    controls: dict[str, list[bool]] = {}
    for copy in copies:
        controls.setdefault(copy.original, []).append(copy.failed)
    rows = []
    for name, group in _grouped(variations, _perturbator).items():
        failures = [
            (variation.failed, [variation.failed_before, *controls.get(variation.original, [])])
            for variation in group
        ]
        rows.append(
            PerturbatorFlips(
                **shallow(_counts(name, group)),
                drops=_drops(group, metrics),
                p_value=matched_failures(failures),
            )
        )
    adjusted_rows = holm([row.p_value for row in rows])
    level = alpha / 2 if any(row.drops for row in rows) else alpha
    # In the order of the rows and their drops, in which they are taken below.
    adjusted_drops = iter(holm([drop.p_value for row in rows for drop in row.drops]))
    return tuple(
        replace(
            row,
            p_adjusted=p_adjusted,
            beyond_chance=p_adjusted <= level,
            drops=tuple(_adjusted(drop, next(adjusted_drops), level) for drop in row.drops),
        )
        for row, p_adjusted in zip(rows, adjusted_rows, strict=True)
    )


def _adjusted(drop: Drop, p_adjusted: float, level: float) -> Drop:
    return replace(drop, p_adjusted=p_adjusted, lower=p_adjusted <= level)


def _grouped(
    variations: Sequence[Variation], names: Callable[[Variation], Sequence[str]]
) -> dict[str, list[Variation]]:
    groups: dict[str, list[Variation]] = {}
    for variation in variations:
        for name in names(variation):
            groups.setdefault(name, []).append(variation)
    return dict(sorted(groups.items()))


def _perturbator(variation: Variation) -> Sequence[str]:
    return (variation.perturbator,)


def _counts(name: str, group: Sequence[Variation]) -> FlipCounts:
    """Count the flips of one perturbator: each case once, but a copy of a case as often as it was asked."""
    to_fail = tuple(variation.key for variation in group if variation.direction == "pass_to_fail")
    to_pass = sum(variation.direction == "fail_to_pass" for variation in group)
    total = len(to_fail) + to_pass
    return FlipCounts(
        name=name,
        cases=len(group),
        passed_before=sum(not variation.failed_before for variation in group),
        pass_to_fail=len(to_fail),
        fail_to_pass=to_pass,
        rate=total / len(group),
        interval=wilson_interval(total, len(group)),
        pass_to_fail_interval=wilson_interval(len(to_fail), len(group)),
        pass_to_fail_keys=to_fail,
        metrics=_metrics(group),
    )


def _metrics(group: Sequence[Variation]) -> dict[str, MetricFlips]:
    """Return the number of comparisons, and of flips, by metric."""
    names = sorted({metric for variation in group for metric in variation.compared})
    return {
        name: MetricFlips(
            compared=sum(name in variation.compared for variation in group),
            pass_to_fail=sum(variation.flips.get(name) == "pass_to_fail" for variation in group),
            fail_to_pass=sum(variation.flips.get(name) == "fail_to_pass" for variation in group),
        )
        for name in names
    }


def _by_category(variations: Sequence[Variation], prefix: str) -> tuple[CategoryFlips, ...]:
    """Count each original case once: variations of one case are not independent."""
    groups = _grouped(
        variations,
        lambda variation: [
            category.removeprefix(prefix) for category in variation.categories if category.startswith(prefix)
        ],
    )
    rows = []
    for name, group in groups.items():
        cases = {variation.original for variation in group}
        flipped = {variation.original for variation in group if variation.direction}
        rows.append(
            CategoryFlips(
                name=name,
                cases=len(cases),
                flipped=len(flipped),
                rate=len(flipped) / len(cases),
                interval=wilson_interval(len(flipped), len(cases)),
                variations=len(group),
                pass_to_fail=sum(variation.direction == "pass_to_fail" for variation in group),
                fail_to_pass=sum(variation.direction == "fail_to_pass" for variation in group),
            )
        )
    return tuple(rows)


def _drops(group: Sequence[Variation], metrics: Mapping[str, str]) -> tuple[Drop, ...]:
    drops = []
    for metric, better in metrics.items():
        pairs = [variation.scores[metric] for variation in group if metric in variation.scores]
        if not pairs or _repeats_verdicts(group, metric, better):
            continue
        before, after = np.array(pairs, dtype=np.float64).T * (1.0 if better == "higher" else -1.0)
        drops.append(
            Drop(
                metric=metric,
                cases=len(pairs),
                mean=float((before - after).mean()),
                worse=int((before > after).sum()),
                better=int((before < after).sum()),
                p_value=wilcoxon_drop(before, after),
            )
        )
    return tuple(drops)


def _repeats_verdicts(group: Sequence[Variation], metric: str, better: str) -> bool:
    """Report whether a metric of yes and no has the same values as the verdicts."""
    best = 1.0 if better == "higher" else 0.0
    return all(
        variation.scores.get(metric)
        == tuple(
            best if passes else 1.0 - best for passes in (not variation.failed_before, not variation.failed)
        )
        for variation in group
    )


def _flipped(variation: Variation) -> FlippedCase:
    return FlippedCase(
        key=variation.key,
        original=variation.original,
        perturbator=variation.perturbator,
        meaning_kept=variation.meaning_kept,
        direction=variation.direction,
        metrics={
            metric: MetricFlip(
                direction=direction, before=variation.scores[metric][0], after=variation.scores[metric][1]
            )
            for metric, direction in variation.flips.items()
        },
    )
