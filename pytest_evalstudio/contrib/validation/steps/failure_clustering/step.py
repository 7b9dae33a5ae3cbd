"""Step 6: cluster the failed test cases."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from pytest_evalstudio.contrib.validation.methods.failures.description import describe_clusters
from pytest_evalstudio.contrib.validation.methods.failures.judged import Evaluation, read_evaluation
from pytest_evalstudio.contrib.validation.methods.failures.method import (
    LEAST,
    Grouping,
    Structure,
    group,
    held_out_labels,
    structure,
)
from pytest_evalstudio.contrib.validation.methods.failures.plot import failure_map
from pytest_evalstudio.contrib.validation.methods.failures.results import (
    Cluster,
    ClusteringMethod,
    ClusteringResults,
    ClusterSummary,
    MapPoint,
)
from pytest_evalstudio.contrib.validation.methods.topics.clustering import plane
from pytest_evalstudio.contrib.validation.methods.typed_results import json_ready
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.thresholds import deciding_names
from pytest_evalstudio.contrib.validation.vectors import Vectors, text_vectors
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.calibration import calibrated_thresholds
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.parameters import Count, Names, VectorChoice
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.stats.types import Booleans, Floats
from pytest_evalstudio.text.figures import counted, figure, percent

ID = "failure_clustering"
CLUSTERS = "failure_clusters.json"
MAP = "failure_clusters.svg"
HIGH_SHARE = 0.1
"""Minimum share of all judged cases for a problem of high severity."""


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
    """Cluster the failed test cases by question and answer, so that people can name the cause of each.

    Calibrated thresholds replace those of the evaluation.

    Attributes:
        min_failures: fewer failed cases are not clustered, and the step passes.
        clusters: number of clusters; default: the number with the best silhouette, or one if there are no
            clusters beyond chance.
        evaluators: `evaluator` or `evaluator.metric` whose verdicts make a failure; default: the
            metrics that decide the conclusion, all if none does.
        vectors: of questions with answers: "embeddings", "tf-idf", or "auto": embeddings if a model is
            available.
        top_n_words: number of key words of a cluster.
    """

    min_failures: Annotated[int, Field(ge=2 * LEAST)] = 10
    clusters: Count | None = None
    evaluators: Names = field(default_factory=list)
    vectors: VectorChoice = "auto"
    top_n_words: Count = 10
    configured: ClassVar[tuple[str, ...]] = ("embeddings",)

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        record = context.artifacts(EVALUATION) / FILE
        names = self.evaluators or deciding_names(context)
        evaluation = read_evaluation(record, names, calibrated_thresholds(context))
        failed: Booleans = np.array([case.failed for case in evaluation.cases], dtype=bool)
        count = int(failed.sum())
        if count < self.min_failures:
            note = (
                f"{count} failure{' is' if count == 1 else 's are'} fewer than {self.min_failures}: nothing"
                " is clustered"
            )
            return _finish(context, evaluation, note, ClusteringMethod(), [], [])
        vectors = text_vectors(
            context, [f"{case.question}\n{case.answer}" for case in evaluation.cases], self.vectors
        )
        grouping, structure_test = self._grouped(context, vectors.rows, failed)
        held_out = None
        if grouping.count > 1:
            seed = context.workflow.seed
            held_out = held_out_labels(vectors.rows, failed, grouping, clusters=self.clusters, seed=seed)
        clusters = describe_clusters(evaluation.cases, grouping, self.top_n_words, held_out)
        method = ClusteringMethod(
            vectors=vectors.method, components=grouping.components, silhouette=grouping.silhouette
        )
        if structure_test is not None:
            method = replace(
                method,
                references=structure_test.references,
                tested_silhouette=structure_test.silhouette,
                neighbours=structure_test.neighbours,
                expected_neighbours=structure_test.expected_neighbours,
                p_value=structure_test.p_value,
            )
        notes = [*_notes(evaluation, grouping, structure_test, self.clusters), vectors.note]
        points = _points(evaluation, grouping, vectors)
        return _finish(context, evaluation, "; ".join(filter(None, notes)), method, clusters, points)

    def _grouped(
        self, context: StepContext, rows: Floats, failed: Booleans
    ) -> tuple[Grouping, Structure | None]:
        seed = context.workflow.seed
        if self.clusters == 1:
            return _single_cluster(failed), None
        structure_test = structure(rows, failed, seed=seed, progress=context.progress)
        if self.clusters is None and (structure_test is None or not structure_test.is_clustered):
            return _single_cluster(failed), structure_test
        return group(rows, failed, clusters=self.clusters, seed=seed), structure_test


def _single_cluster(failed: Booleans) -> Grouping:
    """Return all failures as one cluster."""
    count = int(failed.sum())
    return Grouping(
        labels=np.zeros(count, dtype=np.int64),
        silhouette=None,
        components=0,
        typical=(tuple(range(min(LEAST, count))),),
    )


def _notes(
    evaluation: Evaluation, grouping: Grouping, structure_test: Structure | None, cluster_count: int | None
) -> list[str]:
    notes = []
    if all(case.failed for case in evaluation.cases):
        notes.append("no case passed: clusters of failures cannot be compared with those of other cases")
    elif cluster_count != 1 and structure_test is None:
        notes.append("the failures are all alike: they form one cluster")
    elif structure_test is not None and not structure_test.is_clustered:
        comparison = (
            f"silhouette {figure(structure_test.silhouette)}, that of random subsets of all cases up to"
            f" {figure(max(structure_test.references))}; {percent(structure_test.neighbours)} of the"
            " nearest cases of"
            f" failures fail, {percent(structure_test.expected_neighbours)} by chance; p"
            f" {figure(structure_test.p_value)}"
        )
        subject = (
            "these clusters are" if grouping.count > 1 else "the failures form one cluster: several would be"
        )
        notes.append(f"{subject} no clearer than by chance ({comparison})")
    if cluster_count is not None and grouping.count != cluster_count:
        notes.append(f"there are no {cluster_count} clusters of {LEAST} cases or more")
    return notes


def _points(evaluation: Evaluation, grouping: Grouping, vectors: Vectors) -> list[MapPoint]:
    labels = iter(grouping.labels.tolist())
    return [
        MapPoint(
            key=case.key,
            question=case.question,
            cluster=str(next(labels) + 1) if case.failed else None,
            x=float(x),
            y=float(y),
        )
        for case, (x, y) in zip(evaluation.cases, plane(vectors.rows, 0), strict=True)
    ]


def _finish(
    context: StepContext,
    evaluation: Evaluation,
    note: str,
    method: ClusteringMethod,
    clusters: list[Cluster],
    points: list[MapPoint],
) -> StepResult:
    """Write the clusters and return the result of the step."""
    failures = sum(case.failed for case in evaluation.cases)
    results = ClusteringResults(
        failed=failures,
        passed=len(evaluation.cases) - failures,
        left_out=dict(evaluation.left_out),
        clusters={cluster.id: ClusterSummary(size=cluster.size, words=cluster.words) for cluster in clusters},
        method=method,
        note=note,
    )
    write_json(
        context.folder / CLUSTERS,
        {
            "version": 1,
            "note": note,
            "cases": {
                "failed": results.failed,
                "passed": results.passed,
                "left_out": dict(results.left_out),
            },
            "method": json_ready(method),
            "clusters": [asdict(cluster) for cluster in clusters],
            "points": [asdict(point) for point in points],
        },
    )
    if not clusters:
        return StepResult(summary=note, figures=results)
    size = counted(len(clusters), "cluster")
    title = f"Failures of {context.workflow.name or 'the model'}: {failures} in {size}"
    (context.folder / MAP).write_bytes(failure_map(title, clusters, points).encode("utf-8"))
    return StepResult(
        summary=f"{counted(failures, 'failure')} in {size}",
        notes=(note,),
        figures=results,
        problems=tuple(_problem(evaluation, cluster) for cluster in clusters),
    )


def _problem(evaluation: Evaluation, cluster: Cluster) -> Problem:
    missed = cluster.missed[0]
    info = evaluation.evaluators[missed.evaluator]
    return Problem(
        description=f"Failure cluster {cluster.id}: {cluster.sentence}",
        severity="high" if cluster.size >= HIGH_SHARE * len(evaluation.cases) else "medium",
        problem_type=info.problem_type,
        avid=info.avid,
        attributes={
            "kind": "failure_cluster",
            "step": ID,
            "cluster": cluster.id,
            "cases": cluster.size,
            "words": list(cluster.words),
            "evaluator": info.id,
            "metric": missed.metric,
            "over_represented": [
                {"dimension": entry.dimension, "value": entry.value, "share": entry.share}
                for entry in cluster.over_represented
            ],
            "test_case_keys": [case.key for case in cluster.typical],
        },
        actions=(
            f"Read the cluster's cases in {CLUSTERS}, beginning with the typical ones. If they have a common"
            " cause, name it and correct it: a missing or unclear document, the retrieval, or the prompt."
        ),
    )
