"""Failures of a run in words for a coding agent, the regressed ones first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pytest_evalstudio.analysis.causes import CauseCounter
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.contrib.agent_loop.texts import joined, line, quoted, section
from pytest_evalstudio.core.errors import ConfigurationError, DataError
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failure_groups import FailureGroup
from pytest_evalstudio.report.failure_types import FailedItem, reason_of


def failure_entries(record: RecordReader, baseline: Path | None) -> list[str]:
    """Return the failures of a run, one text each; many of one cause are counted.

    Args:
        baseline: whose answers that passed are compared with; None for none.

    Raises:
        DataError: if the record is damaged.
    """
    counter = CauseCounter(record.run)
    failed = FailedItems(record.run, record.run.evaluators, _comparison(record, baseline))
    for item in record.items():
        if (cause := counter.add(item)) is not None:
            failed.add(item, cause)
    groups = [group for group in failed.groups(counter.result()) if group.kind in ("failed", "error")]
    return [entry for group in groups for entry in _entries(group)]


def _comparison(record: RecordReader, baseline: Path | None) -> Comparison | None:
    """Return the comparison with a baseline, None where they have nothing in common or it is damaged."""
    from pytest_evalstudio.analysis.comparison.baseline import opened
    from pytest_evalstudio.analysis.comparison.compare import compare
    from pytest_evalstudio.analysis.comparison.sides import read_side

    if baseline is None:
        return None
    try:
        with opened(baseline) as reader:
            base = read_side(reader.run, reader.outlines(), answers_of=("passed",))
        return compare(base, read_side(record.run, record.outlines(), answers_of=("failed",)))
    except (DataError, ConfigurationError):
        return None  # `compare` says why


def _entries(group: FailureGroup) -> Iterator[str]:
    for item in group.items:
        yield joined(_lines(item, group))
    if group.left_out > 0:
        yield f"{group.left_out:,} more: {line(group.cause.title)}"


def _lines(item: FailedItem, group: FailureGroup) -> Iterator[str]:
    change = f", {item.change.replace('_', ' ')}" if item.change else ""
    yield f"{line(item.nodeid)}: {line(group.cause.title)}{change}"
    yield quoted(reason_of(item))
    yield from section("question", item.texts.question)
    yield from section("expected", "".join(stretch.text for stretch in item.texts.expected))
    unmet = [term.text for term in item.texts.terms if not term.met]
    yield from section("terms that are not met", "\n".join(unmet))
    answer = item.texts.actual or item.texts.segments
    yield from section("answer", "".join(part.text for part in answer))
    if item.texts.changes:
        yield "since the baseline ([-removed-] {+added+}):"
        yield quoted("".join(_marked(piece.text, piece.kind) for piece in item.texts.changes))
    yield f"next: {line(group.cause.action)}"


def _marked(text: str, kind: str) -> str:
    return {"removed": f"[-{text}-]", "added": f"{{+{text}+}}"}.get(kind, text)
