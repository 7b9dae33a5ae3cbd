"""Evidence of a workflow for parts of the guidance on model risk: SR 11-7 and NIST AI RMF.

It says which parts the evidence bears on. It says nothing about compliance, which people assess.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

SR_11_7 = "SR 11-7"
NIST = "NIST AI RMF 1.0"
SIGN_OFF = "sign-off"
"""Stands for a valid sign-off among the names of steps."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidancePart:
    """Part of a guidance, and the evidence that a workflow can give.

    Attributes:
        section: as the guidance numbers it.
        evidence: where it is in the report.
        needs: steps that must be completed; without any, the workflow gives no evidence.
        not_covered: what the part asks beyond the evidence.
    """

    guidance: str
    section: str
    evidence: str
    needs: tuple[str, ...]
    not_covered: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A part of a guidance with the evidence that there is.

    Attributes:
        evidence: "" for none.
        not_covered: what remains for other evidence.
    """

    guidance: str
    section: str
    evidence: str
    not_covered: str


PARTS: tuple[GuidancePart, ...] = (
    GuidancePart(
        guidance=SR_11_7,
        section="IV. Model development, implementation and use",
        evidence="scope, data and fingerprints of this card; test cases from the model's own documents",
        needs=("test_generation", "automated_evaluation"),
        not_covered="theory and design of the language model, quality of its training data, implementation"
        " in systems",
    ),
    GuidancePart(
        guidance=SR_11_7,
        section="V.1 Evaluation of conceptual soundness",
        evidence="topics of the documents, validated test cases, weak topics and types of questions",
        needs=("topic_modeling", "test_validation", "weakness_detection"),
        not_covered="review of design choices and of evidence from development",
    ),
    GuidancePart(
        guidance=SR_11_7,
        section="V.2 Ongoing monitoring",
        evidence="monitoring plan of this card; guardrail configuration with its expected use",
        needs=("human_calibration",),
        not_covered="monitoring itself, which happens after deployment; process verification, overrides",
    ),
    GuidancePart(
        guidance=SR_11_7,
        section="V.2 Sensitivity and robustness (within ongoing monitoring)",
        evidence="answers to perturbed questions and to adversarial questions",
        needs=("robustness_input_variations", "robustness_adversarial"),
        not_covered="stress in production: load, outages, changed upstream data",
    ),
    GuidancePart(
        guidance=SR_11_7,
        section="V.3 Outcomes analysis",
        evidence="results of the evaluation with intervals; agreement with people's labels and error rates",
        needs=("automated_evaluation", "human_calibration"),
        not_covered="back-testing against outcomes in use",
    ),
    GuidancePart(
        guidance=SR_11_7,
        section="VI. Governance, policies and controls",
        evidence="signed decisions with name, date, comment and fingerprints",
        needs=(SIGN_OFF,),
        not_covered="policies, roles, model inventory, independence of validation, internal audit",
    ),
    GuidancePart(
        guidance=NIST,
        section="MAP 1, MAP 2 (context, categorization)",
        evidence="scope of this card: description, model, documents",
        needs=("automated_evaluation",),
        not_covered="intended users, benefits and costs, legal requirements, risk tolerance",
    ),
    GuidancePart(
        guidance=NIST,
        section="MEASURE 1 (methods and metrics)",
        evidence="metrics of this card with thresholds and their origin; labels by people; refused"
        " calibrations",
        needs=("automated_evaluation", "human_calibration"),
        not_covered="involvement of independent assessors and of affected communities",
    ),
    GuidancePart(
        guidance=NIST,
        section="MEASURE 2.5 (valid and reliable)",
        evidence="results with intervals, failure clusters, weak cells, flips by perturbations",
        needs=("automated_evaluation", "failure_clustering", "robustness_input_variations"),
        not_covered="generalization beyond the documents of the workflow",
    ),
    GuidancePart(
        guidance=NIST,
        section="MEASURE 2.6, 2.7 (safe, secure and resilient)",
        evidence="adversarial questions: false premises, misinformation, injected instructions",
        needs=("robustness_adversarial",),
        not_covered="physical harm, security of infrastructure, extraction of models or data",
    ),
    GuidancePart(
        guidance=NIST,
        section="MEASURE 2.8, 2.9 (accountable, explainable)",
        evidence="evidence for each verdict in the report of the evaluation; sign-offs",
        needs=("automated_evaluation", SIGN_OFF),
        not_covered="explanations for users of the application",
    ),
    GuidancePart(
        guidance=NIST,
        section="MEASURE 2.10, 2.11 (privacy, fairness)",
        evidence="",
        needs=(),
        not_covered="tested only by evaluators of leaks and stereotypes, and by questions of the generator"
        " demographic_representation, if the workflow chooses them; see safety and ethics",
    ),
    GuidancePart(
        guidance=NIST,
        section="MANAGE 1, MANAGE 4 (priorities, monitoring)",
        evidence="findings by severity with proposed actions; monitoring plan of this card",
        needs=("automated_evaluation",),
        not_covered="decisions on deployment, incident response, decommissioning",
    ),
)
"""Sources: Federal Reserve, SR 11-7 (2011), sections IV to VI; NIST AI 100-1 (2023), section 5. Wording of
our own.
"""


def mapping(completed: Collection[str]) -> Iterator[Mapped]:
    """Yield the parts of the guidance with the evidence that a workflow gives.

    Args:
        completed: ids of completed steps, and SIGN_OFF for a valid sign-off.
    """
    for part in PARTS:
        missing = [name for name in part.needs if name not in completed]
        gap = part.not_covered
        if missing:
            gap = f"not completed: {', '.join(missing)}; {gap}"
        has_evidence = len(missing) < len(part.needs)
        yield Mapped(
            guidance=part.guidance,
            section=part.section,
            evidence=part.evidence if has_evidence else "",
            not_covered=gap,
        )
