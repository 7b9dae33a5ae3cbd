"""Step 7: find categories with low scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.engine.analysis.problems import miss_severity
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo, evaluators_of
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.data.categories import GENERATOR, QUERY_TYPE, TOPIC, about
from pytest_evalstudio.mrm.data.results import Column, Scores, read_scores
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.human_calibration.results import ID as CALIBRATION
from pytest_evalstudio.mrm.steps.human_calibration.thresholds import calibrated_thresholds
from pytest_evalstudio.mrm.steps.weakness_detection.method import LEAST_CASES, find_weaknesses
from pytest_evalstudio.mrm.steps.weakness_detection.plot import MOST_METRICS, weakness_pictures
from pytest_evalstudio.mrm.steps.weakness_detection.results import ID, WEAKNESSES
from pytest_evalstudio.mrm.workflow.checks import check_counts, check_fraction, check_names
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE


@step(
    ID,
    name="Weakness detection",
    number=7,
    after=(EVALUATION,),
    uses=(CALIBRATION,),
    extra="mrm",
)
@dataclass(frozen=True)
class WeaknessDetection:
    """Each topic, each query type and each pair of them is compared with all other cases; those that score
    lower are weak.

    Thresholds that people's labels gave count in place of the evaluation's: for passes and failures and in
    pictures; weak is what scores lower.

    Attributes:
        metrics: `evaluator.metric`, or a metric key that one evaluator alone has; the primary one of each
            evaluator where not given.
        by: dimensions of categories; topic and generator (or query_type) where not given, all that occur
            where these do not.
        alpha: a cell is weak where its adjusted one-sided p is at most alpha / 2.
        min_cases: cells with fewer cases are shown and not tested.
    """

    metrics: list[str] = field(default_factory=list)
    by: list[str] = field(default_factory=list)
    alpha: float = 0.05
    min_cases: int = LEAST_CASES
    configured: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        check_names(self, "metrics", "by")
        check_fraction("alpha", self.alpha)
        if not 0 < self.alpha < 1:
            raise ValueError(f"alpha = {self.alpha!r}: must lie between 0 and 1, e.g. 0.05")
        check_counts(self, {"min_cases": 2})

    def run(self, context: StepContext) -> StepResult:
        folder = context.artifacts(EVALUATION)
        scores = _with(read_scores([folder]), calibrated_thresholds(context.figures))
        evaluators = evaluators_of(read_run(folder / FILE))
        columns = [scores.column(name) for name in self.metrics] or [
            column for column in scores.columns.values() if column.metric.primary
        ]
        by = self.by or _default_dimensions(scores)
        if not by:
            return _written(context, [], {}, {}, "no test case has a category: nothing is compared")
        weaknesses, without = [], {}
        for number, column in enumerate(columns):
            context.progress(number, len(columns), f"metrics compared: {column.key}")
            try:
                weaknesses.append(
                    find_weaknesses(scores, column.key, by=by, alpha=self.alpha, min_cases=self.min_cases)
                )
            except DataError as exc:
                without[column.key] = str(exc)
        pictures = weakness_pictures(scores, weaknesses, context.workflow.name) if weaknesses else None
        if pictures is not None:
            for name, picture in pictures.files.items():
                (context.folder / name).write_bytes(picture.encode("utf-8"))
        notes = [f"nothing is known of {', '.join(without)}" if without else ""]
        if pictures is not None and pictures.left_out:
            notes.append(
                f"no pictures of their own, which {MOST_METRICS} metrics have: {', '.join(pictures.left_out)}"
            )
        return _written(context, weaknesses, without, evaluators, "; ".join(filter(None, notes)), scores)


def _with(scores: Scores, thresholds: Mapping[str, float]) -> Scores:
    """Scores whose metrics have these thresholds in place of their own."""
    for key, threshold in thresholds.items():
        if key in scores.columns:
            column = scores.columns[key]
            scores.columns[key] = replace(column, metric=replace(column.metric, threshold=threshold))
    return scores


def _default_dimensions(scores: Scores) -> list[str]:
    known = sorted(
        {dimension for answer in scores.answers.values() for dimension in about(answer.categories)}
    )
    generated = [name for name in (TOPIC, QUERY_TYPE if QUERY_TYPE in known else GENERATOR) if name in known]
    return generated or known


def _written(
    context: StepContext,
    weaknesses: Sequence[dict[str, Any]],
    without: Mapping[str, str],
    evaluators: Mapping[str, EvaluatorInfo],
    note: str,
    scores: Scores | None = None,
) -> StepResult:
    write_json(
        context.folder / WEAKNESSES,
        {"version": 1, "note": note, "metrics": list(weaknesses), "without": dict(without)},
    )
    weak = {
        metric["metric"]: [cell["by"] for cell in metric["cells"] if cell["weak"]] for metric in weaknesses
    }
    count = sum(map(len, weak.values()))
    tests = sum(metric["tests"] for metric in weaknesses)
    said = (
        f"{count} weak of {tests} cells compared, {len(weaknesses)}"
        f" metric{'s' if len(weaknesses) != 1 else ''}"
        if weaknesses
        else ""
    )
    problems = [
        _problem(metric, cell, scores.columns[metric["metric"]], evaluators)
        for metric in weaknesses
        for cell in metric["cells"]
        if cell["weak"] and scores is not None
    ]
    return StepResult(
        summary=f"{said} ({note})" if said and note else said or note,
        figures={"weak": weak, "tests": tests, "note": note},
        problems=tuple(problems),
    )


def _problem(
    weakness: Mapping[str, Any],
    cell: Mapping[str, Any],
    column: Column,
    evaluators: Mapping[str, EvaluatorInfo],
) -> Problem:
    info = evaluators[column.evaluator]
    where = " and ".join(f"{dimension} {value}" for dimension, value in cell["by"].items())
    elsewhere = cell["mean"] - cell["difference"] * (1 if weakness["better"] == "higher" else -1)
    return Problem(
        description=(
            f"{column.key} is worse for {where}: mean {cell['mean']:.3g} of {cell['cases']} cases,"
            f" {elsewhere:.3g} of the others (p {cell['p_adjusted']:.2g}, corrected for {weakness['tests']}"
            " comparisons)."
        ),
        severity=_severity(cell, column, info),
        problem_type=info.problem_type,
        avid=info.avid,
        attributes={
            **cell["by"],
            "kind": "weak_cell",
            "step": ID,
            "evaluator": column.evaluator,
            "metric": column.metric.key,
            "threshold": weakness["threshold"],
            "score": cell["mean"],
            "cases": cell["cases"],
            "by": cell["by"],
            "p_adjusted": cell["p_adjusted"],
        },
        actions=(
            "Read the failing cases of this cell. Is the answer in the documents, and is it retrieved? Add or"
            " mend documents, or correct what is retrieved or the prompt for this kind of question."
        ),
    )


def _severity(cell: Mapping[str, Any], column: Column, info: EvaluatorInfo) -> Severity:
    """By how far the mean misses the threshold; low where it meets it, or there is none."""
    metric = column.metric
    if metric.threshold in (float("inf"), float("-inf")) or metric.passes(cell["mean"]):
        return "low"
    return miss_severity(metric, cell["mean"], metric.threshold, info.problem_type)
