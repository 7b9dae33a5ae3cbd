"""Step 3: select the generated test cases that are valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from pytest_evalstudio.core.errors import DataError, nearest, unknown_name
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.mrm.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.mrm.steps.test_generation.results import SUITE
from pytest_evalstudio.mrm.steps.test_validation.method import CUTOFFS, Measured, lacks, measure
from pytest_evalstudio.mrm.steps.test_validation.results import ID, REJECTED, SCORES, VALIDATED
from pytest_evalstudio.mrm.texts.vectors import check_choice
from pytest_evalstudio.mrm.workflow.checks import check_fraction, check_names
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.documents import moved


@step(ID, name="Test validation", number=3, after=(TEST_GENERATION,), extra="mrm")
@dataclass(frozen=True)
class TestValidation:
    """Each test case is measured on the chunk that it was made of; those below a cut-off are left out, and
    kept in a suite of their own.

    Attributes:
        metrics: of "cosine" (question and answer with the chunk), "support" (share of the answer's words that
            the chunk has), "condition" (whether the expected answer meets the case's condition), "nli"
            (entailment of the answer by the chunk) and "bertscore" (its precision, of the answer on the
            chunk); where not given the first three, "nli" where the configuration names its model, and
            "bertscore" where the model of the evaluator of that name is at hand or chosen.
        cutoffs: metric to the least score of a valid case; 0.2, 0.8, 1.0, 0.5 and 0.5 where not given.
        vectors: for the cosine: "embeddings", "tf-idf", or "auto": embeddings where a model can be had.
        keep: keys of cases that are valid whatever their scores.
        drop: keys of cases that are not.
    """

    __test__ = False  # no class of tests

    metrics: list[str] = field(default_factory=list)
    cutoffs: Mapping[str, float] = field(default_factory=dict)
    vectors: str = "auto"
    keep: list[str] = field(default_factory=list)
    drop: list[str] = field(default_factory=list)
    configured: ClassVar[tuple[str, ...]] = ("embeddings", "nli", "evaluator.bertscore", "language_model")

    def __post_init__(self) -> None:
        check_names(self, "metrics", "keep", "drop")
        check_choice(self.vectors)
        if not isinstance(self.cutoffs, Mapping):
            raise ValueError(f"cutoffs = {self.cutoffs!r}: expected an object of metrics and least scores")
        for metric in (*self.metrics, *self.cutoffs):
            if metric not in CUTOFFS:
                raise ValueError(
                    f"there is no metric {metric!r}."
                    f" {nearest(metric, CUTOFFS) or 'Metrics: ' + ', '.join(CUTOFFS)}"
                )
        for metric, cutoff in self.cutoffs.items():
            check_fraction(f"cutoffs.{metric}", cutoff)
        if both := sorted(set(self.keep).intersection(self.drop)):
            raise ValueError(f"{both[0]!r} is both to be kept and to be dropped")

    def run(self, context: StepContext) -> StepResult:
        folder = context.artifacts(TEST_GENERATION)
        suite = TestSuite.load(folder / SUITE)
        cases = [case for _, case in suite.cases()]
        self._check_keys(cases)
        metrics, left_out = self._metrics(context)
        measured = measure(context, cases, metrics, self.vectors)
        cutoffs = {metric: float(self.cutoffs.get(metric, CUTOFFS[metric])) for metric in metrics}
        reasons = {case.key: self._reasons(case.key, at, measured, cutoffs) for at, case in enumerate(cases)}
        valid = [case for case in cases if not reasons[case.key]]
        _write_suites(context, suite, reasons)
        scores = _scores(cases, measured, cutoffs, reasons)
        write_json(context.folder / SCORES, {"version": 1, **scores, "left_out": left_out})
        if not valid:
            raise DataError(
                "no test case is valid; lower the cutoffs, or name cases in `keep`",
                source=str(context.folder / SCORES),
            )
        listed = sum(bool(case["outliers"]) for case in scores["cases"])
        return StepResult(
            summary=(
                f"{len(valid)} of {len(cases)} test cases are valid, {listed} with a score that is an outlier"
            ),
            notes=(
                *(f"without {metric}: {reason}" for metric, reason in left_out.items()),
                *(measurement.note for measurement in measured.values()),
            ),
            figures={
                "cases": len(cases),
                "valid": len(valid),
                "rejected": {key: rejections for key, rejections in reasons.items() if rejections},
                "metrics": scores["metrics"],
                "left_out": left_out,
            },
        )

    def _check_keys(self, cases: Sequence[TestCase]) -> None:
        known = [case.key for case in cases]
        for key in (*self.keep, *self.drop):
            if key not in known:
                raise unknown_name(
                    "test case", key, known, "`keep` and `drop` hold keys of the generated suite."
                )

    def _metrics(self, context: StepContext) -> tuple[list[str], dict[str, str]]:
        if self.metrics:
            return list(dict.fromkeys(self.metrics)), {}
        left_out = lacks(context)
        return [metric for metric in CUTOFFS if metric not in left_out], left_out

    def _reasons(
        self, key: str, at: int, measured: Mapping[str, Measured], cutoffs: Mapping[str, float]
    ) -> list[str]:
        """Why a case is rejected, [] if it is not."""
        if key in self.keep:
            return []
        if key in self.drop:
            return ["dropped by name"]
        scores = {metric: measurement.scores[at] for metric, measurement in measured.items()}
        return [
            f"{metric} {score:.2f} < {cutoffs[metric]:g}"
            for metric, score in scores.items()
            if score is not None and score < cutoffs[metric]
        ]


def _write_suites(context: StepContext, suite: TestSuite, reasons: Mapping[str, Sequence[str]]) -> None:
    folder = context.artifacts(TEST_GENERATION)
    for name, title, rejected in ((VALIDATED, "valid tests", False), (REJECTED, "rejected tests", True)):
        tests = [_part(context, test, folder, reasons, rejected=rejected) for test in suite.tests]
        description = f"{title.capitalize()} of {suite.name}"
        TestSuite(
            name=f"{context.workflow.name or 'Workflow'}: {title}", description=description, tests=tests
        ).save(context.folder / name)


def _part(
    context: StepContext, test: Test, folder: Any, reasons: Mapping[str, Sequence[str]], *, rejected: bool
) -> Test:
    cases = [case.model_copy(deep=True) for case in test.test_cases if bool(reasons[case.key]) == rejected]
    if rejected:
        cases = [
            TestCase.model_validate({**case.to_dict(), "rejected_for": list(reasons[case.key])})
            for case in cases
        ]
    documents = [moved(document, folder, context.folder) for document in test.documents]
    return Test(key=test.key, documents=documents, test_cases=cases, categories=test.categories)


def _scores(
    cases: Sequence[TestCase],
    measured: Mapping[str, Measured],
    cutoffs: Mapping[str, float],
    reasons: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Metrics with their distributions, and each case with its scores."""
    return {
        "metrics": {
            metric: {
                "method": measurement.method,
                "note": measurement.note,
                "cutoff": cutoffs[metric],
                **_distribution(measurement.scores),
            }
            for metric, measurement in measured.items()
        },
        "cases": [
            {
                "key": case.key,
                "verdict": "rejected" if reasons[case.key] else "valid",
                "reasons": list(reasons[case.key]),
                "scores": {metric: measurement.scores[at] for metric, measurement in measured.items()},
                "outliers": [
                    metric for metric, measurement in measured.items() if at in measurement.outliers
                ],
            }
            for at, case in enumerate(cases)
        ],
    }


def _distribution(scores: Sequence[float | None]) -> dict[str, Any]:
    known = [score for score in scores if score is not None]
    names = ("min", "q1", "median", "q3", "max")
    values = (
        [round(float(value), 6) for value in np.percentile(known, [0, 25, 50, 75, 100])]
        if known
        else [None] * len(names)
    )
    return {"cases": len(known), **dict(zip(names, values, strict=True))}
