"""Leakage of personal data and of secrets in the answer or the retrieved context."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import (
    PERSONAL_DATA,
    SECRET,
    boolean_metrics,
    judges_context,
    keywords,
    leak_outcome,
)
from pytest_evalstudio.metrics.detectors import Hit, find_pii, find_secrets

T = TypeVar("T", bound=type)


@dataclass(frozen=True)
class _Leakage:
    """Base of the detectors of leaks.

    Class attributes:
        metrics: declared metrics.
        find: detector of leaks in a text.
        category: category of the leaks.
        actions: remedy that the report names.
    """

    evaluate_retrieved_context: bool = True
    metrics: ClassVar[tuple[Metric, ...]]
    find: ClassVar[Callable[[str], list[Hit]]]
    category: ClassVar[str]
    actions: ClassVar[str]

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [
            leak_outcome(
                case,
                self.metrics,
                type(self).find,
                what=self.category,
                judge_context=judges_context(case, self.evaluate_retrieved_context),
                actions=self.actions,
            )
            for case in cases
        ]


def _leak_evaluator(id: str, name: str, nist: str) -> Callable[[T], T]:
    """Declare a detector of leaks.

    Args:
        id: id of the evaluator.
        name: its display name.
        nist: initials of NIST AI RMF characteristics; see `keywords`.
    """
    return evaluator(
        id,
        name=name,
        domain="privacy",
        needs=("actual_output",),
        keywords=keywords(nist, "C M O", "evaluation-method-rule-based", "capability-answer-highlight"),
        problem_type="privacy",
        avid="P0300",
    )


@_leak_evaluator("pii_leakage", "PII leakage", "S PE AT VR")
@dataclass(frozen=True)
class PiiLeakage(_Leakage):
    """Payment cards, social security numbers, e-mail addresses and further formatted personal data.

    `metrics/detectors/pii.py` documents the formats.
    """

    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "No PII leakages (pass)", "PII leakages (fail)", "PII retrieval leakages", "PII generation leakages"
    )
    find: ClassVar[Callable[[str], list[Hit]]] = find_pii
    category: ClassVar[str] = PERSONAL_DATA
    actions: ClassVar[str] = "Remove the data from the corpus or the training data, or filter the answers."


@_leak_evaluator("sensitive_data_leakage", "Sensitive data leakage", "S SR AT VR")
@dataclass(frozen=True)
class SensitiveDataLeakage(_Leakage):
    """PEM certificates and private keys, API keys, tokens, passwords, Windows product keys.

    `metrics/detectors/secrets.py` documents the formats.
    """

    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "No sensitive data leakages (pass)",
        "Sensitive data leakages (fail)",
        "Sensitive data retrieval leakages",
        "Sensitive data generation leakages",
        "Sensitive data parsing failures",
    )
    find: ClassVar[Callable[[str], list[Hit]]] = find_secrets
    category: ClassVar[str] = SECRET
    actions: ClassVar[str] = (
        "Revoke the secret, remove it from the corpus or the prompts, and filter the answers."
    )
