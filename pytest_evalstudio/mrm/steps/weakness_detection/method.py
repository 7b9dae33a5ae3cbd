"""Weak points by category: where scores are lower than elsewhere, as far as the number of cases can tell
(HCAT, section 6.2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.mrm.data.results import Column, Scores
from pytest_evalstudio.mrm.steps.weakness_detection.scored import Scored, dimensions_of, scored_cases
from pytest_evalstudio.stats.comparison import fisher_fewer_passes, holm, mann_whitney_lower
from pytest_evalstudio.stats.intervals import difference_of_proportions, probability_of_lower

Floats = npt.NDArray[np.float64]

LEAST_CASES = 5
_LEFT_OUT = {
    "perturbed": "perturbed",
    "without_score": "without a score",
    "without_category": "without a category",
}
Place = tuple[tuple[str, str], ...]


def find_weaknesses(
    scores: Scores,
    metric: str,
    *,
    by: Sequence[str] = (),
    model: str | None = None,
    alpha: float = 0.05,
    min_cases: int = LEAST_CASES,
) -> dict[str, Any]:
    """Compare each category, and each pair of categories of two dimensions, with all other cases.

    A case counts once, with the mean of its models' scores: answers to one question are no independent
    witnesses. Perturbed cases are left out. A cell is weak if its cases score lower than the rest, one-sided,
    after Holm's correction over all cells that were tested: each flag is a finding that somebody has to act
    on, so that the chance of any false one is bounded, and cells overlap, which Holm allows. Passes and
    failures are compared by Fisher's exact test, other scores by the Mann–Whitney test.

    Args:
        metric: `evaluator.metric`, or a metric key that one evaluator alone has.
        by: dimensions; all that occur where not given. `query_type` stands for `generator`, the dimension of
            generated suites, where cases have categories of this one only.
        model: key or name of the model whose scores count; all where not given.
        alpha: a cell is weak where its adjusted p is at most alpha / 2, the side of a two-sided test that is
            looked at; so a weak cell's 95 % interval lies on that side, too, and where nothing is weak the
            chance of any flag is at most alpha / 2.
        min_cases: cells with fewer cases, or with fewer left beside them, are shown and not tested.

    Returns:
        JSON-ready figures; `cells` in order, each {by, cases, mean, quartiles, least, greatest, pass_share,
        p_value, p_adjusted, difference, effect, weak, note}.

    Raises:
        ConfigurationError: for a name that the results do not have, or limits that make no sense.
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
    cells = [_cell(place, mask, values, column) for place, mask in members.items()]
    tested = [
        number
        for number, mask in enumerate(members.values())
        if _testable(cells[number], mask, members, min_cases)
    ]
    for number, mask in enumerate(members.values()):
        if number in tested:
            cells[number] |= _compared(
                values[mask] * sign, values[~mask] * sign, best=max(0.0, sign) if is_share else None
            )
    for number, adjusted in zip(tested, holm([cells[number]["p_value"] for number in tested]), strict=True):
        cells[number] |= {"p_adjusted": adjusted, "weak": adjusted <= alpha / 2}
    return {
        "metric": column.key,
        "better": column.metric.better,
        "threshold": column.metric.threshold if math.isfinite(column.metric.threshold) else None,
        "model": model,
        "cases": len(cases),
        "left_out": left_out,
        "by": dimensions,
        "test": "Fisher's exact test" if is_share else "Mann–Whitney test",
        "correction": "Holm",
        "tests": len(tested),
        "alpha": alpha,
        "min_cases": min_cases,
        "mean": float(values.mean()),
        "cells": cells,
        "weak": sum(cell["weak"] for cell in cells),
    }


def _members(cases: Sequence[Scored], dimensions: Sequence[str]) -> dict[Place, npt.NDArray[np.bool_]]:
    """Which cases are in each cell: first the categories, then the pairs of categories that occur
    together.
    """
    single = {
        ((dimension, value),): np.array([value in case.about.get(dimension, ()) for case in cases])
        for dimension in dimensions
        for value in sorted({value for case in cases for value in case.about.get(dimension, ())})
    }
    pairs: dict[Place, npt.NDArray[np.bool_]] = {}
    for (one, mask), (other, other_mask) in itertools.combinations(single.items(), 2):
        both = mask & other_mask
        if one[0][0] != other[0][0] and both.any():
            pairs[(*one, *other)] = both
    return single | pairs


def _cell(place: Place, mask: npt.NDArray[np.bool_], values: Floats, column: Column) -> dict[str, Any]:
    own = values[mask]
    passes = (
        [column.metric.passes(value) for value in own.tolist()]
        if math.isfinite(column.metric.threshold)
        else []
    )
    return {
        "by": dict(place),
        "cases": len(own),
        "mean": float(own.mean()),
        "quartiles": [float(quartile) for quartile in np.percentile(own, (25, 50, 75))],
        "least": float(own.min()),
        "greatest": float(own.max()),
        "pass_share": sum(passes) / len(passes) if passes else None,
        "p_value": None,
        "p_adjusted": None,
        "difference": None,
        "effect": None,
        "weak": False,
        "note": "",
    }


def _testable(
    cell: dict[str, Any],
    mask: npt.NDArray[np.bool_],
    members: Mapping[Place, npt.NDArray[np.bool_]],
    min_cases: int,
) -> bool:
    """Report whether a cell is tested, and note the reason if not."""
    place = tuple(cell["by"].items())
    same = next((part for part in place if len(place) > 1 and np.array_equal(members[(part,)], mask)), None)
    if same is not None:
        cell["note"] = f"the same cases as {':'.join(same)}"
    elif mask.sum() < min_cases:
        cell["note"] = f"fewer than {min_cases} cases"
    elif (~mask).sum() < min_cases:
        cell["note"] = f"fewer than {min_cases} cases beside it"
    return not cell["note"]


def _compared(own: Floats, rest: Floats, *, best: float | None) -> dict[str, Any]:
    """A cell against the rest; higher is better for both.

    Args:
        best: the better one of the two scores that there are, None where there are more.
    """
    difference = float(own.mean() - rest.mean())
    if best is not None:
        counts = int((own == best).sum()), len(own), int((rest == best).sum()), len(rest)
        value, interval = difference_of_proportions(*counts)
        effect = {"name": "difference of shares", "value": value, "interval": interval}
        return {"p_value": fisher_fewer_passes(*counts), "difference": difference, "effect": effect}
    value, interval = probability_of_lower(own, rest)
    effect = {"name": "chance of a worse score than the rest's", "value": value, "interval": interval}
    return {"p_value": mann_whitney_lower(own, rest), "difference": difference, "effect": effect}


def describe(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines that describe the result on a terminal."""
    yield (
        f"{found['metric']} ({found['better']} is better): mean {found['mean']:.3f} of {found['cases']} cases"
    )
    left = ", ".join(f"{count} {_LEFT_OUT[why]}" for why, count in found["left_out"].items() if count)
    if left:
        yield f"left out of the answers: {left}"
    yield (
        f"{found['test']}, one-sided, each cell against the rest; {found['tests']} tests, Holm's correction;"
        f" weak where p <= {found['alpha'] / 2:g}"
    )
    width = max(len(_named(cell)) for cell in found["cells"])
    for cell in found["cells"]:
        yield (
            f"{'WEAK' if cell['weak'] else '':<5}{_named(cell):<{width}}  {cell['cases']:>5} cases  mean"
            f" {cell['mean']:.3f}{_describe_comparison(cell)}"
        )
    yield f"{found['weak']} weak" if found["weak"] else "nothing is weak, as far as so many cases can tell"


def _named(cell: Mapping[str, Any]) -> str:
    return " & ".join(f"{dimension}:{value}" for dimension, value in cell["by"].items())


def _describe_comparison(cell: Mapping[str, Any]) -> str:
    if cell["effect"] is None:
        return f"  ({cell['note']})"
    effect = cell["effect"]
    low, high = effect["interval"]
    return (
        f"  p {cell['p_adjusted']:.4f}  {effect['name']} {effect['value']:+.3f}, 95% interval {low:.3f} to"
        f" {high:.3f}"
    )
