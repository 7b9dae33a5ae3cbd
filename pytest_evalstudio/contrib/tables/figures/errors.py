"""Rows of a scored table that could not be scored: their number and the first reason of each code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pytest_evalstudio.contrib.tables.scored_record import ErrorExample, MetricAggregate
from pytest_evalstudio.text.figures import counted


def error_lines(aggregates: Iterable[MetricAggregate]) -> list[str]:
    """Return a line for each error code, the most frequent first.

    Args:
        aggregates: of disjoint rows, e.g. of one metric for each model.
    """
    counts: Counter[str] = Counter()
    examples: dict[str, ErrorExample] = {}
    for aggregate in aggregates:
        counts.update(aggregate.errors)
        for code, example in aggregate.error_examples.items():
            if code not in examples or example.row_id < examples[code].row_id:
                examples[code] = example
    return [_line(code, count, examples.get(code)) for code, count in counts.most_common()]


def _line(code: str, count: int, example: ErrorExample | None) -> str:
    line = f"{counted(count, 'error')} ({code.replace('_', ' ')})"
    if example is None or not example.reason:
        return line
    return f"{line}, {'first' if count > 1 else 'in'} row {example.row_id}: {example.reason}"
