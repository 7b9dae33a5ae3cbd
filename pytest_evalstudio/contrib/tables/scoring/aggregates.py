"""Aggregates of a batch's scores: by model, and by model and value of each kept column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pytest_evalstudio.contrib.tables.scored_record import (
    MAX_WORST,
    ErrorExample,
    LabelCount,
    MetricAggregate,
    StratumMoments,
    WorstRow,
    merge,
    worst_rows,
)
from pytest_evalstudio.contrib.tables.sketches import sketch_of
from pytest_evalstudio.core.text import excerpt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pytest_evalstudio.core.outcomes import Metric

# Those of scored rows come first: `aggregate` selects them by `<= SCORE`.
PASSED, FAILED, SCORE, NOT_APPLICABLE, ERROR, EMPTY = range(6)
STATUSES = ("passed", "failed", "score", "not_applicable", "error", "no_answer")
"""Words of the statuses, by number."""
REASON_CHARS = 300
MAX_GROUP_VALUES = 1_000
"""A kept column with more values gets no aggregates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Rows of a batch that are aggregated together: indices of a model, and of a group of it."""

    model: str
    group: str
    group_value: str
    rows: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RowNumbers:
    """Numbers of the rows of a batch that hold for all metrics."""

    row_ids: NDArray[np.int64]
    weights: NDArray[np.float64]
    strata: NDArray[np.int32]
    is_sample: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricColumn:
    """Scores of one metric of a batch.

    Attributes:
        values: NaN where there is none.
        statuses: numbers of `STATUSES`.
        codes: outcome codes.
        reasons: masked reasons of the outcomes.
        labels: pairs of expected and answered label of each row, None without; only of some evaluators.
    """

    evaluator: str
    metric: Metric
    values: NDArray[np.float64]
    statuses: NDArray[np.int8]
    codes: Sequence[str]
    reasons: Sequence[str]
    labels: Sequence[tuple[str, str] | None] | None = None


def partitions(models: Sequence[str], groups: Mapping[str, Sequence[str]]) -> list[Partition]:
    """Return the parts of a batch.

    Args:
        models: model of each row.
        groups: kept column to its value in each row.
    """
    # As objects: an array of texts would take the width of the longest for each.
    names = np.array(models, dtype=object)
    parts = []
    for model, rows in _places(names, np.arange(len(names))):
        parts.append(Partition(model=model, group="", group_value="", rows=rows))
        for group, values in groups.items():
            parts += [
                Partition(model=model, group=group, group_value=value, rows=positions)
                for value, positions in _places(np.array(values, dtype=object), rows)
            ]
    return parts


def _places(values: NDArray[np.object_], rows: NDArray[np.int64]) -> list[tuple[str, NDArray[np.int64]]]:
    """Return each value with the rows that have it."""
    by_value: dict[str, list[int]] = {}
    for row in rows.tolist():
        by_value.setdefault(values[row], []).append(row)
    return [(value, np.array(by_value[value], dtype=np.int64)) for value in sorted(by_value)]


def aggregate(column: MetricColumn, part: Partition, numbers: RowNumbers) -> MetricAggregate:
    """Return the figures of a metric for a part of a batch."""
    statuses = column.statuses[part.rows]
    counts = np.bincount(statuses, minlength=len(STATUSES))
    scored = part.rows[statuses <= SCORE]
    finite = scored[np.isfinite(column.values[scored])]
    values, weights = column.values[finite], numbers.weights[finite]
    weight = float(weights.sum())
    errors = part.rows[statuses == ERROR]
    mean = float((weights * values).sum() / weight) if weight else 0.0
    is_any = bool(len(values))
    return MetricAggregate(
        evaluator=column.evaluator,
        metric=column.metric.key,
        model=part.model,
        better=column.metric.better,
        group=part.group,
        group_value=part.group_value,
        scored=len(scored),
        passed=int(counts[PASSED]),
        failed=int(counts[FAILED]),
        not_applicable=int(counts[NOT_APPLICABLE]),
        no_answer=int(counts[EMPTY]),
        infinite=len(scored) - len(finite),
        errors=dict(Counter(column.codes[row] for row in errors)),
        error_examples=_error_examples(column, errors, numbers),
        weight=weight,
        mean=mean,
        m2=float((weights * (values - mean) ** 2).sum()),
        min=float(values.min()) if is_any else None,
        max=float(values.max()) if is_any else None,
        sketch=sketch_of(values),
        labels=_labels(column, scored),
        strata=_strata(column, scored, numbers) if numbers.is_sample else (),
        worst=_worst(column, scored, numbers),
    )


def _error_examples(
    column: MetricColumn, errors: NDArray[np.int64], numbers: RowNumbers
) -> dict[str, ErrorExample]:
    examples: dict[str, ErrorExample] = {}
    for row in errors[np.argsort(numbers.row_ids[errors], kind="stable")].tolist():
        if column.codes[row] not in examples:
            reason = excerpt(column.reasons[row], REASON_CHARS)
            examples[column.codes[row]] = ErrorExample(int(numbers.row_ids[row]), reason)
    return examples


def _labels(column: MetricColumn, scored: NDArray[np.int64]) -> tuple[LabelCount, ...]:
    if column.labels is None:
        return ()
    counts = Counter(pair for row in scored if (pair := column.labels[row]) is not None)
    return tuple(
        LabelCount(expected, answered, count) for (expected, answered), count in sorted(counts.items())
    )


def _strata(
    column: MetricColumn, scored: NDArray[np.int64], numbers: RowNumbers
) -> tuple[StratumMoments, ...]:
    moments = []
    for stratum in np.unique(numbers.strata[scored]):
        rows = scored[numbers.strata[scored] == stratum]
        values = column.values[rows]
        values = values[np.isfinite(values)]
        mean = float(values.mean()) if len(values) else 0.0
        moments.append(
            StratumMoments(
                stratum=int(stratum),
                n=len(values),
                mean=mean,
                m2=float(((values - mean) ** 2).sum()),
                passed=int((column.statuses[rows] == PASSED).sum()),
                failed=int((column.statuses[rows] == FAILED).sum()),
                sketch=sketch_of(values),
            )
        )
    return tuple(moments)


def _worst(column: MetricColumn, scored: NDArray[np.int64], numbers: RowNumbers) -> tuple[WorstRow, ...]:
    values = column.values[scored]
    badness = values if column.metric.better == "higher" else -values
    first = np.argsort(badness, kind="stable")[:MAX_WORST]
    rows = tuple(
        WorstRow(row_id, value)
        for row_id, value in zip(numbers.row_ids[scored[first]].tolist(), values[first].tolist(), strict=True)
    )
    return worst_rows(rows, column.metric.better)


class MergedAggregates:
    """Aggregates of all batches so far; a kept column with too many values is dropped.

    Attributes:
        ungrouped: such columns.
    """

    def __init__(self) -> None:
        self._merged: dict[tuple[str, str, str, str, str], MetricAggregate] = {}
        self._values: dict[str, set[str]] = {}
        self.ungrouped: set[str] = set()

    def add(self, aggregates: Iterable[MetricAggregate]) -> None:
        """Merge the aggregates of a batch."""
        for entry in aggregates:
            if entry.group in self.ungrouped:
                continue
            if entry.group:
                self._values.setdefault(entry.group, set()).add(entry.group_value)
                if len(self._values[entry.group]) > MAX_GROUP_VALUES:
                    self._drop(entry.group)
                    continue
            previous = self._merged.get(entry.identity)
            self._merged[entry.identity] = entry if previous is None else merge(previous, entry)

    def all(self) -> list[MetricAggregate]:
        """Return the aggregates in the order of their identities."""
        return [self._merged[identity] for identity in sorted(self._merged)]

    def _drop(self, group: str) -> None:
        self.ungrouped.add(group)
        self._merged = {identity: entry for identity, entry in self._merged.items() if entry.group != group}
