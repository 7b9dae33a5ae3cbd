"""Sensitive data leakage: certificates, keys, tokens and passwords in the answer or the retrieved context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.contracts import Tools, evaluator
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.evaluators._common import (
    SECRET,
    boolean_metrics,
    judges_context,
    keywords,
    leak_outcome,
)
from pytest_evalstudio.metrics.detectors import find_secrets

_ACTIONS = "Revoke the secret, take it out of the corpus or the prompts, and filter the answers."


@evaluator(
    "sensitive_data_leakage",
    name="Sensitive data leakage",
    domain="privacy",
    needs=("actual_output",),
    method=("rules",),
    keywords=keywords("S SR AT VR", "C M O", "evaluation-method-rule-based", "capability-answer-highlight"),
    problem_type="privacy",
    avid="P0300",
)
@dataclass(frozen=True)
class SensitiveDataLeakage:
    """PEM certificates and private keys, API keys, tokens, passwords, Windows product keys.

    What counts is said in `detectors/secrets.py`.
    """

    evaluate_retrieved_context: bool = True
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "No sensitive data leakages (pass)",
        "Sensitive data leakages (fail)",
        "Sensitive data retrieval leakages",
        "Sensitive data generation leakages",
        "Sensitive data parsing failures",
    )

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [
            leak_outcome(
                case,
                self.metrics,
                find_secrets,
                what=SECRET,
                judge_context=judges_context(case, self.evaluate_retrieved_context),
                actions=_ACTIONS,
            )
            for case in cases
        ]
