"""What the page is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from markupsafe import Markup

from pytest_evalstudio.engine.analysis.analyse import Analysis
from pytest_evalstudio.report.failures import FailureBook
from pytest_evalstudio.report.folders import ExplainerFolder


@dataclass(frozen=True, slots=True)
class Content:
    """The analysis of a run, its worst failures with their texts, and where its exports lie.

    Attributes:
        rendered: the failures of an evaluator as HTML, which the page and the evaluator's own fragment share.
    """

    analysis: Analysis
    failures: FailureBook
    folders: Mapping[str, ExplainerFolder]
    rendered: dict[str, Markup] = field(default_factory=dict)
