"""Step 3: select the generated test cases that are valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import numpy as np

from pytest_evalstudio.core.errors import DataError, nearest, unknown_name
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.mrm.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.mrm.steps.test_generation.results import SUITE
from pytest_evalstudio.mrm.steps.test_validation.method import CUTOFFS, Measured, lacks, measure
from pytest_evalstudio.mrm.steps.test_validation.plot import PICTURE, validation_picture
from pytest_evalstudio.mrm.steps.test_validation.results import (
    ID,
    REJECTED,
    SCORES,
    VALIDATED,
    ValidatedCase,
    ValidationMetric,
    ValidationResults,
)
from pytest_evalstudio.mrm.workflow.context import StepContext
from pytest_evalstudio.mrm.workflow.documents import moved
from pytest_evalstudio.mrm.workflow.parameters import Fraction, Names, VectorChoice


@step(ID, name="Test validation", number=3, after=(TEST_GENERATION,), extra="mrm")
@dataclass(frozen=True)
class TestValidation:
    """Measure each test case on its chunk, and move those below a cut-off to a suite of rejected cases.

    Attributes:
        metrics: of "cosine" (question and answer with the chunk), "support" (share of the answer's words that
            the chunk has), "condition" (the expected answer meets the case's condition), "nli" (entailment of
            the answer by the chunk) and "bertscore" (precision of the answer on the chunk); default: the
            first three, "nli" if the configuration names its model, and "bertscore" if the model of that
            evaluator is available or chosen.
        cutoffs: metric to the minimum score of a valid case; default: 0.2, 0.8, 1.0, 0.5 and 0.5.
        vectors: for the cosine: "embeddings", "tf-idf", or "auto": embeddings if a model is available.
        keep: keys of cases that are valid whatever their scores.
        drop: keys of cases that are rejected.
    """

    __test__ = False  # no class of tests

    metrics: Names = field(default_factory=list)
    cutoffs: Mapping[str, Fraction] = field(default_factory=dict)
    vectors: VectorChoice = "auto"
    keep: Names = field(default_factory=list)
    drop: Names = field(default_factory=list)
    configured: ClassVar[tuple[str, ...]] = ("embeddings", "nli", "evaluator.bertscore", "language_model")

    def __post_init__(self) -> None:
        for metric in (*self.metrics, *self.cutoffs):
            if metric not in CUTOFFS:
                raise ValueError(
                    f"there is no metric {metric!r}."
                    f" {nearest(metric, CUTOFFS) or 'Metrics: ' + ', '.join(CUTOFFS)}"
                )
        if both := sorted(set(self.keep).intersection(self.drop)):
            raise ValueError(f"{both[0]!r} is both to be kept and to be dropped")

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        folder = context.artifacts(TEST_GENERATION)
        suite = TestSuite.load(folder / SUITE)
        cases = [case for _, case in suite.cases()]
        self._check_keys(cases)
        metrics, left_out = self._metrics(context)
        measured = measure(context, cases, metrics, self.vectors)
        cutoffs = {metric: float(self.cutoffs.get(metric, CUTOFFS[metric])) for metric in metrics}
        validated = [self._validated(case, number, measured, cutoffs) for number, case in enumerate(cases)]
        results = ValidationResults(
            cases=len(cases),
            valid=sum(case.verdict == "valid" for case in validated),
            rejected={case.key: case.reasons for case in validated if case.reasons},
            metrics={name: _metric(measured[name], cutoffs[name]) for name in measured},
            left_out=left_out,
        )
        _write_suites(context, suite, results.rejected)
        write_json(
            context.folder / SCORES,
            {
                "version": 1,
                "metrics": {name: asdict(metric) for name, metric in results.metrics.items()},
                "cases": [asdict(case) for case in validated],
                "left_out": left_out,
            },
        )
        if not results.valid:
            raise DataError(
                "no test case is valid; lower the cutoffs, or name cases in `keep`",
                source=str(context.folder / SCORES),
            )
        outliers = sum(bool(case.outliers) for case in validated)
        picture = validation_picture(validated, results.metrics)
        (context.folder / PICTURE).write_text(picture, encoding="utf-8")
        return StepResult(
            summary=(
                f"{results.valid} of {len(cases)} test cases are valid, {outliers} with a score that is an"
                " outlier"
            ),
            notes=(
                *(f"without {metric}: {reason}" for metric, reason in left_out.items()),
                *(measurement.note for measurement in measured.values()),
            ),
            figures=results,
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

    def _validated(
        self, case: TestCase, number: int, measured: Mapping[str, Measured], cutoffs: Mapping[str, float]
    ) -> ValidatedCase:
        scores = {metric: measurement.scores[number] for metric, measurement in measured.items()}
        reasons = self._reasons(case.key, scores, cutoffs)
        return ValidatedCase(
            key=case.key,
            verdict="rejected" if reasons else "valid",
            reasons=reasons,
            scores=scores,
            outliers=tuple(
                metric for metric, measurement in measured.items() if number in measurement.outliers
            ),
        )

    def _reasons(
        self, key: str, scores: Mapping[str, float | None], cutoffs: Mapping[str, float]
    ) -> tuple[str, ...]:
        """Return the reasons for the rejection of a case, () for none."""
        if key in self.keep:
            return ()
        if key in self.drop:
            return ("dropped by name",)
        return tuple(
            f"{metric} {score:.2f} < {cutoffs[metric]:g}"
            for metric, score in scores.items()
            if score is not None and score < cutoffs[metric]
        )


def _write_suites(context: StepContext, suite: TestSuite, reasons: Mapping[str, Sequence[str]]) -> None:
    for name, title, rejected in ((VALIDATED, "valid tests", False), (REJECTED, "rejected tests", True)):
        TestSuite(
            name=f"{context.workflow.name or 'Workflow'}: {title}",
            description=f"{title.capitalize()} of {suite.name}",
            tests=[_part(context, test, reasons, rejected=rejected) for test in suite.tests],
        ).save(context.folder / name)


def _part(context: StepContext, test: Test, reasons: Mapping[str, Sequence[str]], *, rejected: bool) -> Test:
    cases = [case.model_copy(deep=True) for case in test.test_cases if (case.key in reasons) == rejected]
    if rejected:
        cases = [
            TestCase.model_validate({**case.to_dict(), "rejected_for": list(reasons[case.key])})
            for case in cases
        ]
    folder = context.artifacts(TEST_GENERATION)
    documents = [moved(document, folder, context.folder) for document in test.documents]
    return Test(key=test.key, documents=documents, test_cases=cases, categories=test.categories)


def _metric(measured: Measured, cutoff: float) -> ValidationMetric:
    known = [score for score in measured.scores if score is not None]
    minimum, first, median, third, maximum = (
        [round(float(value), 6) for value in np.percentile(known, [0, 25, 50, 75, 100])]
        if known
        else [None] * 5
    )
    return ValidationMetric(
        method=measured.method,
        note=measured.note,
        cutoff=cutoff,
        cases=len(known),
        min=minimum,
        q1=first,
        median=median,
        q3=third,
        max=maximum,
    )
