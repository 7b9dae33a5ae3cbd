"""Evaluators with model-wide figures of their own, made again from a record's header."""

from __future__ import annotations

from pytest_evalstudio.core.contracts import Aggregates
from pytest_evalstudio.core.registry import Registry
from pytest_evalstudio.record.schema import Run


def aggregates_of(run: Run, registry: Registry) -> dict[str, Aggregates]:
    """The evaluators of a run that aggregate, by id; those this installation does not know are left out."""
    found: dict[str, Aggregates] = {}
    for name, entry in run.evaluators.items():
        if entry.type not in registry.evaluators:
            continue
        cls = registry.evaluators.get(entry.type)
        if issubclass(cls, Aggregates):
            found[name] = cls(**entry.parameters)
    return found
