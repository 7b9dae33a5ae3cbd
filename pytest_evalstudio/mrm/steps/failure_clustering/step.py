"""Step 6: cluster the failed test cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.steps.failure_clustering.description import described
from pytest_evalstudio.mrm.steps.failure_clustering.judged import Evaluation, read_evaluation
from pytest_evalstudio.mrm.steps.failure_clustering.method import (
    LEAST,
    LEVEL,
    Grouping,
    Structure,
    group,
    structure,
)
from pytest_evalstudio.mrm.steps.failure_clustering.plot import failure_map
from pytest_evalstudio.mrm.steps.failure_clustering.results import CLUSTERS, ID, MAP
from pytest_evalstudio.mrm.steps.human_calibration.results import ID as CALIBRATION
from pytest_evalstudio.mrm.steps.human_calibration.thresholds import calibrated_thresholds
from pytest_evalstudio.mrm.steps.topic_modeling.clustering import plane
from pytest_evalstudio.mrm.texts.vectors import Vectors, check_choice, text_vectors
from pytest_evalstudio.mrm.workflow.checks import check_counts, check_names
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.record.writer import FILE

HIGH_SHARE = 0.1
"""Share of all judged cases from which on a cluster is a problem of high severity."""


@step(
    ID,
    name="Failure clustering",
    number=6,
    after=(EVALUATION,),
    uses=(CALIBRATION,),
    extra="mrm",
)
@dataclass(frozen=True)
class FailureClustering:
    """The failed test cases are clustered by what is asked and answered, so that people can name the cause of
    each cluster.

    Thresholds that people's labels gave count in place of the evaluation's.

    Attributes:
        min_failures: fewer failed cases are not clustered, and the step passes.
        clusters: how many; where not given, as many as stand apart best, or one where none stand apart more
            clearly than by chance.
        evaluators: `evaluator` or `evaluator.metric` whose verdicts make a failure; any's where not given.
        vectors: of questions with answers: "embeddings", "tf-idf", or "auto": embeddings where a model can be
            had.
        top_n_words: key words of a cluster.
    """

    min_failures: int = 10
    clusters: int | None = None
    evaluators: list[str] = field(default_factory=list)
    vectors: str = "auto"
    top_n_words: int = 10
    configured: ClassVar[tuple[str, ...]] = ("embeddings",)

    def __post_init__(self) -> None:
        check_counts(self, {"min_failures": 2 * LEAST, "clusters": 1, "top_n_words": 1})
        check_names(self, "evaluators")
        check_choice(self.vectors)

    def run(self, context: StepContext) -> StepResult:
        record = context.artifacts(EVALUATION) / FILE
        evaluation = read_evaluation(record, self.evaluators, calibrated_thresholds(context.figures))
        failed = np.array([case.failed for case in evaluation.cases], dtype=bool)
        count = int(failed.sum())
        if count < self.min_failures:
            note = (
                f"{count} failure{' is' if count == 1 else 's are'} fewer than {self.min_failures}: nothing"
                " is clustered"
            )
            return _written(context, evaluation, note, {}, [], [])
        vectors = text_vectors(
            context, [f"{case.question}\n{case.answer}" for case in evaluation.cases], self.vectors
        )
        grouping, structure_test = self._grouped(context, vectors.rows, failed)
        clusters = described(evaluation.cases, grouping, self.top_n_words)
        method = {
            "vectors": vectors.method,
            "components": grouping.components,
            "silhouette": grouping.silhouette,
        }
        tested = (
            {}
            if structure_test is None
            else {
                "references": list(structure_test.references),
                "tested_silhouette": structure_test.silhouette,
                "p_value": structure_test.p_value,
            }
        )
        note = "; ".join(
            filter(None, [*_notes(evaluation, grouping, structure_test, self.clusters), vectors.note])
        )
        return _written(
            context,
            evaluation,
            note,
            {**method, **tested},
            clusters,
            _points(evaluation, grouping, vectors, failed),
        )

    def _grouped(self, context: StepContext, rows: Any, failed: Any) -> tuple[Grouping, Structure | None]:
        seed = context.workflow.seed
        if self.clusters == 1:
            return _single_cluster(failed), None
        structure_test = structure(rows, failed, seed=seed, progress=context.progress)
        if self.clusters is None and (structure_test is None or structure_test.p_value > LEVEL):
            return _single_cluster(failed), structure_test
        return group(rows, failed, clusters=self.clusters, seed=seed), structure_test


def _single_cluster(failed: Any) -> Grouping:
    """Return all failures as one cluster."""
    count = int(failed.sum())
    return Grouping(
        labels=np.zeros(count, dtype=np.int64),
        silhouette=None,
        components=0,
        typical=(tuple(range(min(LEAST, count))),),
    )


def _notes(
    evaluation: Evaluation, grouping: Grouping, structure_test: Structure | None, wanted: int | None
) -> list[str]:
    notes = []
    if all(case.failed for case in evaluation.cases):
        notes.append("no case passed: the forest divided the failures from shuffled ones alone")
    if wanted != 1 and structure_test is None:
        notes.append("the failures are all alike: they stand in one cluster")
    elif structure_test is not None and structure_test.p_value > LEVEL:
        than = (
            f"silhouette {structure_test.silhouette:.2f}, that of samples without clusters up to"
            f" {max(structure_test.references):.2f}, p {structure_test.p_value:.2f}"
        )
        said = (
            "these clusters are"
            if grouping.count > 1
            else "the failures stand in one cluster: several would be"
        )
        notes.append(f"{said} no clearer than by chance ({than})")
    if wanted is not None and grouping.count != wanted:
        notes.append(f"{wanted} clusters of {LEAST} cases or more were not found")
    return notes


def _points(
    evaluation: Evaluation, grouping: Grouping, vectors: Vectors, failed: Any
) -> list[dict[str, Any]]:
    labels = iter(grouping.labels.tolist())
    return [
        {
            "key": case.key,
            "question": case.question,
            "cluster": str(next(labels) + 1) if case.failed else None,
            "x": float(x),
            "y": float(y),
        }
        for case, (x, y) in zip(evaluation.cases, plane(vectors.rows, 0), strict=True)
    ]


def _written(
    context: StepContext,
    evaluation: Evaluation,
    note: str,
    method: dict[str, Any],
    clusters: list[dict[str, Any]],
    points: list[dict[str, Any]],
) -> StepResult:
    failures = sum(case.failed for case in evaluation.cases)
    counts = {
        "failed": failures,
        "passed": len(evaluation.cases) - failures,
        "left_out": dict(evaluation.left_out),
    }
    write_json(
        context.folder / CLUSTERS,
        {
            "version": 1,
            "note": note,
            "cases": counts,
            "method": method,
            "clusters": clusters,
            "points": points,
        },
    )
    if clusters:
        title = (
            f"Failures of {context.workflow.name or 'the model'}: {failures} in {len(clusters)}"
            f" cluster{'s' if len(clusters) != 1 else ''}"
        )
        (context.folder / MAP).write_bytes(failure_map(title, clusters, points).encode("utf-8"))
    said = (
        f"{failures} failures in {len(clusters)} cluster{'s' if len(clusters) != 1 else ''}"
        if clusters
        else ""
    )
    sizes = {cluster["id"]: {"size": cluster["size"], "words": cluster["words"]} for cluster in clusters}
    return StepResult(
        summary=said or note,
        notes=(note,) if said else (),
        figures={**counts, "clusters": sizes, "method": method, "note": note},
        problems=tuple(_problems(evaluation, clusters)),
    )


def _problems(evaluation: Evaluation, clusters: Sequence[dict[str, Any]]) -> list[Problem]:
    found = []
    for cluster in clusters:
        most = evaluation.evaluators[cluster["missed"][0]["evaluator"]]
        found.append(
            Problem(
                description=f"Failure cluster {cluster['id']}: {cluster['sentence']}",
                severity="high" if cluster["size"] >= HIGH_SHARE * len(evaluation.cases) else "medium",
                problem_type=most.problem_type,
                avid=most.avid,
                attributes={
                    "kind": "failure_cluster",
                    "step": ID,
                    "cluster": cluster["id"],
                    "cases": cluster["size"],
                    "words": cluster["words"],
                    "evaluator": most.id,
                    "metric": cluster["missed"][0]["metric"],
                    "over_represented": [
                        {key: entry[key] for key in ("dimension", "value", "share")}
                        for entry in cluster["over_represented"]
                    ],
                    "test_case_keys": [case["key"] for case in cluster["typical"]],
                },
                actions=(
                    f"Read the cluster's cases in {CLUSTERS}, beginning with the typical ones. If they have a"
                    " cause in common, name it, and mend what it lies in: a document that is missing or"
                    " unclear, what is retrieved, or the prompt."
                ),
            )
        )
    return found
