"""The summary of a run: one object that terminal, page, Markdown, JUnit, JSON and notebooks render."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from pytest_evalstudio.analysis.analyse import Analysis
from pytest_evalstudio.analysis.causes import Cause, CauseCode
from pytest_evalstudio.analysis.comparison.results import Comparison
from pytest_evalstudio.analysis.ranking import PairedModels
from pytest_evalstudio.analysis.summary.extras import RunExtra
from pytest_evalstudio.analysis.summary.findings import RunFinding, grouped
from pytest_evalstudio.analysis.summary.limits import limits_of
from pytest_evalstudio.analysis.summary.models import ModelSummary, model_summaries
from pytest_evalstudio.analysis.summary.verdict import RunVerdict, run_name, verdict_of

SCHEMA_VERSION = 1
"""Version of the summary in `interpretation.json`; a field that goes or changes its meaning raises it."""
_UNANSWERED = (CauseCode.NOT_ANSWERED, CauseCode.NOT_SUPPORTED)


class RunCoverage(Struct, frozen=True, kw_only=True):
    """Test cases times models of a run that were asked, answered and checked.

    Attributes:
        total: all that the run has, without those that were skipped.
        asked: those that a model was asked.
        answered: those with an answer, also an empty one.
        not_retrieved: answers of models that retrieve which came without any chunk.
        checked: those with a verdict on whether the answer is right.
        unchecked: answered ones that nothing checked.
        errors: those that could not be judged, with or without an answer.
        not_run: those that no model was asked, since a budget was used up or access was refused.
    """

    total: int
    asked: int
    answered: int
    not_retrieved: int
    checked: int
    unchecked: int
    errors: int
    not_run: int

    @property
    def sentence(self) -> str:
        """Return the figures in words; equal ones once.

        >>> RunCoverage(
        ...     total=40, asked=40, answered=31, not_retrieved=0, checked=30, unchecked=1, errors=9,
        ...     not_run=0,
        ... ).sentence  # fmt: skip
        '40 asked, 31 answered, 30 checked, 1 unchecked'
        """
        if not self.total:
            return ""
        if self.checked == self.asked == self.total:
            return f"all {self.total:,} asked, answered and checked"
        parts = [f"{self.asked:,} asked", f"{self.answered:,} answered", f"{self.checked:,} checked"]
        if self.asked < self.total:
            parts[0] = f"{self.asked:,} of {self.total:,} asked"
        parts += [f"{self.unchecked:,} unchecked"] if self.unchecked else []
        return ", ".join(parts)


class GateSummary(Struct, frozen=True, kw_only=True):
    """A gate of the run, as text with its values, and whether all models meet it."""

    text: str
    met: bool


class RunSummary(Struct, frozen=True, kw_only=True):
    """Meaning of a run.

    Attributes:
        name: of the run, its suite or its folder.
        causes: of the failures, the largest first; each failure belongs to one.
        causes_of: answers whose failures the causes count, where these are not all; "" for all of the run.
        models: the highest share of passes first.
        pairs: models on the questions that both were asked, with their tests.
        ranking: which model is better, in sentences; empty for a single model.
        comparison: with the baseline, in sentences; empty without one.
        findings: from what decides tests, the most severe first.
        limits: what the results do not show.
    """

    name: str
    verdict: RunVerdict
    coverage: RunCoverage
    causes: tuple[Cause, ...]
    causes_of: str
    models: tuple[ModelSummary, ...]
    pairs: tuple[PairedModels, ...]
    ranking: tuple[str, ...]
    gates: tuple[GateSummary, ...]
    comparison: tuple[str, ...]
    findings: tuple[RunFinding, ...]
    limits: tuple[str, ...]

    def label(self, model: str) -> str:
        """Return the short name of a model by its key."""
        return next((each.label for each in self.models if each.key == model), model)

    @property
    def failures(self) -> int:
        """Return the number of test cases that failed or could not be judged."""
        return sum(cause.total for cause in self.causes if cause.kind in ("failed", "error"))


def summarise(
    analysis: Analysis,
    comparison: Comparison | None = None,
    extras: Sequence[RunExtra] = (),
    *,
    is_step: bool = False,
) -> RunSummary:
    """Return the summary of a run.

    Args:
        comparison: with a baseline.
        extras: results of optional parts, which may rank the models.
        is_step: True for a step of a workflow, which is not assessed by itself.
    """
    models = model_summaries(analysis, is_step=is_step)
    return RunSummary(
        name=run_name(analysis),
        verdict=verdict_of(analysis, comparison),
        coverage=coverage_of(analysis),
        causes=analysis.causes,
        causes_of=_causes_of(analysis),
        models=models,
        pairs=analysis.pairs,
        ranking=_ranking(models, analysis, extras),
        gates=tuple(GateSummary(text=gate.text, met=gate.met) for gate in analysis.gates),
        comparison=tuple(_comparison(comparison)) if comparison is not None else (),
        findings=tuple(grouped(analysis)),
        limits=tuple(limits_of(analysis)),
    )


def _causes_of(analysis: Analysis) -> str:
    is_excerpt = (
        sum(cause.total for cause in analysis.causes if cause.kind == "failed") < analysis.verdicts["failed"]
    )
    return "the listed answers" if analysis.listed_failures is not None and is_excerpt else ""


def _ranking(
    models: Sequence[ModelSummary], analysis: Analysis, extras: Sequence[RunExtra]
) -> tuple[str, ...]:
    if len(models) < 2:
        return ()
    from pytest_evalstudio.analysis.summary.leaders import leader_sentences  # most runs have one model

    return tuple(leader_sentences(models, analysis.pairs, extras))


def _comparison(comparison: Comparison) -> list[str]:
    from pytest_evalstudio.analysis.comparison.sentences import notable_lines, summary_of

    lines = [f"{line[0].upper()}{line[1:]}." for line in notable_lines(comparison)]
    return [str(summary_of(comparison)), *lines]


def coverage_of(analysis: Analysis) -> RunCoverage:
    """Return what a run asked and checked."""
    counts, unchecked = analysis.verdicts, analysis.coverage.unchecked_verdicts
    judged = sum(counts[verdict] for verdict in ("passed", "failed", "xfailed", "xpassed"))
    unanswered = sum(cause.total for cause in analysis.causes if cause.code in _UNANSWERED)
    skipped_unchecked = analysis.coverage.skipped
    asked = judged + counts["error"] + skipped_unchecked
    return RunCoverage(
        total=asked + counts["not_run"],
        asked=asked,
        answered=asked - unanswered,
        not_retrieved=sum(model.without_chunks for model in analysis.models),
        checked=judged - sum(unchecked.get(verdict, 0) for verdict in ("passed", "xfailed", "xpassed")),
        unchecked=analysis.coverage.unchecked,
        errors=counts["error"],
        not_run=counts["not_run"],
    )


def as_json(summary: RunSummary) -> dict[str, Any]:
    """Return a summary for JSON; `summary_schema` describes it."""
    return {"schema_version": SCHEMA_VERSION, **msgspec.to_builtins(summary)}


def summary_schema() -> dict[str, Any]:
    """Return the JSON Schema of the summary in `interpretation.json`."""
    from pytest_evalstudio.record.json_schema import DRAFT, with_infinities

    (summary,), components = msgspec.json.schema_components([RunSummary], ref_template="#/$defs/{name}")
    return {
        "$schema": DRAFT,
        "title": "Summary of a run of pytest-evalstudio",
        "allOf": [summary, {"required": ["schema_version"]}],
        "$defs": with_infinities(components),
    }
