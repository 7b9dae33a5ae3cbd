"""Problems and insights of a run for users, and the AVID codes that classify them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from msgspec import Struct

from pytest_evalstudio.core.outcomes import Severity

PROBLEM_TYPES = (
    "privacy",
    "security",
    "fairness",
    "storage",
    "accuracy",
    "retrieval",
    "data_quality",
    "robustness",
    "efficiency",
    "cost",
    "runtime",
    "summarization",
    "classification",
    "drift",
)
INSIGHT_TYPES = (*PROBLEM_TYPES, "weak_point")

AVID: Mapping[str, str] = {
    "S0100": "Software vulnerability",
    "S0200": "Supply chain compromise",
    "S0300": "Over-permissive API",
    "S0400": "Model bypass",
    "S0500": "Exfiltration",
    "S0600": "Data poisoning",
    "E0100": "Bias and discrimination",
    "E0200": "Explainability",
    "E0300": "User actions and toxicity",
    "E0400": "Misinformation",
    "P0100": "Data issues",
    "P0200": "Model issues: ability for the AI to perform as intended",
    "P0300": "Privacy",
    "P0400": "Safety",
}


def own_problem_type(name: str) -> str:
    """Return our type of a problem, for the guide's and for our name; others stay as they are."""
    if name in PROBLEM_TYPES:
        return name
    from pytest_evalstudio.core.guide_names import PROBLEM_TYPE_NAMES

    return PROBLEM_TYPE_NAMES.get(name.casefold(), name)


ProblemCode = Literal[
    "", "mean_missed", "detection", "leak", "flip", "flip_of_meaning", "not_scored", "rag_stage"
]


class Problem(Struct, frozen=True, kw_only=True):
    """Something that is wrong, how bad it is, and what to do next.

    Attributes:
        code: class of the problem, e.g. "mean_missed" or "weak_cell"; reports group those of `ProblemCode` by
            evaluator; "" for others.
        problem_type: one of PROBLEM_TYPES.
        avid: one of AVID.
        attributes: model, evaluator, metric, threshold, score, test_case_keys, row_keys, as far as they
            apply.
    """

    description: str
    severity: Severity
    problem_type: str
    avid: str
    attributes: Mapping[str, Any] = {}
    actions: str = ""
    resources: tuple[str, ...] = ()
    code: ProblemCode | str = ""


class UnscoredProblem(Problem, frozen=True, kw_only=True):
    """Problem of answers that could not be scored.

    Attributes:
        reasons: distinct ones, the first.
    """

    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Insight:
    """Something worth knowing, and what one may do with it."""

    description: str
    insight_type: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    actions: str = ""
    resources: tuple[str, ...] = ()
