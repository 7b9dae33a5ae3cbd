"""Model-wide figures of evaluators with labels, from the confusion counts of the aggregates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from pytest_evalstudio.contrib.tables.scored_record import LabelCount, MetricAggregate
from pytest_evalstudio.core.plugins.evaluator import Labels
from pytest_evalstudio.scoring.plan import ConfiguredEvaluator

MAX_UNEXPECTED = 100
"""Answered labels that are never expected and are listed one by one."""
OTHER = "(other)"
_Part = tuple[str, str, str, str]


def with_figures(
    aggregates: Sequence[MetricAggregate], evaluators: Sequence[ConfiguredEvaluator]
) -> list[MetricAggregate]:
    """Return the aggregates with model-wide figures; rare labels that are never expected become one."""
    by_id = {selected.id: selected for selected in evaluators if selected.spec.labels}
    figures: dict[_Part, dict[str, float]] = {}
    for entry in aggregates:
        if entry.labels and entry.evaluator in by_id:
            # The figure needs all labels, before `_bounded` joins rare ones.
            counts = {(label.expected, label.answered): label.count for label in entry.labels}
            evaluator = cast(Labels, by_id[entry.evaluator].evaluator)
            figures[_part(entry)] = dict(evaluator.aggregate_labels(counts).scores)
    return [
        msgspec.structs.replace(
            entry,
            figure=figures[_part(entry)].get(entry.metric),
            labels=_bounded(entry.labels),
        )
        if _part(entry) in figures
        else entry
        for entry in aggregates
    ]


def _part(entry: MetricAggregate) -> _Part:
    return entry.evaluator, entry.model, entry.group, entry.group_value


def _bounded(labels: tuple[LabelCount, ...]) -> tuple[LabelCount, ...]:
    expected = {label.expected for label in labels}
    unexpected: dict[str, int] = {}
    for label in labels:
        if label.answered not in expected:
            unexpected[label.answered] = unexpected.get(label.answered, 0) + label.count
    if len(unexpected) <= MAX_UNEXPECTED:
        return labels
    listed = set(sorted(unexpected, key=lambda name: (-unexpected[name], name))[:MAX_UNEXPECTED]) | expected
    counts: dict[tuple[str, str], int] = {}
    for label in labels:
        pair = (label.expected, label.answered if label.answered in listed else OTHER)
        counts[pair] = counts.get(pair, 0) + label.count
    return tuple(LabelCount(*pair, count) for pair, count in sorted(counts.items()))
