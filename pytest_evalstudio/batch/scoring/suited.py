"""Evaluators that can score the rows of a table in any order and division."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_evalstudio.core.errors import ConfigurationError
from pytest_evalstudio.engine.scoring.plan import ConfiguredEvaluator


def check_suited(evaluators: Sequence[ConfiguredEvaluator]) -> None:
    """Check that evaluators do not need rows together that may be in different batches.

    Model-wide figures that follow from counts of labels are computed from the aggregates.

    Raises:
        ConfigurationError: with the first evaluator that does, and the reason.
    """
    for selected in evaluators:
        reason = _reason(selected)
        if reason:
            raise ConfigurationError(
                f"evaluator {selected.id}: {reason}, and a table is scored in batches; score a lab by"
                " `evaluate` or pytest, or leave it out"
            )


def _reason(selected: ConfiguredEvaluator) -> str:
    spec = selected.spec
    if spec.scope == "group":
        return "needs all answers to a question together"
    if spec.compares:
        return f"compares an answer with the answer to its {spec.compares}"
    if spec.scope == "model" and not spec.labels:
        return "needs all rows of a model together"
    return ""
