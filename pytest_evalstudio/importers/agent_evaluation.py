"""Evaluation sets of Agent Evaluation, also those whose rows hold a trace in place of request and response.

Source: Mosaic AI Agent Evaluation, input schema.
"""

from __future__ import annotations

from pathlib import Path

from pytest_evalstudio.formats.agent_evaluation import ROOT, is_evaluation_set, read_evaluation_set
from pytest_evalstudio.formats.imported.records import Imported, records
from pytest_evalstudio.formats.source import Source
from pytest_evalstudio.importers import mlflow


def read(source: Source) -> Imported:
    """Convert requests to questions, with answers where the set has responses."""
    if not is_evaluation_set(source.data):
        raise source.error(
            "", f"is not an evaluation set: expected a list of requests, or one under {ROOT!r}"
        )
    if has_traces(source):
        return mlflow.read(Source(name=source.name, text="", data=records(source, ROOT)))
    dataset, errors = read_evaluation_set(source)
    return Imported(name=Path(source.name).stem, rows=dataset.inputs, errors=errors)


def has_traces(source: Source) -> bool:
    """Return True if a row has a trace and no request."""
    return any(
        isinstance(entry, dict) and "trace" in entry and "request" not in entry
        for entry in records(source, ROOT)
    )
