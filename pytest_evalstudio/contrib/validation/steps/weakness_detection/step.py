"""Step 7: find categories with low scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, ClassVar

from msgspec import structs
from pydantic import Field

from pytest_evalstudio.analysis.problems import miss_severity
from pytest_evalstudio.analysis.stored_scores import read_scores
from pytest_evalstudio.contrib.validation.methods.categories import GENERATOR, QUERY_TYPE, TOPIC, by_dimension
from pytest_evalstudio.contrib.validation.methods.weaknesses.method import MIN_CASES, find_all_weaknesses
from pytest_evalstudio.contrib.validation.methods.weaknesses.plot import MAX_METRICS, weakness_pictures
from pytest_evalstudio.contrib.validation.methods.weaknesses.results import (
    MetricWeaknesses,
    WeaknessCell,
    WeaknessResults,
)
from pytest_evalstudio.contrib.validation.methods.weaknesses.scored import scored_cases
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.test_validation.files import ID as VALIDATION
from pytest_evalstudio.contrib.validation.steps.test_validation.files import VALIDATED
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.calibration import calibrated_thresholds
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Level, Names
from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import TestSuite
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.schema import EvaluatorEntry
from pytest_evalstudio.record.score_table import Column, Scores
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.text.figures import counted, figure

ID = "weakness_detection"
WEAKNESSES = "weaknesses.json"


@step(
    ID,
    name="Weakness detection",
    number=7,
    after=(EVALUATION,),
    uses=(CALIBRATION, VALIDATION),
    extra="mrm",
)
@dataclass(frozen=True)
class WeaknessDetection:
    """Compare each topic, each query type and each pair of them with all other cases; report lower scores.

    Calibrated thresholds replace those of the evaluation for passes, failures and pictures. A cell is weak if
    it scores lower, whatever the threshold. Whole chunks of the documents are permuted, because the cases of
    a chunk are not independent, and all cells of all metrics are corrected together.

    Attributes:
        metrics: `evaluator.metric`, or a metric key that only one evaluator has; default: the primary metric
            of each evaluator.
        by: dimensions of categories; default: topic and generator (or query_type), else all that occur.
        alpha: a cell is weak if its adjusted one-sided p is at most alpha.
        min_cases: cells with fewer cases are shown and not tested.
    """

    metrics: Names = field(default_factory=list)
    by: Names = field(default_factory=list)
    alpha: Level = 0.05
    min_cases: Annotated[int, Field(ge=2)] = MIN_CASES
    configured: ClassVar[tuple[str, ...]] = ()

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        folder = context.artifacts(EVALUATION)
        scores = _with_thresholds(read_scores([folder]), calibrated_thresholds(context))
        evaluators = read_run(folder / FILE).evaluators
        columns = [scores.column(name) for name in self.metrics] or [
            column for column in scores.columns.values() if column.metric.primary
        ]
        by = self.by or _default_dimensions(scores)
        if not by:
            return _finish(context, [], {}, [], "no test case has a category: nothing is compared")
        without: dict[str, str] = {}
        for column in columns:
            try:
                # Called for its error: a metric without scores must not stop the others.
                scored_cases(scores, column)
            except DataError as exc:
                without[column.key] = str(exc)
        compared = [column.key for column in columns if column.key not in without]
        context.progress(0, len(compared), "metrics compared")
        weaknesses = find_all_weaknesses(
            scores,
            compared,
            by=by,
            alpha=self.alpha,
            min_cases=self.min_cases,
            groups=_chunks(context),
            seed=context.workflow.seed,
        )
        pictures = weakness_pictures(scores, weaknesses, context.workflow.name) if weaknesses else None
        if pictures is not None:
            for name, picture in pictures.files.items():
                (context.folder / name).write_bytes(picture.encode("utf-8"))
        notes = [f"not compared: {', '.join(without)}"] if without else []
        if pictures is not None and pictures.left_out:
            notes.append(f"pictures of {MAX_METRICS} metrics only; without: {', '.join(pictures.left_out)}")
        problems = [
            _problem(metric, cell, column, evaluators[column.evaluator])
            for metric in weaknesses
            for column in (scores.columns[metric.metric],)
            for cell in metric.weak_cells
        ]
        return _finish(context, weaknesses, without, problems, "; ".join(notes))


def _chunks(context: StepContext) -> dict[str, str]:
    """Return the chunk of the documents by key of the generated case."""
    folder = context.earlier.get(VALIDATION)
    if folder is None:
        return {}
    cases = (case for _, case in TestSuite.load(folder / VALIDATED).cases())
    chunks = {case.key: str((case.model_extra or {}).get("source_chunk", "")) for case in cases}
    return {key: chunk for key, chunk in chunks.items() if chunk}


def _with_thresholds(scores: Scores, thresholds: Mapping[str, float]) -> Scores:
    """Replace the thresholds of metrics in place."""
    for key, threshold in thresholds.items():
        if key in scores.columns:
            column = scores.columns[key]
            scores.columns[key] = replace(column, metric=structs.replace(column.metric, threshold=threshold))
    return scores


def _default_dimensions(scores: Scores) -> list[str]:
    names = sorted(
        {dimension for answer in scores.answers.values() for dimension in by_dimension(answer.categories)}
    )
    generated = [name for name in (TOPIC, QUERY_TYPE if QUERY_TYPE in names else GENERATOR) if name in names]
    return generated or names


def _finish(
    context: StepContext,
    weaknesses: Sequence[MetricWeaknesses],
    without: Mapping[str, str],
    problems: Sequence[Problem],
    note: str,
) -> StepResult:
    """Write the weaknesses and return the result of the step."""
    write_json(
        context.folder / WEAKNESSES,
        {
            "version": 1,
            "note": note,
            "metrics": [asdict(metric) for metric in weaknesses],
            "without": dict(without),
        },
    )
    results = WeaknessResults(
        weak={metric.metric: tuple(cell.by for cell in metric.weak_cells) for metric in weaknesses},
        tests=sum(metric.tests for metric in weaknesses),
        note=note,
    )
    counts = ""
    if weaknesses:
        weak = sum(map(len, results.weak.values()))
        counts = f"{counted(weak, 'weak cell')} of {results.tests:,}, {counted(len(weaknesses), 'metric')}"
    summary = f"{counts} ({note})" if counts and note else counts or note
    return StepResult(summary=summary, figures=results, problems=tuple(problems))


def _problem(
    weaknesses: MetricWeaknesses, cell: WeaknessCell, column: Column, info: EvaluatorEntry
) -> Problem:
    where = " and ".join(f"{dimension} {value}" for dimension, value in cell.by.items())
    sign = 1 if weaknesses.better == "higher" else -1
    # `difference` is positive where the cell is better, whatever the direction of the metric.
    elsewhere = cell.mean - (cell.difference or 0.0) * sign
    return Problem(
        description=(
            f"{column.key} is worse for {where}: mean {figure(cell.mean)} of {cell.cases} cases,"
            f" {figure(elsewhere)} of the others (p {cell.p_adjusted:.2g}, corrected for all"
            " comparisons of the step)."
        ),
        severity=_severity(cell, column, info),
        problem_type=info.problem_type,
        avid=info.avid,
        attributes={
            **cell.by,
            "kind": "weak_cell",
            "step": ID,
            "evaluator": column.evaluator,
            "metric": column.metric.key,
            "threshold": weaknesses.threshold,
            "score": cell.mean,
            "cases": cell.cases,
            "by": dict(cell.by),
            "p_adjusted": cell.p_adjusted,
        },
        actions=(
            "Read the failing cases of this cell. Is the answer in the documents, and is it retrieved? Add or"
            " correct documents, or correct the retrieval or the prompt for this kind of question."
        ),
    )


def _severity(cell: WeaknessCell, column: Column, info: EvaluatorEntry) -> Severity:
    """Return the severity by the distance of the mean from the threshold; "low" if it meets the threshold."""
    metric = column.metric
    if not math.isfinite(metric.threshold) or metric.passes(cell.mean):
        return "low"
    return miss_severity(metric, cell.mean, metric.threshold, info.problem_type)
