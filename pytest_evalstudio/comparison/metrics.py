"""Statistics of a comparison: paired differences of each metric, and whether they are worse."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import msgspec
import numpy as np

from pytest_evalstudio.comparison.results import VERDICTS, MetricComparison, OperationComparison, Verdict
from pytest_evalstudio.comparison.sides import SideItem
from pytest_evalstudio.record.schema import EvaluatorEntry, MetricEntry
from pytest_evalstudio.stats.bca import cluster_bca_intervals
from pytest_evalstudio.stats.comparison import holm
from pytest_evalstudio.stats.sign_flip import sign_flip_drop
from pytest_evalstudio.stats.types import Floats, Integers, Interval

ALPHA = 0.05
POWER = 0.8
_FEWEST_FALLS = 5
"""The least number of falls, and no rise, at which the exact test gives p <= 0.05."""
_MOST_CASES = 10_000_000
_NORMAL = NormalDist()

ModelPairs = Mapping[str, Sequence[tuple[SideItem, SideItem]]]
"""By model, the items that both runs have: base and new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of the verdict on a metric, as shares of its range (of its base mean where it has no range).

    Attributes:
        allowed_drop: a drop of at most this size is never worse.
        tolerance: a drop that is surely smaller than this is not worse.
    """

    allowed_drop: float = 0.0
    tolerance: float = 0.05


class _Column(msgspec.Struct, frozen=True, kw_only=True):
    """The paired scores of one metric of one model.

    Attributes:
        entry: of the metric in the new run.
        base, new: means.
        n: pairs.
        same: whether all pairs are equal.
        sums, counts: shape (clusters,), of the differences of each original case of the run.
    """

    evaluator: str
    entry: MetricEntry
    model: str
    base: float
    new: float
    n: int
    same: bool
    sums: Floats
    counts: Floats

    @property
    def sign(self) -> float:
        return 1.0 if self.entry.better == "higher" else -1.0

    @property
    def decides(self) -> bool:
        return self.entry.primary or self.entry.asserted

    @property
    def unit(self) -> float:
        """The size of the range, or the base mean where the metric has no finite range."""
        width = self.entry.range[1] - self.entry.range[0]
        return width if math.isfinite(width) else abs(self.base)


def compare_metrics(
    pairs: ModelPairs, evaluators: Mapping[str, EvaluatorEntry], limits: Limits
) -> list[MetricComparison]:
    """Return the comparison of each metric and model that both runs scored.

    Args:
        pairs: items that both runs have.
        evaluators: of the new run.
        limits: of the verdicts.

    Source: intervals of Efron, 1987; sign-flip test of Fisher, 1935; correction of Holm, 1979.
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
    intervals = _intervals(columns)
    p_values = [sign_flip_drop(column.sign * column.sums) for column in columns]
    deciding = [index for index, column in enumerate(columns) if column.decides]
    adjusted = dict(zip(deciding, holm([p_values[index] for index in deciding]), strict=True))
    return [
        _compared(
            column,
            intervals[index],
            p=p_values[index],
            p_adjusted=adjusted.get(index, p_values[index]),
            tests=len(deciding) if column.decides else 1,
            limits=limits,
        )
        for index, column in enumerate(columns)
    ]


def compare_operations(pairs: ModelPairs) -> list[OperationComparison]:
    """Return seconds and cost per answer of each model in both runs, where both runs know them."""
    compared = []
    for model, matched in pairs.items():
        for quantity in ("duration_s", "cost_usd"):
            read = operator.attrgetter(quantity)
            values = [read(base) for base, _ in matched]
            if values.count(None) == len(values):
                continue
            array = np.asarray([values, [read(new) for _, new in matched]], dtype=np.float64).T
            array = array[np.isfinite(array).all(axis=1)]
            if not array.any():
                continue
            differences = (array[:, 1] - array[:, 0])[:, None]
            interval = cluster_bca_intervals(differences, np.ones_like(differences))[0]
            compared.append(
                OperationComparison(
                    quantity=quantity,
                    model=model,
                    n=len(array),
                    base=float(array[:, 0].mean()),
                    new=float(array[:, 1].mean()),
                    difference=float(differences.mean()),
                    low=interval[0] if interval else None,
                    high=interval[1] if interval else None,
                )
            )
    return compared


def overall(metrics: Iterable[MetricComparison]) -> Verdict:
    """Return the worst verdict of the metrics that decide; "not worse" where none does."""
    verdicts = {metric.verdict for metric in metrics if metric.decides}
    return next((verdict for verdict in VERDICTS if verdict in verdicts), "not worse")


def _columns(
    model: str,
    matched: Sequence[tuple[SideItem, SideItem]],
    evaluators: Iterable[EvaluatorEntry],
    clusters: Integers,
    total: int,
) -> list[_Column]:
    columns = []
    for evaluator in evaluators:
        for entry in evaluator.metrics:
            name = (evaluator.id, entry.key)
            base = np.asarray([item.scores.get(name) for item, _ in matched], dtype=np.float64)
            new = np.asarray([item.scores.get(name) for _, item in matched], dtype=np.float64)
            held = np.isfinite(base) & np.isfinite(new)
            if not held.any():
                continue
            base, new = base[held], new[held]
            columns.append(
                _Column(
                    evaluator=evaluator.id,
                    entry=entry,
                    model=model,
                    base=float(base.mean()),
                    new=float(new.mean()),
                    n=len(base),
                    same=bool((new == base).all()),
                    sums=np.bincount(clusters[held], new - base, total).astype(np.float64),
                    counts=np.bincount(clusters[held], minlength=total).astype(np.float64),
                )
            )
    return columns


def _intervals(columns: Sequence[_Column]) -> list[Interval | None]:
    """Return the interval of each column, over the same draws; none are made where no score changed."""
    moved = [index for index, column in enumerate(columns) if not column.same]
    intervals: list[Interval | None] = [
        (0.0, 0.0) if (column.counts > 0).sum() > 1 else None for column in columns
    ]
    if moved:
        sums = np.stack([columns[index].sums for index in moved], axis=1)
        counts = np.stack([columns[index].counts for index in moved], axis=1)
        for index, interval in zip(moved, cluster_bca_intervals(sums, counts), strict=True):
            intervals[index] = interval
    return intervals


def _compared(
    column: _Column,
    interval: Interval | None,
    *,
    p: float,
    p_adjusted: float,
    tests: int,
    limits: Limits,
) -> MetricComparison:
    difference = column.new - column.base
    gain = column.sign * difference
    held = column.counts > 0
    spread, clusters = _standard_error(column.sums[held], column.counts[held]), int(held.sum())
    verdict = _verdict(column, gain, interval, p_adjusted, limits)
    return MetricComparison(
        evaluator=column.evaluator,
        metric=column.entry.key,
        model=column.model,
        n=column.n,
        base=column.base,
        new=column.new,
        difference=difference,
        low=interval[0] if interval else None,
        high=interval[1] if interval else None,
        p=p,
        p_adjusted=p_adjusted,
        smallest_detectable=_smallest_detectable(spread, clusters, column.unit, tests),
        verdict=verdict,
        cases_needed=_cases_needed(gain, spread, clusters, column.unit * limits.tolerance, tests)
        if verdict == "inconclusive"
        else None,
        decides=column.decides,
    )


def _verdict(column: _Column, gain: float, interval: Interval | None, p: float, limits: Limits) -> Verdict:
    if p <= ALPHA and -gain > limits.allowed_drop * column.unit:
        return "worse"
    tolerated = -limits.tolerance * column.unit
    if column.same or (
        interval is not None and min(column.sign * interval[0], column.sign * interval[1]) > tolerated
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


def _smallest_detectable(spread: float, clusters: int, unit: float, tests: int) -> float | None:
    """Return the drop that is found with 80 % power at the level of Holm's first step.

    It is never less than what the exact test needs at all: falls in 5 cases and rises in none.
    """
    if not math.isfinite(spread):
        return None
    factor = _NORMAL.inv_cdf(1 - ALPHA / tests) + _NORMAL.inv_cdf(POWER)
    least = min(1.0, _FEWEST_FALLS / clusters) * unit
    return max(factor * spread, least) if spread > 0 else least


def _cases_needed(gain: float, spread: float, clusters: int, tolerance: float, tests: int) -> int | None:
    """Return the number of original cases that would settle the verdict if the difference stays as it is."""
    if not math.isfinite(spread) or spread == 0:
        return None
    power = _NORMAL.inv_cdf(POWER)
    distances = []
    if gain > -tolerance:
        distances.append((_NORMAL.inv_cdf(0.975) + power) * spread / (gain + tolerance))
    if gain < 0:
        distances.append((_NORMAL.inv_cdf(1 - ALPHA / tests) + power) * spread / -gain)
    factor = min(distances, default=math.inf)
    needed = clusters * factor**2
    return max(clusters + 1, math.ceil(needed)) if needed < _MOST_CASES else None
