"""Step 6: what the failures have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pytest_evalstudio.core.problems import Problem
from pytest_evalstudio.core.steps import Done, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.mrm.findings.failure_groups import described
from pytest_evalstudio.mrm.findings.failures import LEAST, LEVEL, Grouping, Structure, group, structure
from pytest_evalstudio.mrm.findings.judged import Evaluation, read_evaluation
from pytest_evalstudio.mrm.pictures.failure_map import failure_map
from pytest_evalstudio.mrm.texts.vectors import Vectors, check_choice, text_vectors
from pytest_evalstudio.mrm.topics.clustering import plane
from pytest_evalstudio.mrm.workflow.checks import check_counts, check_names
from pytest_evalstudio.mrm.workflow.thresholds import CALIBRATION, calibrated_thresholds
from pytest_evalstudio.mrm.workflow.work import Work
from pytest_evalstudio.record.writer import FILE

CLUSTERS = "failure_clusters.json"
MAP = "failure_clusters.svg"
HIGH_SHARE = 0.1
"""Of all judged cases: a cluster of so many is a problem of high severity."""


@step(
    "failure_clustering",
    name="Failure clustering",
    number=6,
    after=("automated_evaluation",),
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

    def run(self, work: Work) -> Done:
        record = work.artifacts("automated_evaluation") / FILE
        evaluation = read_evaluation(record, self.evaluators, calibrated_thresholds(work.figures))
        failed = np.array([case.failed for case in evaluation.cases], dtype=bool)
        count = int(failed.sum())
        if count < self.min_failures:
            note = (
                f"{count} failure{' is' if count == 1 else 's are'} fewer than {self.min_failures}: nothing"
                " is clustered"
            )
            return _written(work, evaluation, note, {}, [], [])
        vectors = text_vectors(
            work, [f"{case.question}\n{case.answer}" for case in evaluation.cases], self.vectors
        )
        grouping, found = self._grouped(work, vectors.rows, failed)
        clusters = described(evaluation.cases, grouping, self.top_n_words)
        method = {
            "vectors": vectors.method,
            "components": grouping.components,
            "silhouette": grouping.silhouette,
        }
        tested = (
            {}
            if found is None
            else {
                "references": list(found.references),
                "tested_silhouette": found.silhouette,
                "p_value": found.p_value,
            }
        )
        note = "; ".join(filter(None, [*_notes(evaluation, grouping, found, self.clusters), vectors.note]))
        return _written(
            work,
            evaluation,
            note,
            {**method, **tested},
            clusters,
            _points(evaluation, grouping, vectors, failed),
        )

    def _grouped(self, work: Work, rows: Any, failed: Any) -> tuple[Grouping, Structure | None]:
        seed = work.workflow.seed
        if self.clusters == 1:
            return _one(failed), None
        found = structure(rows, failed, seed=seed, progress=work.progress)
        if self.clusters is None and (found is None or found.p_value > LEVEL):
            return _one(failed), found
        return group(rows, failed, clusters=self.clusters, seed=seed), found


def _one(failed: Any) -> Grouping:
    """All failures together."""
    count = int(failed.sum())
    return Grouping(
        labels=np.zeros(count, dtype=np.int64),
        silhouette=None,
        components=0,
        typical=(tuple(range(min(LEAST, count))),),
    )


def _notes(
    evaluation: Evaluation, grouping: Grouping, found: Structure | None, wanted: int | None
) -> list[str]:
    notes = []
    if all(case.failed for case in evaluation.cases):
        notes.append("no case passed: the forest divided the failures from shuffled ones alone")
    if wanted != 1 and found is None:
        notes.append("the failures are all alike: they stand in one cluster")
    elif found is not None and found.p_value > LEVEL:
        than = (
            f"silhouette {found.silhouette:.2f}, that of samples without clusters up to"
            f" {max(found.references):.2f}, p {found.p_value:.2f}"
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
    work: Work,
    evaluation: Evaluation,
    note: str,
    method: dict[str, Any],
    clusters: list[dict[str, Any]],
    points: list[dict[str, Any]],
) -> Done:
    failures = sum(case.failed for case in evaluation.cases)
    counts = {
        "failed": failures,
        "passed": len(evaluation.cases) - failures,
        "left_out": dict(evaluation.left_out),
    }
    write_json(
        work.folder / CLUSTERS,
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
            f"Failures of {work.workflow.name or 'the model'}: {failures} in {len(clusters)}"
            f" cluster{'s' if len(clusters) != 1 else ''}"
        )
        (work.folder / MAP).write_bytes(failure_map(title, clusters, points).encode("utf-8"))
    said = (
        f"{failures} failures in {len(clusters)} cluster{'s' if len(clusters) != 1 else ''}"
        if clusters
        else ""
    )
    sizes = {cluster["id"]: {"size": cluster["size"], "words": cluster["words"]} for cluster in clusters}
    return Done(
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
                    "step": "failure_clustering",
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
