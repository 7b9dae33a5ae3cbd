"""A model card of a validated model: scope, data, metrics, results, weaknesses and a monitoring plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pytest_evalstudio.contrib.calibration.fit.results import ExpectedUse
from pytest_evalstudio.contrib.validation.artifacts.conclusion import (
    Conclusion,
    ConclusionDecision,
)
from pytest_evalstudio.contrib.validation.artifacts.evidence import Evidence
from pytest_evalstudio.contrib.validation.artifacts.mapping import Mapped, claims_of, mapping
from pytest_evalstudio.contrib.validation.artifacts.register import RegisterEntry
from pytest_evalstudio.contrib.validation.artifacts.sign_off import SignOffStatus
from pytest_evalstudio.contrib.validation.artifacts.summary import (
    Quality,
    StepProblem,
    WorkflowSummary,
    conclude,
)
from pytest_evalstudio.contrib.validation.methods.controls.deciding import BASES
from pytest_evalstudio.contrib.validation.published_agreement import published_agreement
from pytest_evalstudio.contrib.validation.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.contrib.validation.workflow.calibration import calibration_outcome
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE
from pytest_evalstudio.scoring.masking import masked
from pytest_evalstudio.text.figures import figure, percent

SAFETY = ("security", "fairness", "privacy")
"""Types of problems that safety and ethics are about."""
ADVERSARIAL = "robustness_adversarial"
FLAGGED_SHARE = (
    'sum(rate(evalstudio_guard_checks_total{verdict="unreliable"}[7d]))'
    " / sum(rate(evalstudio_guard_checks_total[7d]))"
)
"""Query of Prometheus for the share of answers that the guard service flags."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMetric:
    """A metric of the evaluation.

    Attributes:
        threshold: in force after the calibration.
        decides: True if it decides the conclusion.
        source: reason why it decides, or does not.
        limitation: agreement with labels of this workflow, and on published samples.
    """

    metric: str
    better: str
    threshold: float
    decides: bool
    source: str
    limitation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trigger:
    """A condition to watch after deployment.

    Attributes:
        condition: that calls for the action, in words.
        gate: the same for `--evalstudio-gate` of a run in CI; "" for none.
        guard: the same for the figures of the guard service, as a query of Prometheus; "" for none.
    """

    condition: str
    action: str
    gate: str = ""
    guard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """Entry of the model inventory, as the workflow's file states it; "" where it states nothing.

    Attributes:
        materiality: tier of the model's risk.
        version: of the application.
    """

    inventory_id: str
    intended_use: str
    materiality: str
    owner: str
    version: str
    limitations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditionEntry:
    """Edition of a guidance; see `workflow.guidance.Edition`."""

    id: str
    title: str
    date: str
    link: str
    status: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Safety:
    """Results on safety and ethics.

    Attributes:
        tested: summaries of the steps that tested it.
        findings: problems of security, fairness and privacy.
        not_tested: what no completed step tested.
    """

    tested: tuple[str, ...]
    findings: tuple[str, ...]
    not_tested: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """Model card of a workflow.

    Attributes:
        results: summaries of the completed steps, by name.
        expected: use of the calibrated thresholds on new answers; None without a calibration.
        weaknesses: findings, the most severe first.
        register: findings and challenges of people.
        case_links: key of a case of the register to its address in the report of a step.
        monitoring: what to observe after deployment, and when to act.
        guidance_as_of: ISO 8601 date of the table of editions.
        editions: of the guidance, with date, link and status.
        mapping: evidence for parts of the guidance.
    """

    version: int = 2
    title: str
    description: str
    model: str
    inventory: Inventory
    documents: tuple[str, ...]
    evidence: Evidence
    metrics: tuple[CardMetric, ...]
    conclusion: Conclusion
    quality: Quality | None
    results: Mapping[str, str]
    expected: ExpectedUse | None
    weaknesses: tuple[StepProblem, ...]
    safety: Safety
    register: tuple[RegisterEntry, ...]
    case_links: Mapping[str, str]
    monitoring: tuple[Trigger, ...]
    guidance_as_of: str
    editions: tuple[EditionEntry, ...]
    mapping: tuple[Mapped, ...]
    sign_offs: tuple[SignOffStatus, ...]
    unsigned: tuple[str, ...]


def model_card(run: WorkflowRun, summary: WorkflowSummary) -> ModelCard:
    """Return the model card of a workflow."""
    expected = calibration_outcome(run).guardrail
    return ModelCard(
        title=summary.workflow,
        description=summary.description,
        model=summary.model,
        documents=summary.documents,
        inventory=_inventory(run),
        evidence=summary.evidence,
        metrics=tuple(_metrics(run, summary.decision)),
        conclusion=conclude(summary),
        quality=summary.quality,
        # A step that asked nobody and measured nothing has no result.
        results={
            step.name: step.summary for step in summary.steps if step.status == "completed" and step.figures
        },
        expected=expected,
        weaknesses=summary.problems,
        safety=_safety(summary),
        register=summary.register,
        case_links=summary.case_links,
        monitoring=(*_monitoring(summary.decision, expected), *_stated_triggers(run)),
        guidance_as_of=run.guidance.as_of,
        editions=tuple(EditionEntry(**each.model_dump()) for each in run.guidance.editions),
        mapping=tuple(mapping(run.guidance, claims_of(run, summary))),
        sign_offs=summary.sign_offs,
        unsigned=summary.unsigned,
    )


def _inventory(run: WorkflowRun) -> Inventory:
    stated = run.workflow.governance
    return Inventory(
        inventory_id=masked(stated.inventory_id),
        intended_use=masked(stated.intended_use),
        materiality=masked(stated.materiality),
        owner=masked(stated.owner),
        version=masked(stated.version),
        limitations=tuple(map(masked, stated.limitations)),
    )


def _metrics(run: WorkflowRun, decision: ConclusionDecision | None) -> Iterator[CardMetric]:
    """Yield the metrics with a threshold, deciding ones first."""
    if decision is None:
        return
    for each in decision.metrics:
        yield CardMetric(
            metric=each.metric,
            better=each.better,
            threshold=each.threshold,
            decides=True,
            source=BASES[each.basis],
            limitation=_limitation(run, each.metric),
        )
    for id, info in read_run(run.folder_of(EVALUATION) / FILE).evaluators.items():
        for metric in info.metrics:
            key = f"{id}.{metric.key}"
            if metric.key in info.asserted and key not in decision.deciding:
                reason = _reason(key, decision) if metric.primary else "not the primary metric"
                yield CardMetric(
                    metric=key,
                    better=metric.better,
                    threshold=metric.threshold,
                    decides=False,
                    source=f"reported only: {reason}",
                    limitation=_limitation(run, key),
                )


def _limitation(run: WorkflowRun, metric: str) -> str:
    """Return how well a metric agrees with people, by the labels of the workflow and on published samples."""
    figures = next((each for each in calibration_outcome(run).by_metric if each.metric == metric), None)
    if figures is None or figures.auc_in_sample is None or figures.auc_in_sample_interval is None:
        measured = "not compared with people in this workflow"
    else:
        low, high = figures.auc_in_sample_interval
        area = f"AUC {figure(figures.auc_in_sample)} ({figure(low)}–{figure(high)})"
        measured = f"{area} on the labels of this workflow"
    published = published_agreement(metric)
    return f"{measured}; published AUC: {published}" if published else f"{measured}; no published figure"


def _reason(metric: str, decision: ConclusionDecision) -> str:
    """Return the reason why a primary metric does not decide."""
    if metric in decision.controls.thresholds:
        return "controls contradict its threshold"
    return "nobody set its threshold"


def _safety(summary: WorkflowSummary) -> Safety:
    tested = tuple(
        f"{step.name}: {step.summary}"
        for step in summary.steps
        if step.step == ADVERSARIAL and step.status == "completed" and step.figures
    )
    findings = tuple(
        f"{problem.severity}: {problem.description}"
        for problem in summary.problems
        if problem.problem_type in SAFETY
    )
    missing = [] if tested else ["resistance to adversarial questions"]
    return Safety(
        tested=tested,
        findings=findings,
        not_tested=(
            *missing,
            "harm to persons or groups in use, and the effect of answers on vulnerable users",
            "rights to the documents, and consent of persons named in them",
        ),
    )


def _monitoring(decision: ConclusionDecision | None, expected: ExpectedUse | None) -> Iterator[Trigger]:
    """Yield the triggers that the results give."""
    for metric in decision.metrics if decision is not None else ():
        yield Trigger(
            condition=f"In a run in CI, fewer than {percent(decision.min_share)} of the answers pass"  # type: ignore[union-attr]  # not None: it has metrics
            f" {metric.metric}.",
            action="Find the cause with the baseline of the signed run; validate again.",
            gate=f"pass_rate({metric.metric.partition('.')[0]}) >= {decision.min_share:g}",  # type: ignore[union-attr]
        )
    if expected is None:
        yield Trigger(
            condition="No threshold is calibrated by people's labels, so that no rate is expected.",
            action="Complete the human calibration before the guardrail is used.",
        )
    else:
        low, high = expected.flagged_interval
        yield Trigger(
            condition=f"The guard flags less than {percent(low)} or more than {percent(high)} of the"
            " answers in a week;"
            f" {percent(expected.flagged)} is expected.",
            action="Label a new sample and calibrate again.",
            guard=f"{FLAGGED_SHARE} < {low:.3g} or {FLAGGED_SHARE} > {high:.3g}",
        )
        high = expected.misses_per_1000_interval[1]
        yield Trigger(
            condition=f"In a random sample of passing answers, more than {high:.0f} of 1,000 are bad;"
            f" {expected.misses_per_1000:.0f} are expected.",
            action="Withdraw the thresholds; calibrate again.",
        )
    yield Trigger(
        condition="Documents, application, model or configuration change.",
        action="Run the workflow again; sign-offs are void then.",
    )
    yield Trigger(
        condition="Users report bad answers.",
        action="Add their questions to the test cases of the next validation.",
    )


def _stated_triggers(run: WorkflowRun) -> Iterator[Trigger]:
    for text in run.workflow.governance.monitoring:
        yield Trigger(condition=masked(text), action="By the policy of the institution.")
