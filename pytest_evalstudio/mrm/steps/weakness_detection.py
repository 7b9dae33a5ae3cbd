"""Step 7: where the model is weaker than elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pytest_evalstudio.core.errors import DataError
from pytest_evalstudio.core.outcomes import Severity
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.steps import Done, step
from pytest_evalstudio.engine.analysis.problems import miss_severity
from pytest_evalstudio.engine.analysis.run_info import EvaluatorInfo, evaluators_of
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.findings.about import GENERATOR, QUERY_TYPE, TOPIC, about
from pytest_evalstudio.mrm.findings.results import Column, Scores, read_scores
from pytest_evalstudio.mrm.findings.weakness import LEAST_CASES, find_weaknesses
from pytest_evalstudio.mrm.findings.weakness_pictures import MOST_METRICS, weakness_pictures
from pytest_evalstudio.mrm.workflow.checks import check_counts, check_fraction, check_names
from pytest_evalstudio.mrm.workflow.thresholds import CALIBRATION, calibrated_thresholds
from pytest_evalstudio.mrm.workflow.work import Work
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE

WEAKNESSES = "weaknesses.json"


@step(
    "weakness_detection",
    name="Weakness detection",
    number=7,
    after=("automated_evaluation",),
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

    def run(self, work: Work) -> Done:
        folder = work.artifacts("automated_evaluation")
        scores = _with(read_scores([folder]), calibrated_thresholds(work.figures))
        evaluators = evaluators_of(read_run(folder / FILE))
        columns = [scores.column(name) for name in self.metrics] or [
            column for column in scores.columns.values() if column.metric.primary
        ]
        by = self.by or _default_dimensions(scores)
        if not by:
            return _written(work, [], {}, {}, "no test case has a category: nothing is compared")
        found, without = [], {}
        for number, column in enumerate(columns):
            work.progress(number, len(columns), f"metrics compared: {column.key}")
            try:
                found.append(
                    find_weaknesses(scores, column.key, by=by, alpha=self.alpha, min_cases=self.min_cases)
                )
            except DataError as exc:
                without[column.key] = str(exc)
        pictures = weakness_pictures(scores, found, work.workflow.name) if found else None
        if pictures is not None:
            for name, picture in pictures.files.items():
                (work.folder / name).write_bytes(picture.encode("utf-8"))
        notes = [f"nothing is known of {', '.join(without)}" if without else ""]
        if pictures is not None and pictures.left_out:
            notes.append(
                f"no pictures of their own, which {MOST_METRICS} metrics have: {', '.join(pictures.left_out)}"
            )
        return _written(work, found, without, evaluators, "; ".join(filter(None, notes)), scores)


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
    work: Work,
    found: Sequence[dict[str, Any]],
    without: Mapping[str, str],
    evaluators: Mapping[str, EvaluatorInfo],
    note: str,
    scores: Scores | None = None,
) -> Done:
    write_json(
        work.folder / WEAKNESSES,
        {"version": 1, "note": note, "metrics": list(found), "without": dict(without)},
    )
    weak = {one["metric"]: [cell["by"] for cell in one["cells"] if cell["weak"]] for one in found}
    count = sum(map(len, weak.values()))
    tests = sum(one["tests"] for one in found)
    said = (
        f"{count} weak of {tests} cells compared, {len(found)} metric{'s' if len(found) != 1 else ''}"
        if found
        else ""
    )
    problems = [
        _problem(one, cell, scores.columns[one["metric"]], evaluators)
        for one in found
        for cell in one["cells"]
        if cell["weak"] and scores is not None
    ]
    return Done(
        summary=f"{said} ({note})" if said and note else said or note,
        figures={"weak": weak, "tests": tests, "note": note},
        problems=tuple(problems),
    )


def _problem(
    found: Mapping[str, Any], cell: Mapping[str, Any], column: Column, evaluators: Mapping[str, EvaluatorInfo]
) -> Problem:
    info = evaluators[column.evaluator]
    where = " and ".join(f"{dimension} {value}" for dimension, value in cell["by"].items())
    elsewhere = cell["mean"] - cell["difference"] * (1 if found["better"] == "higher" else -1)
    return Problem(
        description=(
            f"{column.key} is worse for {where}: mean {cell['mean']:.3g} of {cell['cases']} cases,"
            f" {elsewhere:.3g} of the others (p {cell['p_adjusted']:.2g}, corrected for {found['tests']}"
            " comparisons)."
        ),
        severity=_severity(cell, column, info),
        problem_type=info.problem_type,
        avid=info.avid,
        attributes={
            **cell["by"],
            "kind": "weak_cell",
            "step": "weakness_detection",
            "evaluator": column.evaluator,
            "metric": column.metric.key,
            "threshold": found["threshold"],
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
