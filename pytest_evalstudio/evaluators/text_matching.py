"""Text matching: the condition of the test case, checked on the answer and its context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pytest_evalstudio.core.cases import Case
from pytest_evalstudio.core.codes import OutcomeCode
from pytest_evalstudio.core.errors import DataError, EvaluationError
from pytest_evalstudio.core.outcomes import Metric, Outcome
from pytest_evalstudio.core.plugins.evaluator import evaluator
from pytest_evalstudio.core.tools import Tools
from pytest_evalstudio.evaluators._common import (
    boolean_metrics,
    boolean_outcome,
    condition_of,
    is_empty,
    judges_context,
    keywords,
    unmet,
)


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

    The condition is the case's own. Context is the chunks joined by a blank.

    Attributes:
        evaluate_retrieved_context: check the context as well.
        expected_output_as_condition: without a condition, the answer must contain the expected output
            literally; by default such a case is not applicable.

    Source: Eval Studio user guide, text matching.
    """

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
        reason = self.not_applicable(case)
        if reason:
            return Outcome.not_applicable(reason)
        try:
            condition = condition_of(case)
            answer_fault = "" if is_empty(case) else unmet(condition, case.actual_output)
            context_fault = (
                unmet(condition, " ".join(case.context))
                if judges_context(case, self.evaluate_retrieved_context)
                else ""
            )
        except (EvaluationError, DataError) as exc:
            return Outcome.error(str(exc), OutcomeCode.INPUT_INVALID)
        return boolean_outcome(self.metrics, answer_fault, context_fault, answer_is_empty=is_empty(case))
