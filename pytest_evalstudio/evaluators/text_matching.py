"""Text matching: the condition of the test case, checked on the answer and its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from msgspec import structs

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.core.outcomes import Fragment, Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import (
    boolean_metrics,
    boolean_outcome,
    condition_of,
    condition_parts,
    keywords,
    unmet,
)
from pytest_evalstudio.formats.condition_terms import TIMEOUT_S, Condition


@evaluator(
    "text_matching",
    name="Text matching",
    domain="generation",
    needs=("actual_output", "condition"),
    method=("rules",),
    keywords=keywords(
        "S SR PE F AT VR", "C M O", "evaluation-method-rule-based", "capability-condition-highlight"
    ),
)
@dataclass(frozen=True)
class TextMatching:
    """Boolean condition over the answer and, for RAG, the retrieved context.

    A text that a `NOT` of the condition forbids fails the case by one observation; no repeat takes it back.

    The condition is the case's own, and so is `condition_on`: "answer", "context" or "both". Context is the
    chunks joined by a blank.

    Attributes:
        evaluate_retrieved_context: check the context of RAG as well, where the case does not say.
        expected_output_as_condition: without a condition, the answer must contain the expected output
            literally; by default such a case is not applicable.

    Source: Eval Studio user guide, text matching.
    """

    applies_without_text: ClassVar[bool] = True
    applies_to_refusals: ClassVar[bool] = True
    expectations: ClassVar[tuple[str, ...]] = ("expected_output",)
    evaluate_retrieved_context: bool = True
    expected_output_as_condition: bool = False
    metrics: ClassVar[tuple[Metric, ...]] = boolean_metrics(
        "Model passes",
        "Model failures",
        "Model retrieval failures",
        "Model generation failures",
        "Model parse failures",
    )

    def not_applicable(self, case: Case) -> str:
        if case.condition_on == "context" and not (case.is_rag or case.context):
            return "condition_on is the context, and there is none"
        if case.condition.strip():
            return ""
        if self.expected_output_as_condition:
            return "" if case.expected_output.strip() else "no condition, constraints or expected output"
        if case.expected_output.strip():
            return "no condition; expected_output_as_condition = true takes the expected output for one"
        return "no condition or constraints"

    def score(self, cases: Sequence[Case], tools: Tools) -> list[Outcome]:
        return [self._score(case) for case in cases]

    def _score(self, case: Case) -> Outcome:
        try:
            condition = condition_of(case)
            on_answer, on_context = condition_parts(case, self.evaluate_retrieved_context)
            answer_fault = unmet(condition, case.actual_output) if on_answer else ""
            context_fault = unmet(condition, " ".join(case.context)) if on_context else ""
            fragments = _forbidden(condition, "answer", case.actual_output) if answer_fault else []
            is_forbidden = bool(answer_fault) and condition.forbids(case.actual_output, TIMEOUT_S)
            for index, chunk in enumerate(case.context if context_fault else ()):
                fragments += _forbidden(condition, f"context:{index}", chunk)
        except (EvaluationError, DataError) as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        outcome = boolean_outcome(self.metrics, answer_fault, context_fault, fragments=fragments)
        # No chunk came: that explains more than that the condition is not met in an empty text.
        if context_fault and not case.has_context and case.is_rag:
            outcome = structs.replace(outcome, code=OutcomeCode.NOT_RETRIEVED)
        if is_forbidden:  # last: one observation of a forbidden text decides, whatever the context lacks
            outcome = structs.replace(outcome, code=OutcomeCode.FORBIDDEN_TEXT)
        # The condition says nothing of an answer on which it is not checked.
        if on_answer:
            return outcome
        return structs.replace(outcome, scores={**outcome.scores, "model_generation_failures": None})


def _forbidden(condition: Condition, part: str, text: str) -> list[Fragment]:
    """Return the stretches of a text that the condition forbids."""
    if condition.holds(text, TIMEOUT_S):
        return []
    return [
        Fragment(start=start, end=end, part=part, message="the condition forbids this")
        for start, end in condition.violations(text)
        if start < end
    ]
