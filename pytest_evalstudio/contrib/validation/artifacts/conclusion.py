"""Conclusion of a validation: fit, fit with limits, not fit, or what evidence is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

from pytest_evalstudio.contrib.validation.artifacts.requirements import (
    RequirementKind,
    Requirements,
    more_cases,
    requirements_of,
)
from pytest_evalstudio.contrib.validation.artifacts.unsupported import MAX_SHARE, has_unsupported_sentence
from pytest_evalstudio.contrib.validation.methods.controls.counting import judged_items
from pytest_evalstudio.contrib.validation.methods.controls.deciding import DecidingMetric
from pytest_evalstudio.contrib.validation.methods.controls.results import (
    MAX_CONTRADICTIONS,
    ControlResults,
    judge_controls,
    read_controls,
)
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import EvaluationResults
from pytest_evalstudio.contrib.validation.workflow.calibration import ID as CALIBRATION
from pytest_evalstudio.contrib.validation.workflow.calibration import calibration_outcome
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.record.reader import RecordReader
from pytest_evalstudio.record.schema import EvaluatorEntry, RecordRow
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.stats.intervals import wilson_interval
from pytest_evalstudio.stats.types import LEVEL, Interval
from pytest_evalstudio.text.figures import percent

Fitness = Literal["fit", "fit with limits", "not fit", "insufficient evidence", "not assessed"]
HARD: frozenset[str] = frozenset(
    {"too_few_cases", "nothing_decides", "controls_contradict", "not_controlled"}
)
"""Gaps that leave nothing to conclude from; others do not keep a model from being unfit."""
GapCode = Literal[
    "too_few_cases",
    "wide_interval",
    "nothing_decides",
    "not_calibrated",
    "not_tested",
    "controls_contradict",
    "not_controlled",
    "unsupported_sentences",
    "too_few_for_tier",
    "too_few_labels",
    "coverage",
]
WIDE = 0.2
"""Width of an interval of a share that leaves the decision open if the required share is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceGap:
    """A reason for "insufficient evidence".

    Attributes:
        text: fact and remedy.
    """

    code: GapCode
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConclusionDecision:
    """Answers by the deciding metrics alone.

    Attributes:
        metrics: those that decide, with the thresholds in force.
        passed: number of answers that meet all of them.
        judged: number of answers with a verdict, without the cases that a control contradicts.
        interval: of the share that passes, 95 %; None without a judged answer.
        min_share: share that must pass.
        min_cases: minimum number of judged answers.
        controls: contradictions, by the thresholds in force.
        undecided: chosen metrics that do not decide, since nobody set their threshold.
        unsupported: number of passing answers with a sentence that context and question do not support.
        requirements: evidence that the policy demands; None without a policy.
        more_cases: how the workflow gets more test cases.
    """

    metrics: tuple[DecidingMetric, ...]
    passed: int
    judged: int
    interval: Interval | None
    min_share: float
    min_cases: int
    controls: ControlResults
    undecided: tuple[str, ...]
    unsupported: int = 0
    requirements: Requirements | None = None
    more_cases: str = "raise `count` of test_generation"

    @property
    def deciding(self) -> frozenset[str]:
        """Return the names of the deciding metrics."""
        return frozenset(metric.metric for metric in self.metrics)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConclusionFinding:
    """A problem as the conclusion counts it.

    Attributes:
        metrics: `evaluator.metric`, or `evaluator`, that it rests on; () if it rests on none.
    """

    text: str
    is_high: bool
    metrics: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Conclusion of a validation.

    Attributes:
        decided_by: facts that make the model unfit.
        limits: what else restricts the conclusion.
        gaps: missing evidence; with any, the conclusion is "insufficient evidence".
        decision: the deciding metrics and their result; None if nothing is evaluated.
        low_share: the share of passes where it is among the facts that make the model unfit, in words.
    """

    fitness: Fitness
    decided_by: tuple[str, ...]
    limits: tuple[str, ...]
    gaps: tuple[EvidenceGap, ...] = ()
    decision: ConclusionDecision | None = None
    low_share: str = ""


def min_cases(min_share: float, level: float = LEVEL) -> int:
    """Return the number of cases from which a decision on a share of passes is possible.

    Even if all n answers pass, the lower bound of Wilson's interval is n / (n + z²): the interval is z² / (n
    + z²) wide, and must not be wider than 1 − s, the room above the required share s. So n ≥ z²·s / (1 − s).

    Args:
        min_share: required share s, between 0 and 1.
        level: coverage of the interval.

    Source: Wilson, 1927 (JASA 22, 209–212), solved for n at p = 1.

    >>> min_cases(0.8), min_cases(0.9), min_cases(0.95)
    (16, 35, 73)
    """
    z = NormalDist().inv_cdf(0.5 + level / 2)
    # Rounding must not add a case where the formula gives a whole number.
    return math.ceil(z * z * min_share / (1 - min_share) - 1e-9)


def decide(run: WorkflowRun) -> ConclusionDecision | None:
    """Return the result of the deciding metrics; None if the model is not evaluated."""
    evaluation = run.completed_results(EVALUATION, EvaluationResults)
    if evaluation is None:
        return None
    record = RecordReader(run.folder_of(EVALUATION) / FILE)
    metrics = {metric.metric: metric for metric in evaluation.deciding}
    # Labels of people outweigh a threshold that was set; a metric of yes and no has none to replace.
    metrics |= {
        metric.metric: metric
        for metric in _calibrated(run, record.run.evaluators)
        if metric.metric not in metrics or metrics[metric.metric].basis != "yes_or_no"
    }
    controls = judge_controls(
        read_controls(run.folder_of(EVALUATION)),
        tuple(metrics.values()),
        evaluation.controls.not_controlled,
    )
    deciding = tuple(metric for name, metric in metrics.items() if name not in controls.thresholds)
    passed = judged = unsupported = 0
    for item, verdict in judged_items(record, deciding, controls.cases):
        judged += 1
        passed += verdict
        unsupported += verdict and any(map(_is_unsupported, item.rows))
    is_calibrated = run.is_completed(CALIBRATION)
    return ConclusionDecision(
        metrics=deciding,
        passed=passed,
        judged=judged,
        interval=wilson_interval(passed, judged) if judged else None,
        min_share=evaluation.min_pass_share,
        min_cases=min_cases(evaluation.min_pass_share),
        controls=controls,
        # A completed calibration has dealt with these metrics, too, accepted or not.
        undecided=() if is_calibrated else evaluation.undecided,
        unsupported=unsupported,
        requirements=requirements_of(run, evaluation, judged),
        more_cases=more_cases(run),
    )


def _calibrated(run: WorkflowRun, evaluators: Mapping[str, EvaluatorEntry]) -> Iterator[DecidingMetric]:
    """Yield the metrics with an accepted calibration."""
    for figures in calibration_outcome(run).by_metric:
        id, _, key = figures.metric.partition(".")
        metric = next((each for each in evaluators[id].metrics if each.key == key), None)
        if figures.accepted and figures.threshold is not None and metric is not None:
            yield DecidingMetric(
                metric=figures.metric, better=metric.better, threshold=figures.threshold, basis="calibrated"
            )


def _is_unsupported(row: RecordRow) -> bool:
    """Report whether an answer invents a sentence; without context nothing tells."""
    sources = (*row.answer.context, row.question, row.expected_output)
    return bool(row.answer.context) and has_unsupported_sentence(row.answer.text, sources)


def concluded(
    decision: ConclusionDecision | None, findings: Sequence[ConclusionFinding], incomplete: Mapping[str, str]
) -> Conclusion:
    """Return the conclusion.

    Only deciding metrics count, and findings that rest on them or on no metric. A model is unfit if a finding
    of high severity remains, or if fewer answers pass than required.

    Args:
        decision: result of the deciding metrics; None if nothing is evaluated.
        findings: problems of the steps and of people.
        incomplete: id to name of the steps that are not completed, or asked nothing.
    """
    deciding = decision.deciding if decision is not None else frozenset()
    # A finding may name the evaluator alone.
    names = deciding | {metric.partition(".")[0] for metric in deciding}
    counted = [each for each in findings if not each.metrics or names.intersection(each.metrics)]
    high = [finding.text for finding in counted if finding.is_high]
    limits = [finding.text for finding in counted if not finding.is_high]
    if decision is None:
        return Conclusion(fitness="not assessed", decided_by=tuple(high), limits=tuple(limits))
    gaps = tuple(_gaps(decision, incomplete))
    share_text, low_share = _describe_share(decision), ""
    low, upper = decision.interval or (0.0, 1.0)
    is_open = low < decision.min_share <= upper
    is_below = bool(decision.judged) and decision.passed < decision.min_share * decision.judged
    # Narrow enough to decide: the observed share counts, although the interval holds the required one.
    if upper < decision.min_share or (is_open and is_below and not _is_wide(decision)):
        high.insert(0, share_text)
        low_share = share_text
    elif is_open and not _is_wide(decision):
        limits.insert(0, share_text)
    limits += [f"not controlled: {name} ({why})" for name, why in _uncontrolled(decision).items()]
    # Any gap keeps a model from being fit; only hard ones keep it from being unfit.
    is_blocked = any(gap.code in HARD for gap in gaps) or (bool(gaps) and not high)
    fitness: Fitness = "fit"
    if is_blocked:
        fitness = "insufficient evidence"
    elif high:
        fitness = "not fit"
    elif limits:
        fitness = "fit with limits"
    return Conclusion(
        fitness=fitness,
        decided_by=tuple(high),
        limits=tuple(limits),
        gaps=gaps,
        decision=decision,
        low_share=low_share,
    )


def _uncontrolled(decision: ConclusionDecision) -> dict[str, str]:
    """Return the evaluators without controls that decide, to the reason."""
    ids = {metric.partition(".")[0] for metric in decision.deciding}
    return {id: why for id, why in decision.controls.not_controlled.items() if id in ids}


def _gaps(decision: ConclusionDecision, incomplete: Mapping[str, str]) -> Iterator[EvidenceGap]:
    controls = decision.controls
    if not decision.metrics:
        yield EvidenceGap(
            code="nothing_decides",
            text="no metric decides: choose an evaluator of yes and no (text_matching), set a threshold, or"
            " calibrate one",
        )
    elif controls.share is None:
        yield EvidenceGap(
            code="not_controlled",
            text="no control was scored: give test cases expected answers, or judges a budget"
            " (`max_judged_controls` of automated_evaluation)",
        )
    if controls.refuses:
        yield EvidenceGap(
            code="controls_contradict",
            text=f"controls contradict {len(controls.cases)} of {controls.tested} test cases, more than"
            f" {percent(MAX_CONTRADICTIONS)}: correct their conditions, or choose other evaluators",
        )
    if decision.judged < decision.min_cases:
        yield EvidenceGap(
            code="too_few_cases",
            text=f"{decision.judged} judged answers, and a required share of"
            f" {percent(decision.min_share)} needs"
            f" {decision.min_cases} or more: {decision.more_cases}",
        )
    elif _is_wide(decision):
        yield EvidenceGap(
            code="wide_interval",
            text=f"{_describe_share(decision)}: the interval is wider than {WIDE} and holds the required"
            f" share; {decision.more_cases}",
        )
    if decision.undecided:
        yield EvidenceGap(
            code="not_calibrated",
            text=f"{', '.join(decision.undecided)}: nobody set the threshold, and the human calibration is"
            " not completed; label the sample, set a threshold, or leave the evaluator out",
        )
    if decision.unsupported > MAX_SHARE * decision.passed:
        yield EvidenceGap(
            code="unsupported_sentences",
            text=f"{decision.unsupported} of {decision.passed} passing answers have a sentence with hardly a"
            " word of context or question, and no deciding metric fails them: choose an evaluator of"
            " groundedness with a threshold that holds for the controls",
        )
    yield from _gaps_of_tier(decision)
    # The calibration has a gap of its own above, only where a metric waits for it.
    untested = [name for id, name in incomplete.items() if id != CALIBRATION]
    if untested:
        yield EvidenceGap(
            code="not_tested", text=f"not completed, or nothing was asked: {', '.join(untested)}"
        )


_TIER_CODES: Mapping[RequirementKind, GapCode] = {
    "cases": "too_few_for_tier",
    "labels": "too_few_labels",
    "coverage": "coverage",
}


def _gaps_of_tier(decision: ConclusionDecision) -> Iterator[EvidenceGap]:
    """Yield what the policy demands beyond the evidence, with the shortest way to it."""
    if decision.requirements is None:
        return
    tier = decision.requirements.tier
    for entry in decision.requirements.missing:
        # The decision itself needs more cases already.
        if entry.kind != "cases" or decision.judged >= decision.min_cases:
            yield EvidenceGap(
                code=_TIER_CODES[entry.kind], text=f"{entry.text} for tier {tier}: {entry.remedy}"
            )


def _is_wide(decision: ConclusionDecision) -> bool:
    low, upper = decision.interval or (0.0, 1.0)
    return low < decision.min_share <= upper and upper - low > WIDE


def _describe_share(decision: ConclusionDecision) -> str:
    low, upper = decision.interval or (0.0, 1.0)
    return (
        f"{decision.passed} of {decision.judged} answers pass the deciding metrics (95 % interval"
        f" {percent(low)}"
        f" to {percent(upper)}), and {percent(decision.min_share)} must pass"
    )


def describe_decision(decision: ConclusionDecision) -> Iterator[str]:
    """Yield the result, what decides, and the metrics that wait for a threshold, in words."""
    yield f"{_describe_share(decision)}; a decision needs {decision.min_cases} or more answers"
    yield f"deciding: {'; '.join(metric.text for metric in decision.metrics) or 'no metric'}"
    if decision.requirements is not None:
        stated = "" if decision.requirements.is_stated else ", which the policy takes where none is stated"
        yield f"tier of materiality: {decision.requirements.tier}{stated}"
    if decision.undecided:
        yield f"reported only, nobody set the threshold: {', '.join(decision.undecided)}"
