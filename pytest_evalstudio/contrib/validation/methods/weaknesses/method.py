"""Categories whose scores are lower than those of all other cases (HCAT, section 6.2)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pytest_evalstudio.contrib.validation.methods.weaknesses.permuting import (
    Categories,
    CellPValues,
    permutation_p_values,
)
from pytest_evalstudio.contrib.validation.methods.weaknesses.results import (
    CellEffect,
    MetricWeaknesses,
    WeaknessCell,
)
from pytest_evalstudio.contrib.validation.methods.weaknesses.scored import (
    ScoredCase,
    dimensions_of,
    scored_cases,
)
from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.record.score_table import Column, Scores
from pytest_evalstudio.stats.intervals import difference_of_proportions, probability_of_lower
from pytest_evalstudio.stats.types import Booleans, Floats
from pytest_evalstudio.text.figures import figure

MIN_CASES = 5
_LEFT_OUT = {
    "perturbed": "perturbed",
    "without_score": "without a score",
    "without_category": "without a category",
}
NOTHING_GROUPED: Mapping[str, str] = {}


def find_weaknesses(
    scores: Scores,
    metric: str,
    *,
    by: Sequence[str] = (),
    model: str | None = None,
    alpha: float = 0.05,
    min_cases: int = MIN_CASES,
) -> MetricWeaknesses:
    """Compare the categories under one metric; see `find_all_weaknesses` for arguments and errors."""
    return find_all_weaknesses(scores, [metric], by=by, model=model, alpha=alpha, min_cases=min_cases)[0]


def find_all_weaknesses(
    scores: Scores,
    metrics: Sequence[str],
    *,
    by: Sequence[str] = (),
    model: str | None = None,
    alpha: float = 0.05,
    min_cases: int = MIN_CASES,
    groups: Mapping[str, str] = NOTHING_GROUPED,
    seed: int = 0,
) -> list[MetricWeaknesses]:
    """Compare each category, and each pair of categories of two dimensions, with all other cases.

    A case counts once, with the mean of its models' scores, because answers to one question are not
    independent. Perturbed cases are left out. A cell is weak if its cases score lower than by chance,
    one-sided: whole chunks exchange their categories, or the cases of one chunk where categories differ
    within chunks. All cells of all metrics are corrected together, which bounds the chance of any false
    finding, also for cells and metrics that overlap.

    Args:
        scores: of the answers.
        metrics: `evaluator.metric`, or metric keys that one evaluator alone has.
        by: dimensions; default: all that occur. `query_type` means `generator`, the dimension of generated
            suites, if no case has a query type.
        model: key or name of the model whose scores count; default: all.
        alpha: a cell is weak if its adjusted one-sided p is at most alpha, the chance of any false finding.
        min_cases: cells with fewer cases, or with fewer other cases, are shown and not tested.
        groups: chunk of the documents by key of the case; a case without one stands alone.
        seed: of the permutations.

    Raises:
        ConfigurationError: for a name that the results do not have, or invalid limits.
        DataError: if no case has a score and a category.
    """
    if not 0 < alpha < 1:
        raise ConfigurationError(f"alpha = {alpha}: must lie between 0 and 1, e.g. 0.05")
    if min_cases < 2:
        raise ConfigurationError(f"min_cases = {min_cases}: must be 2 or more")
    compared = [_compared(scores, metric, by, model, min_cases) for metric in metrics]
    tests = permutation_p_values(
        [(table.cases, table.dimensions, table.tested, table.sign) for table in compared], groups, seed=seed
    )
    return [
        _weaknesses(table, p_values, model=model, alpha=alpha, min_cases=min_cases)
        for table, p_values in zip(compared, tests, strict=True)
    ]


class _Compared(NamedTuple):
    """The cases and cells of a metric."""

    column: Column
    cases: Sequence[ScoredCase]
    left_out: Mapping[str, int]
    dimensions: Sequence[str]
    members: Mapping[Categories, Booleans]
    cells: list[WeaknessCell]
    sign: float

    @property
    def tested(self) -> list[Categories]:
        """Return the cells that are tested."""
        return [
            categories for categories, cell in zip(self.members, self.cells, strict=True) if not cell.note
        ]


def _compared(scores: Scores, metric: str, by: Sequence[str], model: str | None, min_cases: int) -> _Compared:
    column = scores.column(metric)
    cases, left_out = scored_cases(scores, column, model)
    dimensions = dimensions_of(cases, by)
    values = np.array([case.value for case in cases])
    members = _members(cases, dimensions)
    cells = [
        _cell(categories, mask, values, column, note=_reason_not_tested(categories, members, min_cases))
        for categories, mask in members.items()
    ]
    sign = 1.0 if column.metric.better == "higher" else -1.0
    return _Compared(column, cases, left_out, dimensions, members, cells, sign)


def _weaknesses(
    table: _Compared,
    p_values: Mapping[Categories, CellPValues],
    *,
    model: str | None,
    alpha: float,
    min_cases: int,
) -> MetricWeaknesses:
    column, sign = table.column, table.sign
    values = np.array([case.value for case in table.cases])
    is_share = bool(np.isin(values, (0.0, 1.0)).all())
    # Where lower is better the scores are negated, so that the best is 0.
    best = max(0.0, sign) if is_share else None
    cells = []
    for cell, (categories, mask) in zip(table.cells, table.members.items(), strict=True):
        if categories not in p_values:
            cells.append(cell)
            continue
        difference, effect = _effect(values[mask] * sign, values[~mask] * sign, best=best)
        tested = p_values[categories]
        cells.append(
            replace(
                cell,
                p_value=tested.alone,
                p_adjusted=tested.adjusted,
                difference=difference,
                effect=effect,
                # Pairs are tested without the part of a score that its chunk explains: the plain difference
                # may be above 0.
                weak=tested.adjusted <= alpha and difference < 0,
            )
        )
    return MetricWeaknesses(
        metric=column.key,
        better=column.metric.better,
        threshold=column.metric.threshold if math.isfinite(column.metric.threshold) else None,
        model=model,
        cases=len(table.cases),
        left_out=table.left_out,
        by=tuple(table.dimensions),
        test="Permutation test of chunks",
        correction="Westfall–Young (step-down, all metrics)",
        tests=len(p_values),
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


def _effect(scores: Floats, rest: Floats, *, best: float | None) -> tuple[float, CellEffect]:
    """Return the difference of the means of a cell and all other cases, and the size of the effect.

    Args:
        scores: of the cell; higher is better.
        rest: of all other cases.
        best: the better score if there are only two scores, else None.
    """
    difference = float(scores.mean() - rest.mean())
    if best is not None:
        counts = int((scores == best).sum()), len(scores), int((rest == best).sum()), len(rest)
        value, interval = difference_of_proportions(*counts)
        return difference, CellEffect(name="difference of shares", value=value, interval=interval)
    value, interval = probability_of_lower(scores, rest)
    return difference, CellEffect(
        name="chance of a worse score than the rest's", value=value, interval=interval
    )


def describe(weaknesses: MetricWeaknesses) -> Iterator[str]:
    """Yield the lines that describe the result on a terminal."""
    yield (
        f"{weaknesses.metric} ({weaknesses.better} is better): mean {figure(weaknesses.mean)} of"
        f" {weaknesses.cases} cases"
    )
    excluded = ", ".join(f"{count} {_LEFT_OUT[why]}" for why, count in weaknesses.left_out.items() if count)
    if excluded:
        yield f"left out of the answers: {excluded}"
    yield (
        f"{weaknesses.test}, one-sided, each cell against the rest; {weaknesses.tests} tests, correction:"
        f" {weaknesses.correction}; weak where p <= {weaknesses.alpha:g}"
    )
    width = max(len(_named(cell)) for cell in weaknesses.cells)
    for cell in weaknesses.cells:
        yield (
            f"{'WEAK' if cell.weak else '':<5}{_named(cell):<{width}}  {cell.cases:>5} cases  mean"
            f" {figure(cell.mean)}{_describe_comparison(cell)}"
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
        f"  p {figure(cell.p_adjusted)}  {cell.effect.name} {cell.effect.value:+.3f}, 95 % interval"
        f" {figure(low)} to"
        f" {figure(high)}"
    )
