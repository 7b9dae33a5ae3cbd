"""Spans that were awaited and have not arrived, as errors of the evaluators that need them."""

from __future__ import annotations

from typing import Literal

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.outcomes import Outcome
from pytest_evalstudio.core.plugins.evaluator import EvaluatorSpec
from pytest_evalstudio.formats.config import TraceTable

RequiredSpans = Literal["none", "of_calls", "all"]


def required_spans(table: TraceTable | None, spec: EvaluatorSpec) -> RequiredSpans:
    """Return which answers without their spans are errors of an evaluator."""
    if table is None or table.required is False:
        return "none"
    if table.required:
        return "all"
    return "of_calls" if spec.reads_trace else "none"


def without_spans(case: Case, required: RequiredSpans) -> Outcome | None:
    """Return the error of an answer whose required spans have not arrived, None for no error."""
    answer = case.answer
    if required == "none" or answer.spans not in ("missing", "incomplete"):
        return None
    if required == "of_calls" and answer.spans == "missing" and answer.tool_calls:
        return None  # the reply says them
    if answer.spans == "missing":
        fact = "no span of the application arrived for the answer"
        remedy = "let it continue the trace and export its spans in time"
    else:
        fact = "some spans of the answer had not arrived when the wait ended"
        remedy = "let the application export sooner, or raise [trace] wait_s"
    return Outcome.error(f"{fact}; {remedy}, or set [trace] required = false", OutcomeCode.SPANS_MISSING)
