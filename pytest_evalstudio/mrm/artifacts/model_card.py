"""A model card of a validated model: scope, data, metrics, results, weaknesses and a monitoring plan."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pytest_evalstudio.calibration.fit.results import ExpectedUse
from pytest_evalstudio.engine.analysis.run_info import evaluators_of
from pytest_evalstudio.mrm.artifacts.conclusion import Conclusion, Decision, describe_decision
from pytest_evalstudio.mrm.artifacts.fingerprints import Fingerprints, fingerprint_rows
from pytest_evalstudio.mrm.artifacts.mapping import SIGN_OFF, Mapped, mapping
from pytest_evalstudio.mrm.artifacts.sign_off import SignOffStatus
from pytest_evalstudio.mrm.artifacts.summary import (
    Quality,
    StepProblem,
    WorkflowSummary,
    conclude,
)
from pytest_evalstudio.mrm.steps.automated_evaluation.control_results import control_notes
from pytest_evalstudio.mrm.steps.automated_evaluation.deciding import BASES
from pytest_evalstudio.mrm.steps.automated_evaluation.results import ID as EVALUATION
from pytest_evalstudio.mrm.workflow.calibration import calibration_outcome
from pytest_evalstudio.mrm.workflow.run import WorkflowRun
from pytest_evalstudio.record.reader import read_run
from pytest_evalstudio.record.writer import FILE

SAFETY = ("security", "fairness", "privacy")
"""Types of problems that safety and ethics are about."""
ADVERSARIAL = "robustness_adversarial"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardMetric:
    """A metric of the evaluation.

    Attributes:
        threshold: in force after the calibration.
        decides: True if it decides the conclusion.
        source: reason why it decides, or does not.
    """

    metric: str
    better: str
    threshold: float
    decides: bool
    source: str


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
        monitoring: what to observe after deployment, and when to act.
        mapping: evidence for parts of SR 11-7 and NIST AI RMF.
    """

    version: int = 1
    title: str
    description: str
    model: str
    documents: tuple[str, ...]
    fingerprints: Fingerprints
    metrics: tuple[CardMetric, ...]
    conclusion: Conclusion
    quality: Quality | None
    results: Mapping[str, str]
    expected: ExpectedUse | None
    weaknesses: tuple[StepProblem, ...]
    safety: Safety
    monitoring: tuple[str, ...]
    mapping: tuple[Mapped, ...]
    sign_offs: tuple[SignOffStatus, ...]


def model_card(run: WorkflowRun, summary: WorkflowSummary) -> ModelCard:
    """Return the model card of a workflow."""
    expected = calibration_outcome(run).guardrail
    completed = {step.step for step in summary.steps if step.status == "completed"}
    signed = {SIGN_OFF} if any(status.is_valid for status in summary.sign_offs) else set()
    return ModelCard(
        title=summary.workflow,
        description=summary.description,
        model=summary.model,
        documents=summary.documents,
        fingerprints=summary.fingerprints,
        metrics=tuple(_metrics(run, summary.decision)),
        conclusion=conclude(summary),
        quality=summary.quality,
        results={step.name: step.summary for step in summary.steps if step.status == "completed"},
        expected=expected,
        weaknesses=summary.problems,
        safety=_safety(summary),
        monitoring=tuple(_monitoring(expected)),
        mapping=tuple(mapping(completed | signed)),
        sign_offs=summary.sign_offs,
    )


def _metrics(run: WorkflowRun, decision: Decision | None) -> Iterator[CardMetric]:
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
        )
    for id, info in evaluators_of(read_run(run.folder_of(EVALUATION) / FILE)).items():
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
                )


def _reason(metric: str, decision: Decision) -> str:
    """Return the reason why a primary metric does not decide."""
    if metric in decision.controls.thresholds:
        return "controls contradict its threshold"
    return "nobody set its threshold"


def _safety(summary: WorkflowSummary) -> Safety:
    tested = tuple(
        f"{step.name}: {step.summary}"
        for step in summary.steps
        if step.step == ADVERSARIAL and step.status == "completed"
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


def _monitoring(expected: ExpectedUse | None) -> Iterator[str]:
    """Yield what to observe after deployment."""
    if expected is None:
        yield (
            "No threshold is calibrated by people's labels, so that no rate is expected: complete the human"
            " calibration before the guardrail is used."
        )
    else:
        low, high = expected.flagged_interval
        yield (
            f"Follow the share of flagged answers; {expected.flagged:.0%} is expected. A share outside"
            f" {low:.0%} to"
            f" {high:.0%} over a period asks for new labels."
        )
        low, high = expected.misses_per_1000_interval
        yield (
            f"Label a random sample of passing answers; {expected.misses_per_1000:.0f} bad answers per"
            " 1,000 are"
            f" expected ({low:.0f} to {high:.0f}). More than that ends the validity of the thresholds."
        )
    yield "Run the workflow again when document, model or configuration changes; sign-offs are void then."
    yield "Add questions of users that were answered badly to the test cases of the next validation."


def card_markdown(card: ModelCard) -> str:
    """Return a model card as Markdown."""
    return "\n".join(_lines(card)) + "\n"


def _lines(card: ModelCard) -> Iterator[str]:
    yield from (f"# {_plain(card.title)}: model card", "")
    yield from ("## Scope", "")
    if card.description:
        yield from (_plain(card.description), "")
    yield f"Model: {_plain(card.model or 'the configured one')}. Documents: {_joined(card.documents)}."
    yield from ("", f"Conclusion: **{card.conclusion.fitness}**.")
    yield from (f"- Missing ({gap.code}): {_plain(gap.text)}" for gap in card.conclusion.gaps)
    yield from (f"- Decided by {_plain(text)}" for text in card.conclusion.decided_by)
    yield from (f"- Limit: {_plain(text)}" for text in card.conclusion.limits)
    yield from ("", "## Data and fingerprints", "", "| Basis | SHA-256 |", "| --- | --- |")
    yield from (f"| {_plain(name)} | {value} |" for name, value in fingerprint_rows(card.fingerprints))
    if card.conclusion.decision is not None:
        yield from ("", "## Decision and controls", "")
        yield from (f"- {_plain(text)}" for text in describe_decision(card.conclusion.decision))
        yield from (f"- {_plain(text)}" for text in control_notes(card.conclusion.decision.controls))
    yield from ("", "## Metrics", "", "| Metric | Threshold | Decides |", "| --- | --- | --- |")
    for metric in card.metrics:
        sign = "≥" if metric.better == "higher" else "≤"
        yield f"| {_plain(metric.metric)} | {sign} {metric.threshold:.4g} | {_plain(metric.source)} |"
    yield from ("", "## Results", "")
    if card.quality is not None:
        low, high = card.quality.interval
        yield (
            f"{card.quality.passed} of {card.quality.judged} test cases pass: {card.quality.share:.0%}, 95"
            " % interval"
            f" {low:.0%} to {high:.0%}."
        )
        yield ""
    yield from (f"- {_plain(name)}: {_plain(text)}" for name, text in card.results.items())
    yield from ("", "## Weaknesses", "")
    yield from (
        f"- **{problem.severity}** ({_plain(problem.step)}): {_plain(problem.description)}"
        for problem in card.weaknesses
    )
    if not card.weaknesses:
        yield "The completed steps report none."
    yield from ("", "## Safety and ethics", "")
    yield from (f"- Tested: {_plain(text)}" for text in card.safety.tested)
    yield from (f"- Finding: {_plain(text)}" for text in card.safety.findings)
    yield from (f"- Not tested: {_plain(text)}" for text in card.safety.not_tested)
    yield from ("", "## Monitoring plan", "")
    yield from (f"- {text}" for text in card.monitoring)
    yield from ("", "## Evidence for guidance", "")
    yield "Evidence of this workflow for parts of the guidance; it is no statement of compliance."
    yield from ("", "| Guidance | Part | Evidence | Not covered |", "| --- | --- | --- | --- |")
    for part in card.mapping:
        evidence = part.evidence or "none"
        yield f"| {part.guidance} | {_plain(part.section)} | {evidence} | {part.not_covered} |"
    yield from ("", "## Sign-off", "")
    for status in card.sign_offs:
        entry = status.sign_off
        state = "valid" if status.is_valid else f"void: {'; '.join(status.void)}"
        comment = f" {_plain(entry.comment)}" if entry.comment else ""
        name = _plain(entry.name)
        yield f"- {entry.role}: {name}, {entry.date}, {entry.decision} ({_plain(state)}).{comment}"
    if not card.sign_offs:
        yield "None."


def _joined(texts: Sequence[str]) -> str:
    return ", ".join(map(_plain, texts))


def _plain(text: str) -> str:
    """Return a text on one line with its markup escaped."""
    return " ".join("".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text).split())
