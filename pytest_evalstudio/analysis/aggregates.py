"""Evaluators with model-wide figures of their own, made again from a record's header."""

from __future__ import annotations

from typing import cast

from pytest_evalstudio.core.plugins.evaluator import Aggregates
from pytest_evalstudio.core.plugins.registry import Registry
from pytest_evalstudio.record.schema import Run


def aggregates_of(run: Run, registry: Registry) -> dict[str, Aggregates]:
    """Return the aggregating evaluators of a run by id, without those that are not installed."""
    aggregates: dict[str, Aggregates] = {}
    for name, entry in run.evaluators.items():
        if entry.type not in registry.evaluators:
            continue
        if registry.evaluators.spec(entry.type).aggregates:
            aggregates[name] = cast(Aggregates, registry.evaluators.get(entry.type)(**entry.parameters))
    return aggregates
