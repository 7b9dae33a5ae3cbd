"""Categories whose scores are lower than those of all other cases (HCAT, section 6.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.mrm.data.results import Column, Scores
from pytest_evalstudio.mrm.steps.weakness_detection.results import (
    Effect,
    MetricWeaknesses,
    WeaknessCell,
)
from pytest_evalstudio.mrm.steps.weakness_detection.scored import ScoredCase, dimensions_of, scored_cases
from pytest_evalstudio.stats.comparison import fisher_fewer_passes, holm, mann_whitney_lower
from pytest_evalstudio.stats.intervals import difference_of_proportions, probability_of_lower
from pytest_evalstudio.stats.types import Booleans, Floats

LEAST_CASES = 5
_LEFT_OUT = {
    "perturbed": "perturbed",
    "without_score": "without a score",
    "without_category": "without a category",
}
Categories = tuple[tuple[str, str], ...]
"""Dimension and category: of one dimension, or of two."""


def find_weaknesses(
    scores: Scores,
    metric: str,
    *,
    by: Sequence[str] = (),
    model: str | None = None,
    alpha: float = 0.05,
    min_cases: int = LEAST_CASES,
) -> MetricWeaknesses:
    """Compare each category, and each pair of categories of two dimensions, with all other cases.

    A case counts once, with the mean of its models' scores, because answers to one question are not
    independent. Perturbed cases are left out. A cell is weak if its cases score lower than the rest,
    one-sided, after Holm's correction over all tested cells; it bounds the chance of any false finding, also
    for cells that overlap. Passes and failures are compared by Fisher's exact test, other scores by the
    Mann–Whitney test.

    Args:
        scores: of the answers.
        metric: `evaluator.metric`, or a metric key that one evaluator alone has.
        by: dimensions; default: all that occur. `query_type` means `generator`, the dimension of generated
            suites, if no case has a query type.
        model: key or name of the model whose scores count; default: all.
        alpha: a cell is weak if its adjusted one-sided p is at most alpha / 2, so that its 95 % interval lies
            on the same side.
        min_cases: cells with fewer cases, or with fewer other cases, are shown and not tested.

    Raises:
        ConfigurationError: for a name that the results do not have, or invalid limits.
        DataError: if no case has a score and a category.
    """
    if not 0 < alpha < 1:
        raise ConfigurationError(f"alpha = {alpha}: must lie between 0 and 1, e.g. 0.05")
    if min_cases < 2:
        raise ConfigurationError(f"min_cases = {min_cases}: must be 2 or more")
    column = scores.column(metric)
    cases, left_out = scored_cases(scores, column, model)
    dimensions = dimensions_of(cases, by)
    values = np.array([case.value for case in cases])
    members = _members(cases, dimensions)
    sign = 1.0 if column.metric.better == "higher" else -1.0
    is_share = bool(np.isin(values, (0.0, 1.0)).all())
    best = max(0.0, sign) if is_share else None
    cells = [
        _cell(categories, mask, values, column, note=_reason_not_tested(categories, members, min_cases))
        for categories, mask in members.items()
    ]
    comparisons = {
        number: _compare(values[mask] * sign, values[~mask] * sign, best=best)
        for number, mask in enumerate(members.values())
        if not cells[number].note
    }
    adjusted = holm([comparison.p_value for comparison in comparisons.values()])
    for (number, comparison), p_adjusted in zip(comparisons.items(), adjusted, strict=True):
        cells[number] = replace(
            cells[number],
            p_value=comparison.p_value,
            p_adjusted=p_adjusted,
            difference=comparison.difference,
            effect=comparison.effect,
            weak=p_adjusted <= alpha / 2,
        )
    return MetricWeaknesses(
        metric=column.key,
        better=column.metric.better,
        threshold=column.metric.threshold if math.isfinite(column.metric.threshold) else None,
        model=model,
        cases=len(cases),
        left_out=left_out,
        by=tuple(dimensions),
        test="Fisher's exact test" if is_share else "Mann–Whitney test",
        correction="Holm",
        tests=len(comparisons),
        alpha=alpha,
        min_cases=min_cases,
        mean=float(values.mean()),
        cells=tuple(cells),
        weak=sum(cell.weak for cell in cells),
    )


def _members(cases: Sequence[ScoredCase], dimensions: Sequence[str]) -> dict[Categories, Booleans]:
    """Return the mask of each cell's cases: categories first, then the pairs that occur together."""
    single = {
        ((dimension, value),): np.array([value in case.categories.get(dimension, ()) for case in cases])
        for dimension in dimensions
        for value in sorted({value for case in cases for value in case.categories.get(dimension, ())})
    }
    pairs: dict[Categories, Booleans] = {}
    for (first, mask), (second, other_mask) in itertools.combinations(single.items(), 2):
        both = mask & other_mask
        if first[0][0] != second[0][0] and both.any():
            pairs[(*first, *second)] = both
    return single | pairs


def _cell(
    categories: Categories, mask: Booleans, values: Floats, column: Column, *, note: str
) -> WeaknessCell:
    scores = values[mask]
    passes = (
        [column.metric.passes(value) for value in scores.tolist()]
        if math.isfinite(column.metric.threshold)
        else []
    )
    first, median, third = (float(quartile) for quartile in np.percentile(scores, (25, 50, 75)))
    return WeaknessCell(
        by=dict(categories),
        cases=len(scores),
        mean=float(scores.mean()),
        quartiles=(first, median, third),
        least=float(scores.min()),
        greatest=float(scores.max()),
        pass_share=sum(passes) / len(passes) if passes else None,
        note=note,
    )


def _reason_not_tested(categories: Categories, members: Mapping[Categories, Booleans], min_cases: int) -> str:
    """Return the reason why a cell is not tested, "" if it is."""
    mask = members[categories]
    if len(categories) > 1:
        for part in categories:
            if np.array_equal(members[(part,)], mask):
                return f"the same cases as {':'.join(part)}"
    if mask.sum() < min_cases:
        return f"fewer than {min_cases} cases"
    if (~mask).sum() < min_cases:
        return f"fewer than {min_cases} cases beside it"
    return ""


class _Comparison(NamedTuple):
    p_value: float
    difference: float
    effect: Effect


def _compare(scores: Floats, rest: Floats, *, best: float | None) -> _Comparison:
    """Compare the scores of a cell with those of all other cases; higher is better for both.

    Args:
        rest: of all other cases.
        scores: of the answers.
        best: the better score if there are only two scores, else None.
    """
    difference = float(scores.mean() - rest.mean())
    if best is not None:
        counts = int((scores == best).sum()), len(scores), int((rest == best).sum()), len(rest)
        value, interval = difference_of_proportions(*counts)
        effect = Effect(name="difference of shares", value=value, interval=interval)
        return _Comparison(fisher_fewer_passes(*counts), difference, effect)
    value, interval = probability_of_lower(scores, rest)
    effect = Effect(name="chance of a worse score than the rest's", value=value, interval=interval)
    return _Comparison(mann_whitney_lower(scores, rest), difference, effect)


def describe(weaknesses: MetricWeaknesses) -> Iterator[str]:
    """Yield the lines that describe the result on a terminal."""
    yield (
        f"{weaknesses.metric} ({weaknesses.better} is better): mean {weaknesses.mean:.3f} of"
        f" {weaknesses.cases} cases"
    )
    left = ", ".join(f"{count} {_LEFT_OUT[why]}" for why, count in weaknesses.left_out.items() if count)
    if left:
        yield f"left out of the answers: {left}"
    yield (
        f"{weaknesses.test}, one-sided, each cell against the rest; {weaknesses.tests} tests, Holm's"
        f" correction; weak where p <= {weaknesses.alpha / 2:g}"
    )
    width = max(len(_named(cell)) for cell in weaknesses.cells)
    for cell in weaknesses.cells:
        yield (
            f"{'WEAK' if cell.weak else '':<5}{_named(cell):<{width}}  {cell.cases:>5} cases  mean"
            f" {cell.mean:.3f}{_describe_comparison(cell)}"
        )
    yield (
        f"{weaknesses.weak} weak" if weaknesses.weak else "nothing is weak, as far as so many cases can tell"
    )


def _named(cell: WeaknessCell) -> str:
    return " & ".join(f"{dimension}:{value}" for dimension, value in cell.by.items())


def _describe_comparison(cell: WeaknessCell) -> str:
    if cell.effect is None:
        return f"  ({cell.note})"
    low, high = cell.effect.interval
    return (
        f"  p {cell.p_adjusted:.4f}  {cell.effect.name} {cell.effect.value:+.3f}, 95% interval {low:.3f} to"
        f" {high:.3f}"
    )
