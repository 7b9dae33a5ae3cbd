"""Step 3: select the generated test cases that are valid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import ClassVar, Literal

import numpy as np

from pytest_evalstudio.contrib.validation.methods.test_cases.faults import planted_faults
from pytest_evalstudio.contrib.validation.methods.test_cases.keys import GENERATED_DIGEST
from pytest_evalstudio.contrib.validation.methods.test_cases.plot import PICTURE, validation_picture
from pytest_evalstudio.contrib.validation.methods.test_cases.results import (
    FaultDetection,
    ValidatedCase,
    ValidationMetric,
    ValidationPower,
    ValidationResults,
)
from pytest_evalstudio.contrib.validation.methods.test_cases.round_trip import (
    RoundTrip,
    evidence_of,
    sentences_of,
)
from pytest_evalstudio.contrib.validation.steps.test_generation.importing import IMPORTED
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ID as TEST_GENERATION
from pytest_evalstudio.contrib.validation.steps.test_generation.results import SUITE
from pytest_evalstudio.contrib.validation.steps.test_generation.suites import content_digest
from pytest_evalstudio.contrib.validation.steps.test_validation.files import ID, REJECTED, SCORES, VALIDATED
from pytest_evalstudio.contrib.validation.steps.test_validation.method import (
    CUTOFFS,
    Measured,
    lacks,
    measure,
)
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import ID as TOPIC_MODELING
from pytest_evalstudio.contrib.validation.steps.topic_modeling.files import read_topics
from pytest_evalstudio.contrib.validation.workflow.context import StepContext
from pytest_evalstudio.contrib.validation.workflow.documents import moved
from pytest_evalstudio.contrib.validation.workflow.parameters import Fraction, Names, VectorChoice
from pytest_evalstudio.core.errors import DataError, nearest, unknown_name
from pytest_evalstudio.core.plugins.step import StepResult, step
from pytest_evalstudio.formats.fields import write_json
from pytest_evalstudio.formats.suite import Test, TestCase, TestSuite
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.text.figures import figure, percent

QUICK = ("support", "condition", "evidence", "round_trip", "unique", "readable")
"""Metrics without a model, which planted faults are measured by."""
MIN_DETECTION, MAX_FALSE_REJECTIONS = 0.8, 0.1
"""Goals for planted faults and for cases that are presumed right."""


@step(ID, name="Test validation", number=3, after=(TEST_GENERATION,), uses=(TOPIC_MODELING,), extra="mrm")
@dataclass(frozen=True)
class TestValidation:
    """Measure each test case on its chunk, and move those below a cut-off to a suite of rejected cases.

    Attributes:
        metrics: of "cosine" (question and answer with the chunk), "support" (share of the answer's words that
            the chunk has), "condition" (the expected answer meets the case's condition, unrelated ones do
            not), "evidence" (the quoted sentence is in the chunk and has the answer's quantities and words),
            "round_trip" (the question alone leads to the evidence), "unique" (no other sentence answers it
            differently),
            "readable" (the question is in an order of English), "nli" (entailment of the answer by the chunk)
            and "bertscore" (precision of the answer on the chunk); default: all, "nli" if the configuration
            names its model, and "bertscore" if the model of that evaluator is available or chosen.
        cutoffs: metric to the minimum score of a valid case; default: 0.2, 0.8, 1.0, 0.8, 0.6, 1.0, 1.0, 0.5
            and 0.5.
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
            raise ValueError(f"{both[0]!r} is in `keep` and in `drop`; remove it from one of them")

    def run(self, context: StepContext) -> StepResult:
        """Run the step."""
        folder = context.artifacts(TEST_GENERATION)
        suite = TestSuite.load(folder / SUITE)
        cases = [case for _, case in suite.cases()]
        self._check_keys(cases)
        metrics, left_out = self._metrics(context)
        added, edited = (
            tuple(case.key for case in cases if _provenance(case, cases) == origin)
            for origin in ("added", "edited")
        )
        imported = [case.key for case in cases if (case.model_extra or {}).get(IMPORTED)]
        trip = RoundTrip(_document_sentences(context, cases), own_keys=[*added, *edited, *imported])
        measured = measure(context, cases, metrics, self.vectors, trip)
        cutoffs = {metric: float(self.cutoffs.get(metric, CUTOFFS[metric])) for metric in metrics}
        validated = [self._validated(case, number, measured, cutoffs) for number, case in enumerate(cases)]
        results = ValidationResults(
            cases=len(cases),
            valid=sum(case.verdict == "valid" for case in validated),
            rejected={case.key: case.reasons for case in validated if case.reasons},
            metrics={name: _metric(measured[name], cutoffs[name]) for name in measured},
            left_out=left_out,
            power=self._power(context, cases, validated, trip, cutoffs),
            edited=edited,
            added=added,
        )
        _write_suites(context, suite, results.rejected)
        write_json(
            context.folder / SCORES,
            {
                "version": 1,
                "metrics": {name: asdict(metric) for name, metric in results.metrics.items()},
                "cases": [asdict(case) for case in validated],
                "left_out": left_out,
                "edited": list(results.edited),
                "added": list(results.added),
                "power": asdict(results.power),
            },
        )
        # Not earlier: the scores show why.
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
                f" outlier{_describe_power(results.power)}"
            ),
            notes=(
                *_power_notes(results.power),
                *_provenance_notes(results),
                *(f"without {metric}: {reason}" for metric, reason in left_out.items()),
                *(measurement.note for measurement in measured.values()),
            ),
            figures=results,
        )

    def _power(
        self,
        context: StepContext,
        cases: Sequence[TestCase],
        validated: Sequence[ValidatedCase],
        trip: RoundTrip,
        cutoffs: Mapping[str, float],
    ) -> ValidationPower:
        """Plant faults in the valid cases and count those that are detected."""
        valid = [case for case, result in zip(cases, validated, strict=True) if result.verdict == "valid"]
        planted = planted_faults(valid, context.workflow.seed)
        metrics = [metric for metric in QUICK if metric in cutoffs]
        faults = {}
        for name, copies in planted.items():
            measured = measure(context, copies, metrics, self.vectors, trip) if copies else {}
            detected = sum(
                any(
                    score is not None and score < cutoffs[metric]
                    for metric, measurement in measured.items()
                    for score in (measurement.scores[number],)
                )
                for number in range(len(copies))
            )
            interval = wilson_interval(detected, len(copies)) if copies else None
            faults[name] = FaultDetection(planted=len(copies), detected=detected, interval=interval)
        total = sum(fault.planted for fault in faults.values())
        rate = sum(fault.detected for fault in faults.values()) / total if total else None
        # A case that people drop is no false rejection.
        by_score = [result for result in validated if result.reasons and result.key not in self.drop]
        false = len(by_score) / len(cases)
        return ValidationPower(
            faults=faults,
            detection_rate=round(rate, 6) if rate is not None else None,
            false_rejections=round(false, 6),
            meets_goal=rate is not None and rate >= MIN_DETECTION and false <= MAX_FALSE_REJECTIONS,
        )

    def _check_keys(self, cases: Sequence[TestCase]) -> None:
        keys = [case.key for case in cases]
        for key in (*self.keep, *self.drop):
            if key not in keys:
                raise unknown_name(
                    "test case", key, keys, "`keep` and `drop` hold keys of the generated suite."
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
            f"{metric} {figure(score)} < {cutoffs[metric]:g}"
            for metric, score in scores.items()
            if score is not None and score < cutoffs[metric]
        )


def _document_sentences(context: StepContext, cases: Sequence[TestCase]) -> list[str]:
    """Return the sentences of the documents, or of the cases' chunks if the topics are not at hand."""
    folder = context.earlier.get(TOPIC_MODELING)
    if folder is None:
        return sentences_of(cases)
    return [sentence for chunk in read_topics(folder).chunks for sentence in chunk.sentences]


def _provenance(case: TestCase, cases: Sequence[TestCase]) -> Literal["generated", "edited", "added"]:
    """Return the origin of a case; all are generated in a suite without digests."""
    digest = (case.model_extra or {}).get(GENERATED_DIGEST)
    if digest is None:
        is_marked = any(GENERATED_DIGEST in (other.model_extra or {}) for other in cases)
        return "added" if is_marked else "generated"
    content = content_digest(
        case.prompt, case.expected_output, case.condition_text() or "", evidence_of(case)
    )
    return "generated" if content == digest else "edited"


def _provenance_notes(results: ValidationResults) -> list[str]:
    counts = [
        f"{len(keys)} {word} by people ({', '.join(keys[:5])}{', …' if len(keys) > 5 else ''})"
        for word, keys in (("edited", results.edited), ("added", results.added))
        if keys
    ]
    return [f"test cases: {'; '.join(counts)}"] if counts else []


def _describe_power(power: ValidationPower) -> str:
    if power.detection_rate is None:
        return ""
    return (
        f"; {percent(power.detection_rate)} of injected faults are detected,"
        f" {percent(power.false_rejections)} of the"
        " generated cases rejected"
    )


def _power_notes(power: ValidationPower) -> list[str]:
    if power.detection_rate is None:
        return []
    counts = ", ".join(
        f"{name.replace('_', ' ')} {fault.detected} of {fault.planted}"
        for name, fault in power.faults.items()
        if fault.planted
    )
    goal = (
        f"goal: {percent(MIN_DETECTION)} or more detected, {percent(MAX_FALSE_REJECTIONS)} or less rejected"
    )
    return [f"injected faults detected: {counts} ({goal}: {'met' if power.meets_goal else 'missed'})"]


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
    values = [score for score in measured.scores if score is not None]
    minimum, first, median, third, maximum = (
        [round(float(value), 6) for value in np.percentile(values, [0, 25, 50, 75, 100])]
        if values
        else [None] * 5
    )
    return ValidationMetric(
        method=measured.method,
        note=measured.note,
        cutoff=cutoff,
        cases=len(values),
        min=minimum,
        q1=first,
        median=median,
        q3=third,
        max=maximum,
    )
