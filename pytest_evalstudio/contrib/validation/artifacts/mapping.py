"""Evidence of a workflow for parts of the guidance on model risk: each claim rests on content.

It says which parts the evidence bears on. It says nothing about compliance, which people assess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from pytest_evalstudio.contrib.validation.artifacts.summary import WorkflowSummary
from pytest_evalstudio.contrib.validation.methods.typed_results import read_results
from pytest_evalstudio.contrib.validation.steps.test_generation.results import ADVERSARIAL
from pytest_evalstudio.contrib.validation.workflow.calibration import (
    ID,
    calibration_outcome,
    labelled_answers,
)
from pytest_evalstudio.contrib.validation.workflow.guidance import CLAIM_CODES, ClaimCode, Guidance
from pytest_evalstudio.contrib.validation.workflow.run import WorkflowRun

STEP_CLAIMS: dict[ClaimCode, str] = {
    "topics": "topic_modeling",
    "test_cases": "test_generation",
    "validated_cases": "test_validation",
    "failures": "failure_clustering",
    "weak_points": "weakness_detection",
    "variations": "robustness_input_variations",
}
"""Claims that rest on the results of one step, to its id."""
NAMES: dict[ClaimCode, str] = {
    "inventory": "intended use and materiality",
    "labels": "labels by people",
    "calibration": "an accepted calibration",
    "sign_off": "a valid sign-off",
    "results": "judged answers",
    "scope": "an evaluation",
    "attacks": "answered attacks",
}
"""Names of what is missing, where a step's name does not say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A part of a guidance with the evidence that there is.

    Attributes:
        guidance: id of the edition.
        evidence: claims that have content, "" for none.
        not_covered: what remains for other evidence, claims without content first.
    """

    guidance: str
    section: str
    evidence: str
    not_covered: str


@dataclass(frozen=True, kw_only=True)
class _Pairs:
    pairs: tuple[object, ...] = ()


def claims_of(run: WorkflowRun, summary: WorkflowSummary) -> frozenset[ClaimCode]:
    """Return what a workflow has content for: results, not steps that came to an end."""
    figures = {step.step: step.figures for step in summary.steps if step.status == "completed"}
    governance = run.workflow.governance
    outcome = calibration_outcome(run)
    attacks = read_results(ADVERSARIAL, figures.get(ADVERSARIAL, {}), _Pairs)
    has_content: dict[ClaimCode, bool] = {
        "scope": summary.quality is not None,
        "inventory": bool(governance.intended_use and governance.materiality),
        "results": summary.decision is not None and summary.decision.judged > 0,
        "labels": run.is_completed(ID) and labelled_answers(run) > 0,
        "calibration": any(each.accepted for each in outcome.by_metric),
        "attacks": bool(attacks.pairs),
        "sign_off": any(status.is_valid for status in summary.sign_offs),
        **{code: bool(figures.get(step)) for code, step in STEP_CLAIMS.items()},
    }
    return frozenset(code for code in CLAIM_CODES if has_content[code])


def mapping(guidance: Guidance, claims: Collection[ClaimCode]) -> Iterator[Mapped]:
    """Yield the parts of the guidance with the evidence that a workflow gives.

    Args:
        guidance: the table in force.
        claims: what the workflow has content for.
    """
    for part in guidance.parts:
        evidence = [claim.text for claim in part.claims if set(claim.needs) <= set(claims)]
        missing = dict.fromkeys(
            NAMES.get(code, STEP_CLAIMS.get(code, code))
            for claim in part.claims
            for code in claim.needs
            if code not in claims
        )
        gap = f"not done: {', '.join(missing)}; {part.not_covered}" if missing else part.not_covered
        yield Mapped(
            guidance=part.edition, section=part.section, evidence="; ".join(evidence), not_covered=gap
        )
