"""Statistics of a comparison: paired differences of each metric, and whether they are worse."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import msgspec
import numpy as np

from pytest_evalstudio.analysis.comparison.intervals import gain_interval
from pytest_evalstudio.analysis.comparison.results import (
    NOTABLE,
    QUANTITIES,
    VERDICTS,
    MetricComparison,
    OperationComparison,
    Quantity,
    Verdict,
)
from pytest_evalstudio.analysis.comparison.sample_size import ALPHA, cases_needed, smallest_detectable
from pytest_evalstudio.analysis.comparison.sides import SideItem
from pytest_evalstudio.core.outcomes import Metric
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.stats.bca import cluster_bca_intervals
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats, Integers, Interval

_OPERATION_DRAWS = 1_999
_MANY_VALUES = 2_000
"""Values from which on samples of them say no more than the normal interval."""
ROUNDING = 1e-9
"""Excess over an allowed drop, as a share of the range, that is none: 1.0 - 0.7 > 0.3 in floating point."""

ModelPairs = Mapping[str, Sequence[tuple[SideItem, SideItem]]]
"""By model, the items that both runs have: base and new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonLimits:
    """Limits of the verdict on a metric, as shares of its range (of its base mean where it has no range).

    Attributes:
        allowed_drop: a drop of at most this size is never worse.
        tolerance: a drop that is surely smaller than this is not worse.
    """

    allowed_drop: float = 0.0
    tolerance: float = 0.05

    def are_exceeded(self, drop: float, unit: float) -> bool:
        """Return True if a drop is greater than the allowed one, in the unit of the metric."""
        return drop > (self.allowed_drop + ROUNDING) * unit


class _Column(msgspec.Struct, frozen=True, kw_only=True):
    """The paired scores of one metric of one model.

    Attributes:
        entry: of the metric in the new run.
        base, new: means.
        n: pairs.
        changed: pairs whose scores differ.
        is_yes_no: whether all scores are 0 or 1.
        new_errors: items with a score in the base run that are errors in the new one.
        sums, counts: shape (clusters,), of the differences of each original case that has any.
    """

    evaluator: str
    entry: Metric
    model: str
    base: float
    new: float
    n: int
    changed: int
    is_yes_no: bool
    new_errors: int
    sums: Floats
    counts: Floats

    @property
    def sign(self) -> float:
        return 1.0 if self.entry.better == "higher" else -1.0

    @property
    def decides(self) -> bool:
        return self.entry.primary or self.entry.decides

    @property
    def unit(self) -> float:
        """The size of the range, or the base mean where the metric has no finite range."""
        width = self.entry.range[1] - self.entry.range[0]
        return width if math.isfinite(width) else abs(self.base)

    @property
    def extreme(self) -> float:
        """The greatest possible change of a case.

        A metric without a finite range has none: the base mean, or the largest change of this run, is taken.
        """
        return max(self.unit, float(np.abs(self.sums / self.counts).max()))


def compare_metrics(
    pairs: ModelPairs,
    evaluators: Mapping[str, EvaluatorEntry],
    limits: ComparisonLimits,
    *,
    unchecked: Mapping[tuple[str, str, str], int] | None = None,
) -> list[MetricComparison]:
    """Return the comparison of each metric and model that both runs scored.

    Args:
        pairs: items that both runs have.
        evaluators: of the new run.
        limits: of the verdicts. A metric is "not worse" only if it is so with the greatest fall for each item
            that is an error in the new run alone.
        unchecked: by evaluator, metric and model, the number of items that it scored in the base run alone
            although they were answered. Such a metric is never "not worse".

    Source: limits of Gaffke, 2005; sign-flip test of Fisher, 1935; correction of Holm, 1979, over the tests
    that can reject at all (Tarone, 1990).
    """
    numbers: dict[tuple[str, str], int] = {}
    clusters = {
        model: np.asarray([numbers.setdefault(new.cluster, len(numbers)) for _, new in matched])
        for model, matched in pairs.items()
    }
    columns = [
        column
        for model, matched in pairs.items()
        for column in _columns(model, matched, evaluators.values(), clusters[model], len(numbers))
    ]
    p_values = [sign_flip_drop(column.sign * column.sums) for column in columns]
    deciding = [index for index, column in enumerate(columns) if column.decides]
    # Given the sizes of the changes, a metric without any cannot be found worse: it is no test of the family.
    tested = [index for index in deciding if columns[index].changed]
    adjusted = dict.fromkeys(deciding, 1.0)
    adjusted |= zip(tested, holm([p_values[index] for index in tested]), strict=True)
    return [
        _compared(
            column,
            p=p_values[index],
            p_adjusted=adjusted.get(index, p_values[index]),
            tests=len(deciding) if column.decides else 1,
            limits=limits,
            unchecked=(unchecked or {}).get((column.evaluator, column.entry.key, column.model), 0),
        )
        for index, column in enumerate(columns)
    ]


def compare_operations(pairs: ModelPairs) -> list[OperationComparison]:
    """Return length, calls, tokens, seconds and cost per answer of each model, where both runs know them.

    Those of `NOTABLE` are tested by signs of the differences of original cases, two-sided and corrected by
    Holm: of logarithms, which a few slow answers do not decide, except for calls and cached tokens, which may
    be none.
    """
    compared: list[OperationComparison] = []
    tested: dict[int, _Changes] = {}
    for model, matched in pairs.items():
        for quantity in QUANTITIES:
            read = operator.attrgetter(quantity)
            values = [read(base) for base, _ in matched]
            if values.count(None) == len(values):
                continue
            array = np.asarray([values, [read(new) for _, new in matched]], dtype=np.float64).T
            held = np.isfinite(array).all(axis=1)
            array, items = array[held], [matched[index][1] for index in np.flatnonzero(held).tolist()]
            if not array.any():
                continue
            differences = array[:, 1] - array[:, 0]
            interval = _mean_interval(differences)
            if quantity in NOTABLE:
                tested[len(compared)] = _changes_of(quantity, array, items)
            compared.append(
                OperationComparison(
                    quantity=quantity,
                    model=model,
                    n=len(array),
                    changed=int(np.count_nonzero(differences)),
                    base=float(array[:, 0].mean()),
                    new=float(array[:, 1].mean()),
                    difference=float(differences.mean()),
                    low=interval[0] if interval else None,
                    high=interval[1] if interval else None,
                )
            )
    adjusted = holm([each.p for each in tested.values()])
    for (index, changes), p in zip(tested.items(), adjusted, strict=True):
        compared[index] = changes.noted(compared[index], p)
    return compared


class _Changes(msgspec.Struct, frozen=True):
    """Paired changes of a quantity of one model.

    Attributes:
        p: two-sided.
        mean: of the changes, as they are tested.
        lowest, highest: keys of the cases that changed most.
    """

    p: float
    mean: float
    lowest: str
    highest: str

    def noted(self, operation: OperationComparison, p_adjusted: float) -> OperationComparison:
        """Return the quantity with its test, and whether its change is to be told."""
        limit, difference = NOTABLE[operation.quantity], operation.difference
        is_large = abs(difference) >= max(limit.share * operation.base, limit.amount)
        return msgspec.structs.replace(
            operation,
            p_adjusted=p_adjusted,
            # Few large values can move the mean against the tested logarithms: neither direction is proven.
            is_notable=p_adjusted <= ALPHA and is_large and self.mean * difference > 0,
            key=self.highest if difference > 0 else self.lowest,
        )


def _changes_of(quantity: Quantity, array: Floats, items: Sequence[SideItem]) -> _Changes:
    if quantity not in ("tool_calls", "cached_share"):
        is_positive = (array > 0).all(axis=1)
        array, items = (
            np.log(array[is_positive]),
            [items[index] for index in np.flatnonzero(is_positive).tolist()],
        )
    if not len(array):
        return _Changes(1.0, 0.0, "", "")
    changes = array[:, 1] - array[:, 0]
    rows: dict[tuple[str, str], int] = {}
    groups = [rows.setdefault(item.cluster, len(rows)) for item in items]
    sums = np.bincount(groups, changes).astype(np.float64)
    p = min(1.0, 2 * min(sign_flip_drop(sign * sums, draws=_OPERATION_DRAWS) for sign in (1.0, -1.0)))
    lowest, highest = (items[int(index)].cluster[1] for index in (np.argmin(changes), np.argmax(changes)))
    return _Changes(p, float(changes.mean()), lowest, highest)


def _mean_interval(values: Floats) -> Interval | None:
    """Return the 95 % interval of a mean, for information: of samples, or the normal one of many values."""
    if len(values) < _MANY_VALUES:
        return cluster_bca_intervals(values[:, None], np.ones((len(values), 1)))[0]
    half_width = NormalDist().inv_cdf(0.975) * float(values.std(ddof=1)) / math.sqrt(len(values))
    return float(values.mean()) - half_width, float(values.mean()) + half_width


def overall(metrics: Iterable[MetricComparison], *, has_unchecked: bool = False) -> Verdict:
    """Return the worst verdict of the metrics that decide; "inconclusive" where none does.

    Args:
        has_unchecked: whether a metric has no score any more for some items, perhaps for all.
    """
    verdicts = {metric.verdict for metric in metrics if metric.decides}
    if has_unchecked:
        verdicts.add("inconclusive")
    return next((verdict for verdict in VERDICTS if verdict in verdicts), "inconclusive")


def _columns(
    model: str,
    matched: Sequence[tuple[SideItem, SideItem]],
    evaluators: Iterable[EvaluatorEntry],
    clusters: Integers,
    total: int,
) -> list[_Column]:
    columns = []
    is_error = np.asarray([item.outcome == "error" for _, item in matched])
    for evaluator in evaluators:
        for entry in evaluator.metrics:
            name = (evaluator.id, entry.key)
            # NumPy converts None, a metric without a score, to NaN.
            base = np.asarray([item.scores.get(name) for item, _ in matched], dtype=np.float64)
            new = np.asarray([item.scores.get(name) for _, item in matched], dtype=np.float64)
            held = np.isfinite(base) & np.isfinite(new)
            if not held.any():
                continue
            new_errors = int(np.count_nonzero(np.isfinite(base) & ~held & is_error))
            base, new, groups = base[held], new[held], clusters[held]
            counts = np.bincount(groups, minlength=total)
            filled = counts > 0
            columns.append(
                _Column(
                    evaluator=evaluator.id,
                    entry=entry,
                    model=model,
                    base=float(base.mean()),
                    new=float(new.mean()),
                    n=len(base),
                    changed=int((new != base).sum()),
                    is_yes_no=bool(np.isin(base, (0.0, 1.0)).all() and np.isin(new, (0.0, 1.0)).all()),
                    new_errors=new_errors,
                    sums=np.bincount(groups, new - base, total)[filled].astype(np.float64),
                    counts=counts[filled].astype(np.float64),
                )
            )
    return columns


def _compared(
    column: _Column,
    *,
    p: float,
    p_adjusted: float,
    tests: int,
    limits: ComparisonLimits,
    unchecked: int = 0,
) -> MetricComparison:
    difference = column.new - column.base
    gain = column.sign * difference
    interval = gain_interval(
        column.sign * column.sums,
        column.counts,
        extreme=column.extreme,
        is_drop=p_adjusted <= ALPHA,
    )
    error, cases = _standard_error(column.sums, column.counts), len(column.counts)
    error_share = column.new_errors / (column.n + column.new_errors)
    verdict = _verdict(gain, interval, p_adjusted, unit=column.unit, limits=limits, error_share=error_share)
    if unchecked and verdict == "not worse":
        verdict = "inconclusive"
    low, high = interval if interval is not None else (None, None)
    if interval is not None and column.sign < 0:
        low, high = 0.0 - interval[1], 0.0 - interval[0]  # the minus sign alone makes an end of 0 a -0
    return MetricComparison(
        evaluator=column.evaluator,
        metric=column.entry.key,
        model=column.model,
        n=column.n,
        changed=column.changed,
        base=column.base,
        new=column.new,
        difference=difference,
        low=low,
        high=high,
        p=p,
        p_adjusted=p_adjusted,
        smallest_detectable=smallest_detectable(
            error, cases, unit=column.unit, is_yes_no=column.is_yes_no, tests=tests
        ),
        verdict=verdict,
        cases_needed=cases_needed(
            gain,
            error * math.sqrt(cases),
            cases,
            tolerance=column.unit * limits.tolerance,
            extreme=column.extreme,
            tests=tests,
        )
        if verdict == "inconclusive" and not (column.new_errors or unchecked)
        else None,
        new_errors=column.new_errors,
        unchecked=unchecked,
        decides=column.decides,
        better=column.entry.better,
        unit=column.unit,
    )


def _verdict(
    gain: float,
    interval: Interval | None,
    p: float,
    *,
    unit: float,
    limits: ComparisonLimits,
    error_share: float,
) -> Verdict:
    if p <= ALPHA and limits.are_exceeded(-gain, unit):
        return "worse"
    # Nobody knows the answers of new errors: each may have fallen by the whole range.
    if (
        interval is not None
        and (1.0 - error_share) * interval[0] - error_share * unit > -limits.tolerance * unit
    ):
        return "not worse"
    return "inconclusive"


def _standard_error(sums: Floats, counts: Floats) -> float:
    """Return the standard error of the mean difference, clusters being independent."""
    if len(sums) < 2:
        return math.inf
    residuals = sums - counts * (sums.sum() / counts.sum())
    clusters = len(sums)
    return math.sqrt(clusters / (clusters - 1) * float((residuals**2).sum())) / float(counts.sum())
