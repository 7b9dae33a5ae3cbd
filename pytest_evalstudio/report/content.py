"""Content of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from markupsafe import Markup
from msgspec import Struct, field

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.analysis.summary.results import RunSummary
from pytest_evalstudio.report.data.columns import Columns
from pytest_evalstudio.report.data.tools import ToolTable
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failure_groups import FailureGroup
from pytest_evalstudio.report.failures import FailureBook
from pytest_evalstudio.report.folders import ExplainerFolder
from pytest_evalstudio.report.thresholds import ThresholdLine

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.history import History
    from pytest_evalstudio.analysis.summary.extras import RunExtra

T = TypeVar("T")


class Content(Struct, frozen=True):
    """Content of a report: analysis, items as columns, worst failures with texts, and paths of exports.

    Attributes:
        summary: what the run means.
        failed: items that did not end as expected.
        groups: the causes of the failures, with the items that are written out.
        thresholds: in force, with their sources.
        record: for a section that needs more of the items: `record.reader.RecordReader` gives them one by
            one.
        warnings: exporters that failed before the page was written, a line each.
        comparison: with the baseline, None without one.
        history: of earlier runs and this one, None without one.
        extras: results of optional parts, for gates, headline and summary.
        tools: calls of tools by model.
        attached: results for sections alone, each of a class of its own.
        rendered: the failures of an evaluator as HTML, which the page and the evaluator's own fragment share.
    """

    analysis: Analysis
    summary: RunSummary
    failed: FailedItems
    groups: Sequence[FailureGroup]
    thresholds: Sequence[ThresholdLine]
    failures: FailureBook
    folders: Mapping[str, ExplainerFolder]
    columns: Columns
    record: Path
    warnings: Sequence[str] = ()
    comparison: Comparison | None = None
    history: History | None = None
    extras: Sequence[RunExtra] = ()
    tools: ToolTable | None = None
    attached: Sequence[object] = ()
    rendered: dict[str, Markup] = field(default_factory=dict)

    def part(self, kind: type[T]) -> T | None:
        """Return the results of an optional part by their class, None where there are none."""
        return next((part for part in (*self.extras, *self.attached) if isinstance(part, kind)), None)
