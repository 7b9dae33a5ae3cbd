"""Content of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from markupsafe import Markup
from msgspec import Struct, field

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.report.conclusions import ModelConclusion
from pytest_evalstudio.report.data.columns import Columns
from pytest_evalstudio.report.data.tools import ToolTable
from pytest_evalstudio.report.failed_items import FailedItems
from pytest_evalstudio.report.failures import FailureBook
from pytest_evalstudio.report.findings import ReportFinding
from pytest_evalstudio.report.folders import ExplainerFolder
from pytest_evalstudio.report.thresholds import ThresholdLine
from pytest_evalstudio.report.verdict import RunVerdict

if TYPE_CHECKING:
    from pytest_evalstudio.analysis.comparison.history import History
    from pytest_evalstudio.report.extras import RunExtra

T = TypeVar("T")


class Content(Struct, frozen=True):
    """Content of a report: analysis, items as columns, worst failures with texts, and paths of exports.

    Attributes:
        verdict: of the run, in words.
        conclusions: for each model, the highest share of passes first.
        findings: problems grouped over models and metrics.
        failed: items that did not pass.
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
    verdict: RunVerdict
    conclusions: Sequence[ModelConclusion]
    findings: Sequence[ReportFinding]
    failed: FailedItems
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
